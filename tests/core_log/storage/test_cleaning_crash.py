"""Power lost at every single operation of a compaction, and of the recovery after it.

The log holds the newest record of every key at any time; of the others all are there or, once the
swap is decided, none. Nothing that was flushed is lost, nothing that compaction removed comes back
once it was told to be done, and what is appended next gets the next offset.
"""

from contextlib import suppress

import pytest

from headwater.core_log.testing.memory_fs import PowerLost

from .compacted import CONFIG, Pass, numbered, offsets, surviving
from .world import World

COUNT = 22


class Story:
    """Appends, compacts twice, and knows what may be seen."""

    def __init__(self, seed: int) -> None:
        self.world = World(CONFIG, seed=seed)
        self.world.log.flush()
        self.sent = 0
        self.flushed = 0
        self.began: list[int] = []
        """The ends of compactions that were begun, and of the last one that is done for sure."""
        self.done = 0

    def run(self) -> None:
        self.append(COUNT)
        self.compact()
        self.append(9)
        self.compact()
        self.world.restart()

    def append(self, count: int) -> None:
        log = self.world.log
        for _ in range(count):
            log.append_as_leader(numbered(self.sent), leader_epoch=self.sent // 10, now_ms=0)
            self.sent += 1
            if self.sent % 5 == 0:
                log.write()
        log.flush()
        self.flushed = log.flushed_offset

    def compact(self) -> None:
        one = Pass(self.world, high_watermark=self.flushed)
        self.began.append(one.job.end_offset)
        one.work().decide()
        self.done = one.job.end_offset
        while not one.switch(count_max=1):
            one.log.check()
        one.end()
        self.world.directory.checkpoint({("t", 0): self.flushed})
        self.world.directory.remove_deleted(self.world.clock.now_ms())

    def check(self) -> None:
        """What must hold after the crash and the restart."""
        log = self.world.log
        assert not any(note.severe for note in self.world.notes), self.world.notes
        end = log.log_end_offset
        assert self.flushed <= end <= self.sent
        seen = offsets(self.world)
        allowed = [surviving(until, end) for until in {0, *self.began} if until >= self.done]
        assert seen in allowed, (seen, allowed)
        assert log.latest_epoch == ((end - 1) // 10 if end else -1)
        names = self.world.fs.list("data/t-0")
        assert not [name for name in names if name.endswith((".cleaned", ".swap", ".replaced"))]

    def check_it_goes_on(self) -> None:
        """Every offset can be looked up, appended to, compacted again."""
        log = self.world.log
        end = self.sent = log.log_end_offset
        seen = offsets(self.world)
        for offset in range(end):
            following = next((each for each in seen if each >= offset), None)
            piece = log.read(offset, bytes_max=1, end_offset=end)
            assert (piece.base_offset if piece.size_bytes else None) == following
            found = log.offset_for_timestamp(offset, end_offset=end)
            assert (None if found is None else found.offset) == following
        appended = log.append_as_leader(numbered(end), leader_epoch=end // 10, now_ms=0)
        assert appended.base_offset == end
        self.sent = end + 1
        self.append(8)
        self.compact()
        self.world.restart()
        self.began = [self.done]
        self.check()


def operation_count() -> int:
    told = Story(0)
    before = len(told.world.fs.operations)
    told.run()
    return len(told.world.fs.operations) - before


def test_without_a_crash_the_newest_records_stay() -> None:
    told = Story(0)
    told.run()
    told.began = [told.done]
    told.check()
    told.check_it_goes_on()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_power_may_go_at_any_operation(seed: int) -> None:
    for operation in range(operation_count()):
        told = Story(seed * 1000 + operation)
        told.world.fs.crash_after(operation)
        with pytest.raises(PowerLost):
            told.run()
        told.world.crash()
        told.check()
        told.check_it_goes_on()


@pytest.mark.slow
def test_power_may_go_again_during_recovery() -> None:
    """At every operation of the first compaction, and then at some of the recovery."""
    for operation in range(operation_count()):
        for again in (0, 2, 5, 11):
            told = Story(operation + again)
            told.world.fs.crash_after(operation)
            with pytest.raises(PowerLost):
                told.run()
            told.world.fs.crash()
            told.world.fs.crash_after(again)
            with suppress(PowerLost):
                told.world.start()
            told.world.crash()
            told.check()


@pytest.mark.slow
def test_a_kill_at_any_operation_is_like_a_power_loss_that_loses_nothing() -> None:
    """The page cache survives: names and bytes are as the last operation left them."""
    for operation in range(operation_count()):
        told = Story(operation)
        told.world.fs.crash_after(operation)
        with pytest.raises(PowerLost):
            told.run()
        told.world.fs.kill()
        told.world.start()
        told.check()
        told.check_it_goes_on()
