"""Power lost at every single operation of a busy hour: what was flushed is there, and nothing else.

The script appends as an idempotent producer, flushes, rolls, deletes, checkpoints and stops
cleanly. Each run of it loses power one operation later than the run before. After the restart the
log must hold, densely, everything that a flush had promised, nothing that was never sent, and take
the producer's next batch as next.
"""

from contextlib import suppress

import pytest

from headwater.core_log.records.batch import Batch
from headwater.core_log.records.record import decode_records
from headwater.core_log.storage.config import LogConfig
from headwater.core_log.testing.memory_fs import PowerLost

from .world import World, batch_of, batches_in

CONFIG = LogConfig(
    segment_bytes=500,
    index_interval_bytes=100,
    retention_ms=None,
    retention_bytes=900,
    file_delete_delay_ms=0,
)


class Story:
    """One run of the script, and what it may rely on so far."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.sent = 0
        """The next offset, sequence, timestamp and value: all are one number."""
        self.promised = 0
        """Everything below it was flushed."""
        self.deleted_for_sure = 0
        self.deleted_perhaps = 0

    def run(self) -> None:
        for count in (1, 5, 2, 9, 1):
            self.append(count)
            self.world.log.write()
            self.append(count)
            self.flush()
            self.append(1)
            self.world.log.write()
            self.delete()
        self.world.restart()
        self.append(4)
        self.flush()
        self.delete()
        self.world.restart()

    def append(self, count: int) -> None:
        for _ in range(count):
            self.world.log.append_as_leader(
                numbered(self.sent),
                leader_epoch=self.sent // 10,
                now_ms=self.world.clock.now_ms(),
            )
            self.sent += 1

    def flush(self) -> None:
        self.world.log.flush()
        self.promised = self.world.log.flushed_offset

    def delete(self) -> None:
        self.deleted_perhaps = 1 << 60
        self.world.log.delete_expired(now_ms=0, high_watermark=self.promised)
        self.deleted_perhaps = self.world.log.log_start_offset
        self.world.directory.checkpoint({("t", 0): self.promised})
        self.deleted_for_sure = self.world.log.log_start_offset
        self.world.directory.remove_deleted(self.world.clock.now_ms())

    def check(self) -> None:
        """What must hold after the crash and the restart."""
        log = self.world.log
        assert self.promised <= log.log_end_offset <= self.sent
        assert self.deleted_for_sure <= log.log_start_offset <= self.deleted_perhaps
        assert not any(note.severe for note in self.world.notes), self.world.notes
        found = [
            (record.offset, record.value)
            for batch in batches_in(log)
            for record in decode_records(batch, bytes_max=1 << 20)
        ]
        end = log.log_end_offset
        visible = [entry for entry in found if entry[0] >= log.log_start_offset]
        assert visible == [(number, b"%d" % number) for number in range(log.log_start_offset, end)]
        assert log.latest_epoch == ((end - 1) // 10 if end else -1)

    def check_it_goes_on(self) -> None:
        """The producer's last batch is known, its next one follows, and all can be looked up."""
        log = self.world.log
        end = self.sent = log.log_end_offset
        if end:
            again = log.append_as_leader(numbered(end - 1), leader_epoch=99, now_ms=0)
            assert again == (end - 1, end - 1, -1, True)
        self.append(3)
        self.flush()
        for number in range(log.log_start_offset, end + 3):
            assert log.epoch_at(number) == number // 10, (number, log.epochs)
            found = log.offset_for_timestamp(number, end_offset=end + 3)
            assert found == (number, number, number // 10), (number, found)
        self.world.restart()
        self.check()


def numbered(number: int) -> Batch:
    return batch_of(producer_id=7, sequence=number, timestamp_ms=number, value=b"%d" % number)


def story(seed: int) -> Story:
    """A world whose empty log is on disk already."""
    world = World(CONFIG, seed=seed)
    world.log.flush()
    return Story(world)


def operation_count() -> int:
    told = story(0)
    before = len(told.world.fs.operations)
    told.run()
    return len(told.world.fs.operations) - before


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_power_may_go_at_any_operation(seed: int) -> None:
    for operation in range(operation_count()):
        told = story(seed * 1000 + operation)
        told.world.fs.crash_after(operation)
        with pytest.raises(PowerLost):
            told.run()
        told.world.crash()
        told.check()
        told.check_it_goes_on()


def test_power_may_go_again_during_recovery() -> None:
    """Twice in a row, at every operation of the first recovery."""
    for operation in range(30):
        told = story(operation)
        told.world.fs.crash_after(operation_count() // 2 + operation)
        with pytest.raises(PowerLost):
            told.run()
        told.world.fs.crash()
        told.world.fs.crash_after(operation)
        with suppress(PowerLost):
            told.world.start()
        told.world.crash()
        told.check()
        told.check_it_goes_on()


@pytest.mark.parametrize("seed", range(20))
def test_a_kill_loses_nothing_that_was_written(seed: int) -> None:
    """Without a power loss the page cache survives: written is enough."""
    told = story(seed)
    told.append(seed + 1)
    told.world.log.write()
    told.append(1)
    told.promised, told.sent = seed + 1, seed + 1
    told.world.restart(clean=False)
    told.check()
    told.check_it_goes_on()
    told.world.crash()
    told.check()
