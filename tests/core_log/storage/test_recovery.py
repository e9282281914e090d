"""Opening a log after a crash: cut what was torn, report what was damaged, say what was done."""

import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from headwater.core_log.kernel.errors import ApiError, ErrorCode
from headwater.core_log.kernel.ports import OpenMode
from headwater.core_log.records.batch import CorruptBatch, read_batch, scan
from headwater.core_log.records.control import ControlType, EndTxnMarker, build_end_txn_batch
from headwater.core_log.records.record import decode_records
from headwater.core_log.storage.config import LogConfig
from headwater.core_log.storage.directory import LogDirectory
from headwater.core_log.storage.errors import DiskFull, LogDamaged
from headwater.core_log.storage.fs import OsFileSystem
from headwater.core_log.testing.clock import ManualClock

from .world import FOREVER, LOG, World, batch_of, batches_in, offsets_in

KAFKA = Path(__file__).parent / "data" / "kafka-4.3-partition"
SMALL = LogConfig(segment_bytes=700, index_interval_bytes=150, retention_ms=None)
FIRST = f"{LOG}/00000000000000000000"
SIZE = batch_of().size_bytes


def written(count: int = 5, config: LogConfig = FOREVER) -> World:
    """A log whose flushed part is known to the checkpoints; stopped as by kill -9."""
    world = World(config)
    for sequence in range(count):
        world.append(producer_id=7, sequence=sequence, leader_epoch=sequence // 4)
    world.log.flush()
    world.directory.checkpoint({})
    world.directory.close(clean=False)
    return world


def overwrite(world: World, path: str, position: int, data: bytes) -> None:
    world.fs.open(path, OpenMode.WRITE).write_at([data], position)


def append_bytes(world: World, data: bytes) -> None:
    overwrite(world, f"{FIRST}.log", world.fs.size(f"{FIRST}.log") or 0, data)


NEXT = bytes(batch_of(base_offset=5).view)


@pytest.mark.parametrize(
    "tail",
    [
        NEXT[:-1],
        NEXT[:30],
        NEXT[:5],
        bytes(100),
        b"\xff" * 100,
        NEXT[:-1] + bytes([NEXT[-1] ^ 1]),
        bytes(batch_of(base_offset=4).view),
        bytes(batch_of(base_offset=2**33).view),
    ],
)
def test_a_torn_tail_is_cut_and_told(tail: bytes) -> None:
    world = written()
    append_bytes(world, tail)
    world.start()
    assert world.events == ["log_tail_truncated"]
    facts = world.notes[0].facts
    assert (facts["offset"], facts["position"], facts["bytes"]) == (5, 5 * SIZE, len(tail))
    assert not world.notes[0].severe
    assert offsets_in(world.log) == [0, 1, 2, 3, 4]
    assert world.append(producer_id=7, sequence=5).base_offset == 5
    world.log.flush()
    world.crash()
    assert world.events == []
    assert offsets_in(world.log) == [0, 1, 2, 3, 4, 5]


def test_whole_batches_behind_the_recovery_point_are_kept() -> None:
    world = written()
    append_bytes(world, NEXT)
    world.start()
    assert world.events == []
    assert offsets_in(world.log) == [0, 1, 2, 3, 4, 5]
    world.crash()
    assert offsets_in(world.log) == [0, 1, 2, 3, 4, 5]


def test_a_torn_segment_takes_later_ones_with_it() -> None:
    world = World(SMALL)
    for _ in range(8):
        world.append()
    world.log.flush()
    world.directory.checkpoint({})
    for _ in range(30):
        world.append()
    world.log.write()
    world.directory.close(clean=False)
    overwrite(world, f"{LOG}/{10:020d}.log", 3 * SIZE + 30, b"\x55")
    world.start()
    assert world.events == ["torn_segment_removed", "torn_segment_removed", "log_tail_truncated"]
    assert offsets_in(world.log) == list(range(13))
    assert [name for name in world.fs.list(LOG) if name.endswith(".log")] == [
        f"{base:020d}.log" for base in (0, 10)
    ]


def test_a_changed_batch_below_the_recovery_point_stays_and_is_reported() -> None:
    """Consumers see the bad checksum; what comes behind it is not lost."""
    world = written()
    world.fs.flip_bit(f"{FIRST}.log", 2 * SIZE + 65)
    world.start()
    assert world.events == ["batch_damaged"]
    assert world.notes[0].severe
    assert world.notes[0].facts["offset"] == 2
    assert world.log.log_end_offset == 5
    with pytest.raises(CorruptBatch):
        batches_in(world.log)
    piece = world.log.read(3, bytes_max=1000, end_offset=5)
    assert [b.base_offset for b in scan(piece.read(), verify_crc=True)] == [3, 4]
    assert world.append(producer_id=7, sequence=5).base_offset == 5


@pytest.mark.parametrize(
    ("position", "data"),
    [(8, b"\x7f"), (8, b"\0\0\0\1"), (16, b"\1"), (0, b"\xff"), (23, b"\x80")],
)
def test_lost_framing_below_the_recovery_point_stops_appends(position: int, data: bytes) -> None:
    """The files stay untouched; what lies before the damage is served, the rest refused."""
    world = written()
    overwrite(world, f"{FIRST}.log", 2 * SIZE + position, data)
    world.start()
    assert world.events == ["log_damaged"]
    assert world.notes[0].severe
    assert world.log.log_end_offset == 5
    piece = world.log.read(0, bytes_max=5 * SIZE, end_offset=5)
    assert [b.base_offset for b in scan(piece.read(), verify_crc=True)] == [0, 1]
    for attempt in (
        lambda: world.append(producer_id=7, sequence=5),
        lambda: world.log.read(2, bytes_max=100, end_offset=5),
        lambda: world.log.read(4, bytes_max=100, end_offset=5),
    ):
        with pytest.raises(LogDamaged, match="restore the file") as caught:
            attempt()
        assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert world.fs.size(f"{FIRST}.log") == 5 * SIZE


def test_flushed_records_that_are_missing_are_reported() -> None:
    world = written()
    world.fs.open(f"{FIRST}.log", OpenMode.WRITE).truncate(3 * SIZE)
    world.start()
    assert world.events == ["flushed_records_missing"]
    assert world.notes[0].severe


def test_missing_files_are_reported_and_offsets_not_given_twice() -> None:
    world = written()
    world.fs.remove(f"{FIRST}.log")
    world.start()
    assert world.events == ["log_files_missing"]
    assert world.append().base_offset == 5


def test_a_clean_stop_is_believed_only_if_it_is_true() -> None:
    """The end says otherwise: everything is read, as after a crash."""
    world = written()
    world.start()
    world.directory.close()
    append_bytes(world, NEXT + NEXT[:20])
    world.start()
    assert world.directory.was_clean
    assert world.events == ["clean_stop_contradicted", "log_tail_truncated"]
    assert offsets_in(world.log) == [0, 1, 2, 3, 4, 5]


def test_a_clean_start_reads_no_batches() -> None:
    """But for the last few: the first segments' files are not even opened."""
    world = World(SMALL)
    for _ in range(40):
        world.append()
    world.restart()
    world.fs.flip_bit(f"{FIRST}.log", 3)  # nobody looks
    world.restart()
    assert world.events == []
    assert world.log.log_end_offset == 40


SPOILT = [
    (name, spoil)
    for name in ("index", "timeindex", "both")
    for spoil in ("missing", "empty", "cut", "zeros", "noise", "shifted")
    # A time index that looks right is believed: it was synced before anybody relied on it.
    if name == "index" or spoil not in ("noise", "shifted")
]


@pytest.mark.parametrize(("name", "spoil"), SPOILT)
@pytest.mark.parametrize("is_clean", [True, False])
def test_indexes_are_caches(name: str, spoil: str, *, is_clean: bool) -> None:
    """Missing, torn or, if of offsets, plain wrong: every record is found."""
    world = World(replace(SMALL, segment_bytes=2100))
    for _ in range(60):
        world.append()
        world.clock.advance(10)
    world.log.flush()
    world.directory.checkpoint({})
    world.directory.close(clean=is_clean)
    for kind in ("index", "timeindex") if name == "both" else (name,):
        for entry in world.fs.list(LOG):
            if entry.endswith(f".{kind}"):
                spoil_file(world, f"{LOG}/{entry}", spoil)
    world.start()
    assert offsets_in(world.log) == list(range(60))
    for offset in range(60):
        piece = world.log.read(offset, bytes_max=1, end_offset=60)
        assert [b.base_offset for b in scan(piece.read(), verify_crc=True)] == [offset]
        time_ms = world.clock.now_ms() - (60 - offset) * 10
        found = world.log.offset_for_timestamp(time_ms, end_offset=60)
        assert found is not None
        assert found.offset == offset


def spoil_file(world: World, path: str, spoil: str) -> None:
    size = world.fs.size(path) or 0
    if spoil == "missing":
        world.fs.remove(path)
    elif spoil == "empty":
        world.fs.open(path, OpenMode.REPLACE)
    elif spoil == "cut":
        world.fs.open(path, OpenMode.WRITE).truncate(max(0, size - 5))
    elif spoil == "zeros":
        overwrite(world, path, max(0, size - 12), bytes(12))
    elif spoil == "noise":
        overwrite(world, path, 0, random.Random(size).randbytes(size))
    else:
        file = world.fs.open(path, OpenMode.WRITE)
        data = file.read_at(size, 0)
        file.write_at([bytes(byte + (i % 8 == 7) & 0xFF for i, byte in enumerate(data))], 0)


@pytest.mark.parametrize("spoil", ["missing", "empty", "noise"])
@pytest.mark.parametrize("is_clean", [True, False])
def test_producer_snapshots_are_caches(spoil: str, *, is_clean: bool) -> None:
    world = World(SMALL)
    for sequence in range(40):
        world.append(producer_id=7, sequence=sequence)
    world.log.flush()
    world.directory.checkpoint({})
    world.directory.close(clean=is_clean)
    for entry in world.fs.list(LOG):
        if entry.endswith(".snapshot"):
            spoil_file(world, f"{LOG}/{entry}", spoil)
    world.start()
    assert world.append(producer_id=7, sequence=39).duplicate
    assert world.append(producer_id=7, sequence=40).base_offset == 40


@pytest.mark.parametrize("content", [None, b"", b"0\n1\n5 x\n", bytes(20)])
@pytest.mark.parametrize("is_clean", [True, False])
def test_leader_epochs_are_read_from_the_batches_when_their_file_is_bad(
    content: bytes | None, *, is_clean: bool
) -> None:
    world = World(SMALL)
    for number in range(40):
        world.append(leader_epoch=number // 15)
    world.log.flush()
    world.directory.checkpoint({})
    world.directory.close(clean=is_clean)
    world.fs.remove(f"{LOG}/leader-epoch-checkpoint")
    if content is not None:
        world.fs.open(f"{LOG}/leader-epoch-checkpoint", OpenMode.CREATE).write_at([content], 0)
    world.start()
    assert [world.log.epoch_at(offset) for offset in (0, 14, 15, 29, 30, 39)] == [0, 0, 1, 1, 2, 2]
    assert world.log.end_offset_for_epoch(1) == (1, 30)


def test_leftovers_of_a_crash_are_removed() -> None:
    world = written()
    for name in (
        f"{0:020d}.log.deleted",
        f"{9:020d}.index",
        f"{9:020d}.log.cleaned",
        "leader-epoch-checkpoint.tmp",
    ):
        world.fs.open(f"{LOG}/{name}", OpenMode.CREATE)
    world.start()
    assert offsets_in(world.log) == [0, 1, 2, 3, 4]
    assert world.fs.list(LOG) == [
        f"{0:020d}.log",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ]


def test_a_log_start_beyond_the_end_begins_anew_there() -> None:
    """Records that were deleted for good must not come back under new offsets."""
    world = written()
    world.start()
    world.log.raise_log_start(5)
    world.directory.checkpoint({})
    world.directory.close(clean=False)
    world.fs.open(f"{FIRST}.log", OpenMode.WRITE).truncate(2 * SIZE)
    world.start()
    assert "log_start_beyond_end" in world.events
    assert (world.log.log_start_offset, world.log.log_end_offset) == (5, 5)
    assert world.append().base_offset == 5


@pytest.mark.parametrize("is_clean", [True, False])
def test_a_directory_of_kafka_opens(tmp_path: Path, *, is_clean: bool) -> None:
    """Every record, transaction, producer and epoch of a partition that Kafka 4.3 wrote."""
    shutil.copytree(KAFKA, tmp_path / "plain-0")
    (tmp_path / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=c\n")
    if is_clean:
        (tmp_path / "recovery-point-offset-checkpoint").write_text("0\n1\nplain 0 202\n")
        (tmp_path / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":11}')
    directory = LogDirectory.open(
        OsFileSystem(),
        str(tmp_path),
        node_id=1,
        cluster_id=None,
        clock=ManualClock(),
        rng=random.Random(0),
    )
    logs, notes = directory.load(lambda *_: replace(FOREVER, index_interval_bytes=300))
    (log,) = logs
    assert notes == []
    assert directory.was_clean == is_clean
    assert offsets_in(log) == list(range(202))
    aborted = log.aborted_transactions(0, 202)
    assert [(t.first_offset, t.last_offset) for t in aborted] == [(153, 155), (159, 162)]
    assert log.last_stable(202) == 202
    assert log.latest_epoch == 0
    records = [
        record
        for batch in batches_in(log)
        if not batch.is_control
        for record in decode_records(batch, bytes_max=1 << 20)
    ]
    for wanted in (0, 1_700_000_005_000, 1_700_000_014_000, 1_795_000_000_000):
        first = next(record for record in records if record.timestamp_ms >= wanted)
        found = log.offset_for_timestamp(wanted, end_offset=202)
        assert found == (first.timestamp_ms, first.offset, 0)
    directory.close()
    for name in ("index", "timeindex"):
        for base in (0, 150):
            path = f"{base:020d}.{name}"
            assert (tmp_path / "plain-0" / path).read_bytes() == (KAFKA / path).read_bytes()


def test_a_symbolic_link_among_the_segments_is_refused(tmp_path: Path) -> None:
    partition = tmp_path / "data" / "t-0"
    partition.mkdir(parents=True)
    (partition / f"{0:020d}.log").symlink_to(tmp_path / "elsewhere")
    directory = LogDirectory.open(
        OsFileSystem(),
        str(tmp_path / "data"),
        node_id=1,
        cluster_id=None,
        clock=ManualClock(),
        rng=random.Random(0),
    )
    with pytest.raises(ApiError, match="symbolic links are refused"):
        directory.load(lambda *_: FOREVER)


@pytest.mark.parametrize("seed", range(8))
def test_a_new_segment_without_a_record_outlives_a_power_loss_once_it_has_one(seed: int) -> None:
    """The roll made the file, the disk was full, the process was killed: its name was never synced.

    Found in simulation: a marker that had been flushed into such a file was gone after a crash.
    """
    world = World(replace(FOREVER, segment_bytes=SIZE), seed=seed)
    world.append()
    world.log.flush()
    world.directory.checkpoint({})
    world.fs.capacity_bytes = world.fs.used_bytes
    world.append()
    with pytest.raises(DiskFull):
        world.log.write()
    world.fs.capacity_bytes = None
    world.restart(clean=False)
    world.append()
    world.log.flush()
    world.crash()
    assert offsets_in(world.log) == [0, 1]


@pytest.mark.parametrize("seed", range(8))
def test_a_list_of_aborted_transactions_that_was_made_anew_outlives_a_power_loss(seed: int) -> None:
    """Recovery writes the list again, nothing else changes, and later nobody looks any more.

    Found in simulation: after two restarts readers saw records of an aborted transaction.
    """
    world = World(replace(FOREVER, segment_bytes=3 * SIZE), seed=seed)
    world.append(producer_id=7, is_transactional=True)
    abort = build_end_txn_batch(
        EndTxnMarker(type=ControlType.ABORT, coordinator_epoch=0),
        producer_id=7,
        producer_epoch=0,
        timestamp_ms=world.clock.now_ms(),
    )
    world.log.append_as_leader(read_batch(abort), leader_epoch=0, now_ms=world.clock.now_ms())
    world.log.flush()
    world.directory.checkpoint({})
    world.restart(clean=False)
    for _ in range(3):
        world.append()
    world.log.flush()
    world.directory.checkpoint({})
    world.crash()
    aborted = world.log.aborted_transactions(0, 2)
    assert [(entry.first_offset, entry.last_offset) for entry in aborted] == [(0, 1)]
