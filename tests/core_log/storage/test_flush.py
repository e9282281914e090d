"""The account of what is not on disk yet: every file exactly as often as needed, names last."""

from headwater.core_log.kernel.ports import OpenMode
from headwater.core_log.records.batch import patch
from headwater.core_log.storage.flush import Unflushed
from headwater.core_log.storage.segment import Segment
from headwater.core_log.testing.memory_fs import MemoryFileSystem

from .world import batch_of, volume_on


class Desk:
    """A log's account with two written segments at offsets 0 and 5."""

    def __init__(self, *, is_new: bool = False) -> None:
        self.fs = MemoryFileSystem()
        self.fs.make_directory("data/t-0")
        self.fs.open("data/t-0/partition.metadata", OpenMode.CREATE)
        volume = volume_on(self.fs)
        self.unflushed = Unflushed(volume, "data/t-0", is_new=is_new)
        self.old, self.new = (
            Segment(volume, "data/t-0", base, created_ms=0, interval_bytes=0) for base in (0, 5)
        )
        for segment in (self.old, self.new):
            for offset in range(segment.base_offset, segment.base_offset + 3):
                batch = batch_of(timestamp_ms=offset)
                patch(batch, base_offset=offset, leader_epoch=0)
                segment.append(batch, offset)
            segment.write()

    def synced(self, end_offset: int) -> list[str]:
        """What the next job does; it has ended."""
        before = len(self.fs.operations)
        job = self.unflushed.begin(end_offset)
        assert job is not None
        job.run()
        assert self.unflushed.end(job) == end_offset
        names = [op.rpartition("/")[2] for op in self.fs.operations[before:]]
        return [name.lstrip("0") for name in names]


def test_segments_come_once_and_in_order() -> None:
    desk = Desk()
    for segment in (desk.old, desk.old, desk.new):
        desk.unflushed.written(segment)
    assert desk.synced(8) == [".log", "5.log"]
    assert desk.unflushed.begin(8) is None


def test_names_come_after_data() -> None:
    desk = Desk(is_new=True)
    desk.unflushed.written(desk.old)
    assert desk.synced(3) == [".log", "partition.metadata", "t-0", "sync_directory data"]


def test_indexes_hold_the_recovery_point_back_until_they_are_synced() -> None:
    desk = Desk()
    desk.old.seal()
    desk.unflushed.indexed(desk.old, desk.old.save_indexes())
    floors = [desk.unflushed.index_floor]
    job = desk.unflushed.begin(8)
    assert job is not None
    floors.append(desk.unflushed.index_floor)
    job.run()
    desk.unflushed.end(job)
    floors.append(desk.unflushed.index_floor)
    assert floors == [0, 0, None]
    assert len(job.files) == 2


def test_a_job_in_flight_is_part_of_the_next() -> None:
    desk = Desk()
    desk.unflushed.written(desk.old)
    first = desk.unflushed.begin(3)
    desk.unflushed.written(desk.new)
    second = desk.unflushed.begin(8)
    assert first is not None
    assert second is not None
    assert len(first.files) == 1
    assert len(second.files) == 2
    assert desk.unflushed.end(second) == 8
    assert desk.unflushed.end(first) == 3
    assert desk.unflushed.begin(8) is None


def test_a_job_from_before_a_truncation_proves_nothing() -> None:
    desk = Desk()
    desk.unflushed.written(desk.new)
    job = desk.unflushed.begin(8)
    desk.unflushed.truncated(desk.old)
    assert job is not None
    assert desk.unflushed.end(job) == 0
    assert desk.synced(2) == [".log", "t-0"]


def test_doomed_segments_are_not_flushed() -> None:
    desk = Desk()
    desk.unflushed.written(desk.old)
    desk.unflushed.written(desk.new)
    desk.unflushed.forget([desk.old])
    assert desk.synced(8) == ["5.log"]
