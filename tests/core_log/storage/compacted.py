"""A log of keyed records, one a batch, four a segment, and its compaction step by step."""

from headwater.core_log.kernel.ids import NO_SEQUENCE
from headwater.core_log.records.batch import Batch, read_batch
from headwater.core_log.records.record import NewRecord, build_batch, decode_records
from headwater.core_log.storage import swap
from headwater.core_log.storage.cleanable import CleaningPolicy
from headwater.core_log.storage.cleaning import CleanLimits
from headwater.core_log.storage.compaction.job import CleanJob, CleanResult
from headwater.core_log.storage.config import LogConfig
from headwater.core_log.storage.swap import SwapJob

from . import reference_cleaner
from .world import World, batches_in

KEYS = 3
CONFIG = LogConfig(
    segment_bytes=330,  # four records
    index_interval_bytes=100,
    retention_ms=None,
    file_delete_delay_ms=0,
    cleanup_delete=False,
    cleanup_compact=True,
    cleaning=CleaningPolicy(dirty_ratio_min=0.0),
)
HIGH = 1 << 60


def numbered(number: int, *, key: bytes | None = None, producer_id: int = -1) -> Batch:
    """Record *number*: its value and time are the number, its key one of a few."""
    return read_batch(
        build_batch(
            [
                NewRecord(
                    timestamp_ms=number,
                    key=b"key %d" % (number % KEYS) if key is None else key,
                    value=b"%d" % number,
                )
            ],
            producer_id=producer_id,
            producer_epoch=0 if producer_id >= 0 else -1,
            base_sequence=number if producer_id >= 0 else NO_SEQUENCE,
        )
    )


def surviving(until: int, end: int, start: int = 0) -> list[int]:
    """What is left of records [start, end) once all below *until* is compacted."""
    newest = {number % KEYS: number for number in range(start, until)}
    return sorted({*newest.values(), *range(max(until, start), end)})


def offsets(world: World) -> list[int]:
    """What a consumer sees; every record must be the one that was sent."""
    log = world.log
    seen = [
        record
        for batch in batches_in(log)
        for record in decode_records(batch, bytes_max=1 << 20)
        if record.offset >= log.log_start_offset
    ]
    assert all(record.value == b"%d" % record.offset for record in seen)
    return [record.offset for record in seen]


class Pass:
    """One compaction of a world's log, to be carried through in steps."""

    def __init__(self, world: World, *, high_watermark: int = HIGH, now_ms: int = 0) -> None:
        self.world = world
        self.log = world.log
        found = self.log.dirtiness(high_watermark=high_watermark, now_ms=now_ms)
        assert found is not None
        job = self.log.begin_clean(found, CleanLimits(), now_ms=now_ms)
        assert job is not None
        self.job: CleanJob = job
        self.result: CleanResult | None = None
        self.swap: SwapJob | None = None

    def work(self) -> "Pass":
        self.result = reference_cleaner.clean(self.job, self.world.fs)
        return self

    def begin_swap(self) -> SwapJob | None:
        assert self.result is not None
        self.world.directory.checkpoint({})
        self.swap = self.log.begin_swap(self.job, self.result)
        return self.swap

    def decide(self) -> "Pass":
        decision = self.begin_swap()
        assert decision is not None
        decision.run()
        assert decision.settle()
        return self

    def switch(self, count_max: int | None = None) -> bool:
        assert self.swap is not None
        return self.log.switch(self.swap, count_max=count_max)

    def end(self) -> None:
        assert self.result is not None
        swap.complete(self.world.fs, self.log.path)
        self.log.end_clean(self.job, self.result.clean_until_offset)

    def give_up(self) -> None:
        swap.discard(self.world.fs, self.log.path)
        self.log.end_clean(self.job, None)


def compacted(world: World) -> None:
    """A whole pass."""
    one = Pass(world).work().decide()
    assert one.switch()
    one.end()


def filled(count: int, config: LogConfig = CONFIG, *, seed: int = 0) -> World:
    """A log of *count* records, all flushed."""
    world = World(config, seed=seed)
    fill(world, count)
    return world


def fill(world: World, count: int) -> None:
    log = world.log
    for number in range(log.log_end_offset, log.log_end_offset + count):
        log.append_as_leader(numbered(number), leader_epoch=0, now_ms=number)
    log.flush()
