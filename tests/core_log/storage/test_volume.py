"""What the logs of a directory share: bounded files and indexes, one fate."""

import pytest

from headwater.core_log.kernel.ports import OpenMode
from headwater.core_log.storage.errors import LogDirectoryFailed
from headwater.core_log.storage.volume import INDEX_CACHE_BYTES, Volume, read_all, write_durably
from headwater.core_log.testing.memory_fs import MemoryFileSystem

from .world import volume_on


def disk(count: int) -> MemoryFileSystem:
    fs = MemoryFileSystem()
    fs.make_directory("data")
    for number in range(count):
        fs.open(f"data/{number}", OpenMode.CREATE).write_at([b"%d" % number], 0)
    return fs


def test_files_stay_open_until_others_are_used_more() -> None:
    fs = disk(4)
    volume = Volume(fs, "data", clock=volume_on(fs).clock, rng=volume_on(fs).rng, open_files_max=2)
    first, second = volume.file("data/0"), volume.file("data/1")
    assert volume.file("data/0") is first
    volume.file("data/2")
    assert volume.file("data/0") is first
    assert volume.file("data/1") is not second
    assert second.read_at(1, 0) == b"1"  # its user still has it


def test_a_forgotten_file_is_opened_anew() -> None:
    fs = disk(1)
    volume = volume_on(fs)
    old = volume.file("data/0")
    fs.rename("data/0", "data/1")
    fs.open("data/0", OpenMode.CREATE).write_at([b"new"], 0)
    assert volume.file("data/0") is old
    volume.forget("data/0")
    assert volume.file("data/0").read_at(9, 0) == b"new"
    assert volume.create("data/0").size() == 0


def test_indexes_are_kept_within_their_bound() -> None:
    volume = volume_on(disk(0))
    loads: list[str] = []

    def load(name: str) -> str:
        def loaded() -> tuple[str, int]:
            loads.append(name)
            return name.upper(), INDEX_CACHE_BYTES // 3

        return volume.index(name, loaded)

    assert [load(name) for name in "abcab"] == ["A", "B", "C", "A", "B"]
    assert loads == ["a", "b", "c"]
    load("d")  # c has been idle the longest
    load("a")
    load("c")
    assert loads == ["a", "b", "c", "d", "c"]
    volume.forget("a")
    load("a")
    assert loads[-1] == "a"
    volume.close()
    load("a")
    assert loads[-2:] == ["a", "a"]


def test_the_first_failure_is_the_one() -> None:
    told: list[LogDirectoryFailed] = []
    fs = disk(0)
    volume = Volume(
        fs, "data", clock=volume_on(fs).clock, rng=volume_on(fs).rng, on_failure=told.append
    )
    first = volume.fail(OSError(5, "bad sector", "data/x"))
    assert volume.fail(OSError(6, "other")) is first is volume.failure
    assert told == [first]
    assert "bad sector (data/x)" in str(first)
    assert "restart the node" in str(first)


@pytest.mark.parametrize("operation", range(5))
def test_a_durable_write_is_the_old_or_the_new(operation: int) -> None:
    """At every operation, whatever survives."""
    for seed in range(20):
        fs = MemoryFileSystem(seed=seed)
        fs.make_directory("d")
        fs.sync_directory("")
        write_durably(fs, "d/a", b"old")
        fs.sync_directory("d")
        fs.crash_after(operation)
        try:
            write_durably(fs, "d/a", b"new!")
            fs.sync_directory("d")
            expected = {b"new!"}
        except Exception:  # noqa: BLE001 - the power loss of the test
            expected = {b"old", b"new!"}
        fs.crash()
        assert read_all(fs, "d/a") in expected
    assert read_all(fs, "d/none") is None
