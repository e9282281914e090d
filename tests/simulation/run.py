"""A whole broker in a faulty world: what every run of the simulation shares.

The dice decide which client acts, when a frame arrives, when the disk works, and when something
breaks: a connection stalls or is reset, the disk is full or fails, the broker is stopped, killed or
loses power. After every event the parts' own invariants are asserted. At the end everything heals,
every client finishes, and the history is judged.

A kind of run subclasses ``Run``: it sets up topics and clients and knows what to judge.
"""

import errno
import random
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from headwater.core_log.broker import coordinator
from headwater.core_log.broker.broker import Broker
from headwater.core_log.broker.partitions import Hosted
from headwater.core_log.protocol.messages.create_topics import CreateTopicsResponse
from headwater.core_log.storage.errors import DiskFull, LogDirectoryFailed
from headwater.core_log.testing import requests
from headwater.core_log.testing.history import Event
from headwater.core_log.testing.local_broker import LocalBroker
from headwater.core_log.testing.memory_fs import MemoryFileSystem
from headwater.core_log.testing.network import Direction, MemoryNetwork

from .clients import Client

ENDS: Final = ("crash", "kill", "stop")
DRAIN_ROUND_MS: Final = 50


class Caught(AssertionError):
    """The run showed something that must not be."""


class Rates(Protocol):
    """Sizes and rates that every run has. Rates count in a thousand steps."""

    @property
    def steps(self) -> int: ...
    @property
    def offsets_partitions(self) -> int: ...
    @property
    def delay_ms(self) -> int: ...
    @property
    def disk_work(self) -> int: ...
    @property
    def network_faults(self) -> int: ...
    @property
    def disk_full(self) -> int: ...
    @property
    def disk_error(self) -> int: ...
    @property
    def ends(self) -> int: ...
    @property
    def is_cold(self) -> int: ...
    @property
    def segment_index_bytes(self) -> int: ...
    @property
    def load_step_bytes(self) -> int: ...
    @property
    def big_jumps(self) -> int: ...
    @property
    def checkpoint_ms(self) -> int: ...


class Run:
    """One run: ``run`` raises Caught when it shows something wrong."""

    check_every = 1
    """After how many events the invariants are asserted: it takes most of a run's time."""
    drain_rounds = 600
    """In how many rounds every client must have come to its end."""

    def __init__(
        self, seed: int, dice: random.Random, rates: Rates, configs: Mapping[str, str]
    ) -> None:
        self.seed = seed
        self.dice = dice
        self.rates = rates
        self.fs = MemoryFileSystem(seed=seed)
        self.broker = LocalBroker(
            seed=seed,
            fs=self.fs,
            configs={
                "offsets.topic.num.partitions": str(rates.offsets_partitions),
                "log.segment.bytes": str(1024 * 1024),
                "log.index.size.max.bytes": str(rates.segment_index_bytes),
                "log.index.interval.bytes": "0",
                "group.min.session.timeout.ms": "1000",
                "log.flush.offset.checkpoint.interval.ms": str(rates.checkpoint_ms),
                "log.retention.check.interval.ms": "1000",
                **configs,
            },
        )
        self.network = MemoryNetwork(self.broker, seed=seed, delay_ms=(0, rates.delay_ms))
        self.history: list[Event] = []
        self.is_draining = False
        self.restarts = 0
        self.clients: list[Client] = []
        self._topic_ids: dict[str, bytes] = {}
        self._high_watermarks: dict[object, int] = {}
        self._epochs: dict[tuple[str, int], int] = {}

    # -- what clients ask -------------------------------------------------------------------

    def topic_id(self, topic: str) -> bytes:
        return self._topic_ids[topic]

    def anomaly(self, what: str) -> None:
        raise Caught(f"{what} (seed {self.seed}, {self.rates})")

    @property
    def was_full(self) -> bool:
        """The disk was full at some time since the broker's start."""
        return any(event == "disk_full" for event, _ in self.broker.notes)

    # -- what a kind of run brings ----------------------------------------------------------

    def _set_up(self) -> None:
        """Make topics and clients; the broker runs."""
        raise NotImplementedError

    def _judge(self) -> None:
        """Judge what was seen; everything is healed and every client done."""
        raise NotImplementedError

    # -- the run ----------------------------------------------------------------------------

    def run(self) -> None:
        """Raises Caught, or whatever the broker itself raises."""
        step_bytes, coordinator.LOAD_STEP_BYTES = (  # type: ignore[misc]  # a constant, drawn here
            coordinator.LOAD_STEP_BYTES,
            self.rates.load_step_bytes,
        )
        try:
            self.broker.start()
            self._set_up()
            for step in range(self.rates.steps):
                self._step()
                if step % self.check_every == 0 or self.broker.failures:
                    self._check()
            self._drain()
            self._judge()
        except AssertionError as error:
            if isinstance(error, Caught):
                raise
            raise Caught(f"{error!r} (seed {self.seed}, {self.rates})") from error
        finally:
            coordinator.LOAD_STEP_BYTES = step_bytes  # type: ignore[misc]  # a constant, as it was

    def _create_topic(
        self, name: str, *, partitions: int, configs: Mapping[str, str] | None = None
    ) -> None:
        request = requests.create_topic(name, partitions=partitions, configs=configs)
        response = self.broker.connect().ask(request, CreateTopicsResponse, version=7)
        assert response.topics[0].error_code == 0, response.topics[0]
        self._topic_ids[name] = response.topics[0].topic_id

    def _step(self) -> None:
        dice, rates = self.dice, self.rates
        if self.broker.broker is None:
            if dice.randrange(5) == 0:
                self._start()
            else:
                self._move_on()
            return
        for rate, fault in (
            (rates.ends, self._end),
            (rates.network_faults, self._break_network),
            (rates.disk_full, self._fill_disk),
            (rates.disk_error, self._fail_disk),
            (rates.big_jumps, self._jump),
        ):
            if dice.randrange(1000) < rate:
                fault()
                return
        self._move_on()

    def _move_on(self) -> None:
        choice = self.dice.randrange(1000)
        if choice < 300:
            self.dice.choice(self.clients).act()
        elif choice < 300 + self.rates.disk_work:
            if len(self.broker.disk):
                self.broker.disk.step(self.dice.randrange(len(self.broker.disk)))
        elif choice < 900:
            if self.dice.randrange(3) == 0 and self.network.deliver():
                return
            if not self.broker.step(disk=False) and not self.network.deliver():
                self.broker.clock.advance(self.dice.randrange(1, 20))
        else:
            self.network.deliver()

    def _jump(self) -> None:
        self.broker.clock.advance(self.dice.choice((1_000, 5_000, 15_000)))

    # -- faults -----------------------------------------------------------------------------

    def _end(self) -> None:
        how = self.dice.choice(ENDS)
        epochs = _epochs_of(self.broker.running)
        if how == "stop":
            try:
                self.broker.stop()
            except (DiskFull, LogDirectoryFailed):
                self.broker.crash()
            if self.broker.failures:
                self.broker.crash()  # see _check
        elif how == "kill":
            self.broker.kill()
        else:
            self.broker.crash()
        # After a clean stop epochs stay, and one that failed may have left its marker all the
        # same; otherwise each must rise, for its log may have shrunk.
        self._epochs = epochs if how != "stop" else {}
        self._heal_disk()

    def _start(self) -> None:
        self._heal_disk()
        self.broker.notes.clear()
        self.broker.start()
        self.fs.is_cold = bool(self.rates.is_cold)
        self.restarts += 1
        self._high_watermarks.clear()
        for hosted in self.broker.running.partitions:
            before = self._epochs.get((hosted.topic, hosted.index))
            if before is not None and hosted.replica.leader_epoch <= before:
                self.anomaly(f"{hosted} leads in epoch {before} again after an unclean end")

    def _break_network(self) -> None:
        lines = list(self.network.lines.values())
        if not lines:
            return
        line = self.dice.choice(lines)
        match self.dice.randrange(4):
            case 0:
                line.reset()
            case 1:
                line.stall(self.dice.choice(list(Direction)))
            case _:
                for direction in Direction:
                    line.resume(direction)

    def _fill_disk(self) -> None:
        if self.fs.capacity_bytes is None:
            self.fs.capacity_bytes = self.fs.used_bytes + self.dice.randrange(1000)
        else:
            self.fs.capacity_bytes = None

    def _fail_disk(self) -> None:
        self.fs.fail_after(self.dice.randrange(4), errno.EIO)

    def _heal_disk(self) -> None:
        self.fs.capacity_bytes = None
        self.fs.fail_after(1 << 60)
        self.broker.failures.clear()

    # -- judging ----------------------------------------------------------------------------

    def _check(self) -> None:
        """What holds after every event."""
        broker = self.broker.broker
        if broker is None:
            return
        if self.broker.failures:
            # A node without its only directory ends. What the page cache holds after a failed
            # sync looks like the file and is not on the disk: its machine starts anew with it.
            self._epochs = _epochs_of(broker)
            self.broker.crash()
            return
        self.broker.check()
        for hosted in broker.partitions:
            self._check_hosted(hosted)
        missing = [
            (topic.name, index)
            for topic, index in broker.image.hosted_by(1)
            if broker.partitions.by_name(topic.name, index) is None
        ]
        if missing and not self._found_no_space():
            self.anomaly(f"{missing} are nobody's")
        if broker.stats.unhandled:
            self.anomaly(f"a request met a fault of the broker: {self.broker.notes[-1]}")

    def _found_no_space(self) -> bool:
        return any(event == "partition_not_created" for event, _ in self.broker.notes)

    def _check_hosted(self, hosted: Hosted) -> None:
        known = self._high_watermarks.get(hosted, 0)
        if hosted.high_watermark < known:
            self.anomaly(f"the high watermark of {hosted} fell from {known}")
        self._high_watermarks[hosted] = hosted.high_watermark
        if hosted.offline_reason is None:
            last_stable_offset = hosted.last_stable_offset
            if not hosted.log.log_start_offset <= last_stable_offset <= hosted.high_watermark:
                self.anomaly(f"{hosted} is stable up to {last_stable_offset}")

    def _drain(self) -> None:
        """Heal everything and let every client come to its end."""
        self.is_draining = True
        self._heal_disk()
        self.network.delay_ms = (0, 1)
        if self.broker.broker is None:
            self._start()
        for line in list(self.network.lines.values()):
            for direction in Direction:
                line.resume(direction)
        for _ in range(self.drain_rounds):
            for client in self.clients:
                client.act()
            self.network.advance(DRAIN_ROUND_MS)
            self._check()
            if all(client.is_done for client in self.clients):
                return
        busy = [client for client in self.clients if not client.is_done]
        self.anomaly(f"with everything healed, {busy} do not come to an end")

    def _restart_all_ways(self) -> None:
        """What clients were told must outlive the ends that the dice did not choose."""
        for end in (self.broker.crash, self.broker.stop):
            self._epochs = {}
            end()
            self._start()
            self.broker.settle()
            self._check()
            self._after_restart()

    def _after_restart(self) -> None:
        """Let clients look at what a restart at the end of the run left."""
        for client in self.clients:
            client.act()
        self.network.advance(200)


def _epochs_of(broker: Broker) -> dict[tuple[str, int], int]:
    return {
        (hosted.topic, hosted.index): hosted.replica.leader_epoch for hosted in broker.partitions
    }


def first_caught(run: Callable[[int], None], seeds: range) -> tuple[int, BaseException] | None:
    """The first seed at which *run* shows something wrong, with what it shows."""
    for seed in seeds:
        try:
            run(seed)
        except Exception as error:  # noqa: BLE001 - a broken broker may break in any way
            return seed, error
    return None
