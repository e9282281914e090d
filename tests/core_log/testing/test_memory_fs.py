"""The faults of the file system in memory; the plain contract is tested with the real one."""

import errno

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.kernel.ports import OpenMode
from headwater.core_log.testing.memory_fs import MemoryFile, MemoryFileSystem, PowerLost

SEEDS = range(60)


def disk(seed: int = 0) -> tuple[MemoryFileSystem, MemoryFile]:
    fs = MemoryFileSystem(seed=seed)
    fs.make_directory("d")
    file = fs.open("d/a", OpenMode.CREATE)
    fs.sync_directory("")
    fs.sync_directory("d")
    return fs, file


def content(fs: MemoryFileSystem, path: str = "d/a") -> bytes:
    return fs.open(path, OpenMode.READ).read_at(1 << 20, 0)


def test_synced_data_under_a_synced_name_survives() -> None:
    for seed in SEEDS:
        fs, file = disk(seed)
        file.write_at([b"kept"], 0)
        file.sync()
        fs.crash()
        assert content(fs) == b"kept"


def test_unsynced_writes_survive_whole_torn_or_not_at_all() -> None:
    """Every fate occurs, by seed; what was synced before stays."""
    fates = set()
    for seed in SEEDS:
        fs, file = disk(seed)
        file.write_at([b"12"], 0)
        file.sync()
        file.write_at([b"3456"], 2)
        fs.crash()
        fates.add(content(fs))
    assert all(fate.startswith(b"12") for fate in fates)
    assert {b"12", b"123456"} < fates
    assert {b"123", b"1234", b"12345"} & fates


def test_a_later_write_may_survive_an_earlier_one() -> None:
    """Disks do not keep order between syncs: the hole reads as zeros."""
    fates = set()
    for seed in SEEDS:
        fs, file = disk(seed)
        file.write_at([b"aa"], 0)
        file.write_at([b"bb"], 2)
        fs.crash()
        fates.add(content(fs))
    assert b"\0\0bb" in fates


def test_large_writes_lose_sectors() -> None:
    fates = set()
    for seed in SEEDS:
        fs, file = disk(seed)
        file.write_at([b"x" * 2048], 0)
        fs.crash()
        data = content(fs)
        fates.add(tuple(data[i : i + 512] == b"x" * 512 for i in range(0, len(data), 512)))
    assert any(True in fate[1:] and False in fate[:-1] for fate in fates)


def test_unsynced_names_are_lost_or_kept_in_order() -> None:
    """Of the changes of one directory the oldest survive: b without a never occurs."""
    fates = set()
    for seed in SEEDS:
        fs, _ = disk(seed)
        fs.open("d/b", OpenMode.CREATE)
        fs.rename("d/b", "d/c")
        fs.remove("d/a")
        fs.crash()
        fates.add(tuple(fs.list("d")))
    assert fates == {("a",), ("a", "b"), ("a", "c"), ("c",)}


def test_a_synced_file_without_a_synced_name_is_lost() -> None:
    fates = set()
    for seed in SEEDS:
        fs, _ = disk(seed)
        file = fs.open("d/b", OpenMode.CREATE)
        file.write_at([b"x"], 0)
        file.sync()
        fs.crash()
        fates.add(fs.size("d/b"))
    assert fates == {None, 1}


def test_files_opened_before_a_crash_are_dead() -> None:
    fs, file = disk()
    fs.lock("d/.lock")
    fs.crash()
    with pytest.raises(PowerLost):
        file.read_at(1, 0)
    fs.lock("d/.lock")


@given(count=st.integers(0, 4))
def test_power_goes_after_the_given_operation(count: int) -> None:
    fs, file = disk()
    fs.crash_after(count)
    for position in range(count):
        file.write_at([b"x"], position)
    with pytest.raises(PowerLost):
        file.write_at([b"x"], count)
    with pytest.raises(PowerLost):
        fs.list("d")
    assert len([op for op in fs.operations if op.startswith("write")]) == count
    fs.crash()
    assert fs.list("d") == ["a"]


def test_the_given_operation_fails_once() -> None:
    fs, file = disk()
    fs.fail_after(1)
    file.write_at([b"ok"], 0)
    with pytest.raises(OSError, match="injected") as caught:
        file.write_at([b"bad"], 2)
    assert caught.value.errno == errno.EIO
    file.write_at([b"fine"], 2)
    assert file.read_at(9, 0) == b"okfine"


def test_a_failed_sync_loses_the_data_and_the_next_one_lies() -> None:
    """As Linux does: the second sync succeeds, and a crash shows that nothing was on disk."""
    for seed in SEEDS:
        fs, file = disk(seed)
        file.write_at([b"lost"], 0)
        fs.fail_after(0)
        with pytest.raises(OSError, match="injected"):
            file.sync()
        file.sync()
        assert content(fs) == b"lost"
        fs.crash()
        assert content(fs) == b""


def test_a_full_disk_takes_what_fits() -> None:
    fs, file = disk()
    fs.capacity_bytes = 6
    file.write_at([b"abcd"], 0)
    with pytest.raises(OSError, match="no space") as caught:
        file.write_at([b"efgh"], 4)
    assert caught.value.errno == errno.ENOSPC
    assert file.read_at(9, 0) == b"abcdef"
    assert fs.free_bytes("d") == 0
    file.write_at([b"ABCDEF"], 0)
    fs.remove("d/a")
    assert fs.free_bytes("d") == 6


def test_a_flipped_bit_stays_flipped() -> None:
    fs, file = disk()
    file.write_at([b"aaa"], 0)
    file.sync()
    fs.flip_bit("d/a", 1, bit=1)
    assert content(fs) == b"aca"
    fs.crash()
    assert content(fs) == b"aca"


def test_a_cold_file_system_has_nothing_cached() -> None:
    fs, file = disk()
    file.write_at([b"x"], 0)
    assert file.read_cached(1, 0) == b"x"
    fs.is_cold = True
    assert file.read_cached(1, 0) is None
