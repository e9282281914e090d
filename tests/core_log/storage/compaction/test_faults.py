"""A disk that fails or lies: the originals stay as they are, and damage is told with its place."""

import pytest

from headwater.core_log.records.batch import read_batch, seal
from headwater.core_log.records.compression import Codec
from headwater.core_log.storage.compaction.cleaner import clean
from headwater.core_log.storage.compaction.job import CleanResult
from headwater.core_log.testing.memory_fs import PowerLost

from .logs import DIRECTORY, CompactedLog


def a_log(*, seed: int = 0, codec: Codec = Codec.NONE) -> CompactedLog:
    log = CompactedLog(seed=seed)
    for index in range(6):
        log.append([(b"a", b"%d" % index), (b"b%d" % index, bytes(300))], codec=codec)
        log.append([(b"c", b"1")], producer_id=1, is_transactional=True)
        log.end(1, is_commit=False)
        log.roll()
    return log


def run(log: CompactedLog, **changes: object) -> CleanResult:
    return clean(log.job(**changes), log.fs, clock=log.clock, pace=lambda _: None)


def originals(log: CompactedLog) -> dict[str, bytes]:
    return {name: data for name, data in log.files().items() if not name.endswith(".cleaned")}


def operation_count() -> int:
    log = a_log()
    before = len(log.fs.operations)
    run(log, segment_bytes=1_000)
    return len(log.fs.operations) - before


OPERATIONS = range(operation_count())


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_that_fails_leaves_the_originals_and_a_second_try_works(
    operation: int,
) -> None:
    log = a_log()
    before = originals(log)
    log.fs.fail_after(operation)
    with pytest.raises(OSError, match="injected"):
        run(log, segment_bytes=1_000)
    assert originals(log) == before
    log.clean()
    assert log.read(committed=False) == log.expected()
    log.check_indexes()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_power_lost_at_any_operation_leaves_the_originals(operation: int) -> None:
    log = a_log(seed=operation)
    before = originals(log)
    log.fs.crash_after(operation)
    with pytest.raises(PowerLost):
        run(log, segment_bytes=1_000)
    log.fs.crash()
    assert originals(log) == before
    log.clean()
    assert log.read(committed=False) == log.expected()
    log.check_indexes()


def test_what_an_earlier_cleaning_left_behind_is_gone() -> None:
    log = CompactedLog()
    log.append([(b"a", b"1")])
    log.roll()
    for suffix in (".log", ".index", ".timeindex", ".txnindex"):
        log._write(log.path(0, suffix) + ".cleaned", bytes(1_000))
    log.clean()
    assert sorted(log.files()) == [
        log.path(0, suffix).rpartition("/")[2] for suffix in (".index", ".log", ".timeindex")
    ]
    assert log.read(committed=False) == log.expected()


def test_what_is_cleaned_is_on_disk_once_its_names_are() -> None:
    for seed in range(20):
        log = a_log(seed=seed)
        result = run(log)
        written = log.files()
        log.fs.sync_directory(DIRECTORY)
        log.fs.crash()
        assert log.files() == written
        assert result.segments


def flip(log: CompactedLog, base: int, position: int) -> None:
    log.fs.flip_bit(log.path(base, ".log"), position)


@pytest.mark.parametrize("position", [3, 10, 16, 18, 30, 66])
@pytest.mark.parametrize("base", [0, 4])
def test_damage_anywhere_in_a_batch_is_told_and_nothing_is_left(base: int, position: int) -> None:
    log = a_log()
    second = next(log.batches_of(base)).size_bytes
    flip(log, base, second + position)
    before = log.files()
    result = run(log, segment_bytes=1_000)
    assert result.fault is not None
    assert result.fault.file == log.path(base, ".log")
    assert result.fault.position == second
    assert result.fault.reason in str(result.fault)
    assert result.clean_until_offset == 0
    assert not result.segments
    assert log.files() == before


def test_damage_in_the_clean_part_is_found_by_the_second_pass() -> None:
    log = a_log()
    log.clean(segment_bytes=1_000)
    log.append([(b"a", b"v")])
    log.roll()
    flip(log, log.bases()[1], 200)  # in the middle of a value: only the checksum tells
    before = log.files()
    result = run(log, segment_bytes=1_000)
    assert result.fault is not None
    assert result.fault.file == log.path(log.bases()[1], ".log")
    assert log.files() == before


def test_a_file_that_ends_within_a_batch_is_damaged() -> None:
    log = a_log()
    for size in (-1, -40):
        file = log.path(log.bases()[-1], ".log")
        whole = log.bytes_of(file)
        log._write(file, whole[:size])
        fault = run(log).fault
        assert fault is not None
        assert fault.position < len(whole)
        log._write(file, whole)


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec])
def test_a_batch_that_unpacks_to_too_much_is_told(codec: Codec) -> None:
    log = a_log(codec=codec)
    result = run(log, unpacked_bytes_max=300)
    assert result.fault is not None
    assert "more than 300 bytes" in result.fault.reason
    assert result.fault.position == 0


def test_offsets_that_do_not_rise_are_damage() -> None:
    log = CompactedLog()
    log.append([(b"a", b"1")])
    log.append([(b"a", b"2")])
    log.roll()
    path = log.path(0, ".log")
    data = bytearray(log.bytes_of(path))
    data[len(data) // 2 + 7] = 0  # not under the checksum
    log._write(path, bytes(data))
    fault = run(log).fault
    assert fault is not None
    assert (fault.position, "offsets" in fault.reason) == (len(data) // 2, True)


def test_a_marker_that_cannot_be_read_is_damage_at_its_place() -> None:
    log = CompactedLog()
    first = log.append([(b"a", b"1")], producer_id=1, is_transactional=True)
    log.end(1, is_commit=True)
    log.roll()
    path = log.path(0, ".log")
    data = bytearray(log.bytes_of(path))
    marker = read_batch(data, first.size_bytes)
    marker.view[61 + 4] = 6  # its key, of four bytes, now says three
    seal(marker)
    log._write(path, bytes(data))
    fault = run(log).fault
    assert fault is not None
    assert (fault.position, "control record" in fault.reason) == (first.size_bytes, True)
