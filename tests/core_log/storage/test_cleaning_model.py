"""A compacted log beside a model that a child could write: a list of what may be seen.

Appends, rolls, truncation, DeleteRecords, retention, stops, kills and power losses come between the
steps of compactions in any order. Of every record the model says whether it must be seen, must not,
or may: while segments change names, what a newer record of its key replaces is there or not.
"""

from dataclasses import replace

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from .compacted import CONFIG, HIGH, Pass, numbered, offsets
from .world import World

KEYS = st.sampled_from([b"a", b"b", b"c"])


class CompactedLog(RuleBasedStateMachine):
    """Records are their offsets; ``sent`` has the key of each one that may be in the log."""

    @initialize(seed=st.integers(0, 1 << 16), retains=st.booleans())
    def begin(self, seed: int, *, retains: bool) -> None:
        config = replace(CONFIG, cleanup_delete=retains, retention_bytes=600 if retains else None)
        self.world = World(config, seed=seed)
        self.world.log.flush()
        self.sent: dict[int, bytes] = {}
        self.gone: set[int] = set()
        """Removed by a compaction that is decided and durable."""
        self.going: set[int] = set()
        """What the pass under way would remove."""
        self.one: Pass | None = None
        self.step = ""

    # The log

    @rule(keys=st.lists(KEYS, min_size=1, max_size=6))
    def append(self, keys: list[bytes]) -> None:
        log = self.world.log
        for key in keys:
            offset = log.log_end_offset
            log.append_as_leader(numbered(offset, key=key), leader_epoch=offset // 7, now_ms=offset)
            self.sent[offset] = key
            self.gone.discard(offset)

    @rule()
    def write(self) -> None:
        self.world.log.write()

    @rule()
    def flush(self) -> None:
        self.world.log.flush()

    @rule()
    def roll(self) -> None:
        self.world.log.roll()

    @rule(back=st.integers(0, 12))
    def truncate(self, back: int) -> None:
        log = self.world.log
        log.flush()
        offset = max(log.log_end_offset - back, log.log_start_offset)
        if self.one is not None and offset < self.one.job.segments[-1].end_offset:
            if self.step in ("decided", "half"):
                self.gone |= self.going
            if offset < log.log_end_offset:
                self.step = "late"
        log.truncate_to(offset)
        self.forget_from(log.log_end_offset)
        log.flush()
        self.world.directory.checkpoint({})

    @rule(ahead=st.integers(0, 9))
    def delete_records(self, ahead: int) -> None:
        log = self.world.log
        log.raise_log_start(min(log.log_start_offset + ahead, log.flushed_offset))
        self.world.directory.checkpoint({})

    @rule()
    def retain(self) -> None:
        self.world.log.delete_expired(now_ms=0, high_watermark=self.world.log.flushed_offset)
        self.world.directory.checkpoint({})
        self.world.directory.remove_deleted(self.world.clock.now_ms())

    # A compaction

    @precondition(lambda self: self.one is None)
    @rule()
    def begin_pass(self) -> None:
        log = self.world.log
        found = log.dirtiness(high_watermark=HIGH, now_ms=0)
        if found is None or not found.cleanable_bytes:
            return
        self.one, self.step = Pass(self.world), "begun"
        first = self.one.job.segments[0].base_offset
        held = {o: k for o, k in self.sent.items() if first <= o and o not in self.gone}
        newest = {key: offset for offset, key in held.items() if offset < found.end_offset}
        self.going = {o for o, k in held.items() if o < newest.get(k, -1)}

    @precondition(lambda self: self.step == "begun")
    @rule()
    def work(self) -> None:
        assert self.one is not None
        if self.world.log.fits(self.one.job):
            self.one.work()
            self.step = "worked"
        else:
            self.give_up()

    @precondition(lambda self: self.step == "worked")
    @rule()
    def decide(self) -> None:
        assert self.one is not None
        decision = self.one.begin_swap()
        if decision is None:
            self.give_up()
            return
        decision.run()
        assert decision.settle()
        self.step = "decided"
        # Segments that were deleted since are nobody's any more.
        self.going = {o for o in self.going if o >= self.world.log.first_base_offset}

    @precondition(lambda self: self.step in ("decided", "half"))
    @rule()
    def switch(self) -> None:
        assert self.one is not None
        if not self.one.switch(count_max=1):
            self.step = "half"
            return
        self.one.end()
        self.gone |= self.going
        self.one, self.step, self.going = None, "", set()

    @precondition(lambda self: self.step in ("worked", "begun", "late"))
    @rule()
    def give_up(self) -> None:
        assert self.one is not None
        self.one.give_up()
        self.one, self.step, self.going = None, "", set()

    # The end of the process

    @rule(clean=st.booleans())
    def restart(self, *, clean: bool) -> None:
        if not clean:
            self.world.log.write()
        self.world.restart(clean=clean)
        self.reopened()

    @rule()
    def crash(self) -> None:
        flushed = self.world.log.flushed_offset
        self.world.crash()
        assert self.world.log.log_end_offset >= flushed
        self.forget_from(self.world.log.log_end_offset)
        self.reopened()

    def reopened(self) -> None:
        if self.step in ("decided", "half"):
            self.gone |= self.going
        self.one, self.step, self.going = None, "", set()
        assert not any(note.severe for note in self.world.notes), self.world.notes

    def forget_from(self, end: int) -> None:
        self.sent = {offset: key for offset, key in self.sent.items() if offset < end}
        self.gone = {offset for offset in self.gone if offset < end}
        self.going = {offset for offset in self.going if offset < end}

    # What holds at any time

    @invariant()
    def the_log_is_what_the_model_says(self) -> None:
        log = self.world.log
        log.check()
        seen = set(offsets(self.world))
        start, end = log.log_start_offset, log.written_offset
        held = {offset for offset in self.sent if start <= offset < end} - self.gone
        if self.step in ("decided", "half"):
            assert held - self.going <= seen <= held
        else:
            assert seen == held
        for offset in seen:
            assert log.epoch_at(offset) == offset // 7


CompactedLog.TestCase.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, phases=[Phase.explicit, Phase.generate]
)
TestCompactedLog = CompactedLog.TestCase
