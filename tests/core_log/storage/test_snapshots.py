"""Producer snapshots: kept where recovery wants them, passed over when they are not sound."""

from headwater.core_log.kernel.ports import OpenMode
from headwater.core_log.storage.producers import ProducerStates
from headwater.core_log.storage.snapshots import ProducerSnapshots
from headwater.core_log.testing.memory_fs import MemoryFileSystem

from .world import LOG, World, batch_of, volume_on


def snapshots(fs: MemoryFileSystem) -> list[str]:
    return [name for name in fs.list("data") if name.endswith(".snapshot")]


def name_of(offset: int) -> str:
    return f"{offset:020d}.snapshot"


def saved(offsets: list[int], bases: set[int]) -> tuple[MemoryFileSystem, ProducerSnapshots]:
    fs = MemoryFileSystem()
    fs.make_directory("data")
    kept = ProducerSnapshots(volume_on(fs), "data")
    for offset in offsets:
        kept.queue(offset, ProducerStates().encode_snapshot())
        assert kept.is_queued
        kept.save(bases)
    assert not kept.is_queued
    return fs, kept


def test_the_newest_two_and_those_of_segments_stay() -> None:
    fs, kept = saved([1, 2, 3, 4, 5], {2})
    assert snapshots(fs) == [name_of(offset) for offset in (2, 4, 5)]
    assert kept.newest_offset == 5


def test_what_tells_of_cut_records_goes() -> None:
    fs, kept = saved([1, 2, 3], {1, 2, 3})
    kept.queue(9, b"never written")
    kept.forget_above(2)
    kept.save({1, 2, 3})
    assert snapshots(fs) == [name_of(1), name_of(2)]
    kept.forget_above(-1)
    assert snapshots(fs) == []
    assert kept.newest_offset is None


def test_an_unsound_snapshot_is_told_and_passed_over() -> None:
    world = World()
    for sequence in range(3):
        world.append(producer_id=7, sequence=sequence)
        world.log.roll()
    world.log.flush()
    world.directory.checkpoint({})
    world.fs.open(f"{LOG}/{name_of(3)}", OpenMode.REPLACE).write_at([b"\1" * 50], 0)
    world.restart(clean=False)
    assert world.events == ["producer_snapshot_unreadable"]
    assert world.append(producer_id=7, sequence=2).duplicate
    assert batch_of().producer_id == -1
