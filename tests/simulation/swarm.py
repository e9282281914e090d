"""A whole broker among random clients, over a faulty network and disk, crashed and restarted.

Everything follows from the seed, the sizes and rates of a run too: a fault that no fixed setting
meets is met by one of many ("swarm testing"). After every event the parts' own invariants are
asserted, and the few things this book knows: what was acknowledged is there. After the run the
network heals, every client finishes, a fresh reader reads everything, and the history is judged.

``Swarm(seed).run()`` raises Caught when something is wrong.
"""

import errno
import random
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Final, Self

from headwater.core_log.broker import groups as groups_runtime
from headwater.core_log.broker.broker import Broker
from headwater.core_log.broker.partitions import Hosted
from headwater.core_log.protocol.messages.create_topics import CreateTopicsResponse
from headwater.core_log.protocol.messages.fetch import FetchResponse
from headwater.core_log.storage.errors import DiskFull, LogDirectoryFailed
from headwater.core_log.testing import requests
from headwater.core_log.testing.history import Acked, Event, Poll, check
from headwater.core_log.testing.local_broker import LocalBroker
from headwater.core_log.testing.memory_fs import MemoryFileSystem
from headwater.core_log.testing.network import Direction, MemoryNetwork

from .clients import (
    MAIN,
    TRIMMED,
    Admin,
    Client,
    Committer,
    Member,
    Producer,
    Reader,
    Trimmer,
)

ALL: Final = "all"
SCENARIOS: Final[dict[str, dict[str, int]]] = {
    ALL: {},
    "groups": {
        "idempotent_producers": 0, "plain_producers": 0, "careless_producers": 0, "readers": 0,
        "committers": 4, "delay_ms": 0, "load_step_bytes": 1, "offsets_partitions": 1,
        "disk_full": 30, "ends": 15, "big_jumps": 2,
    },
    "producers": {"members": 0, "committers": 0, "idempotent_producers": 3, "readers": 2},
    "trims": {
        "idempotent_producers": 0, "plain_producers": 0, "careless_producers": 0, "readers": 0,
        "members": 0, "committers": 0, "delay_ms": 0, "checkpoint_ms": 50, "disk_work": 50,
        "network_faults": 0, "big_jumps": 0,
    },
    "disk": {"network_faults": 0, "disk_full": 20, "disk_error": 5, "delay_ms": 0},
    "network": {"network_faults": 40, "disk_full": 0, "disk_error": 0, "delay_ms": 100},
}  # fmt: skip
"""Which numbers a scenario fixes; the others are drawn."""
ENDS: Final = ("crash", "kill", "stop")
DRAIN_ROUNDS_MAX: Final = 600


class Caught(AssertionError):
    """The run showed something that must not be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tunables:
    """Sizes and rates of one run. Rates count in a thousand steps."""

    steps: int
    idempotent_producers: int
    plain_producers: int
    careless_producers: int
    """With acks=1: what they send may be lost, and may not hurt the others."""
    readers: int
    members: int
    committers: int
    partitions: int
    offsets_partitions: int
    delay_ms: int
    disk_work: int
    network_faults: int
    disk_full: int
    disk_error: int
    ends: int
    is_cold: int
    segment_index_bytes: int
    load_step_bytes: int
    big_jumps: int
    checkpoint_ms: int

    @classmethod
    def draw(cls, dice: random.Random, steps: int, scenario: str = ALL) -> Self:
        """The numbers of one run."""
        drawn = cls(
            steps=steps,
            idempotent_producers=dice.randrange(1, 4),
            plain_producers=dice.randrange(2),
            careless_producers=dice.randrange(2),
            readers=dice.randrange(1, 3),
            members=dice.choice((0, 2, 3)),
            committers=dice.randrange(1, 3),
            partitions=dice.randrange(1, 4),
            offsets_partitions=dice.randrange(1, 3),
            delay_ms=dice.choice((0, 5, 100)),
            disk_work=dice.choice((50, 200, 500)),
            network_faults=dice.choice((0, 5, 20)),
            disk_full=dice.choice((0, 0, 5, 20)),
            disk_error=dice.choice((0, 0, 3)),
            ends=dice.choice((2, 5, 15)),
            is_cold=dice.randrange(2),
            segment_index_bytes=dice.choice((8, 16, 10_000)),
            load_step_bytes=dice.choice((1, 200, 1_000_000)),
            big_jumps=dice.choice((0, 2, 10)),
            checkpoint_ms=dice.choice((50, 1_000, 60_000)),
        )
        return replace(drawn, **SCENARIOS[scenario])

    def __str__(self) -> str:
        return " ".join(f"{entry.name}={getattr(self, entry.name)}" for entry in fields(self))


class Swarm:
    """One run."""

    def __init__(self, seed: int, *, steps: int = 800, scenario: str = ALL) -> None:
        self.seed = seed
        self.dice = random.Random(seed)
        self.tunables = tunables = Tunables.draw(self.dice, steps, scenario)
        self.fs = MemoryFileSystem(seed=seed)
        self.broker = LocalBroker(
            seed=seed,
            fs=self.fs,
            configs={
                "offsets.topic.num.partitions": str(tunables.offsets_partitions),
                "log.segment.bytes": str(1024 * 1024),
                "log.index.size.max.bytes": str(tunables.segment_index_bytes),
                "log.index.interval.bytes": "0",
                "group.min.session.timeout.ms": "1000",
                "log.flush.offset.checkpoint.interval.ms": str(tunables.checkpoint_ms),
                "log.retention.check.interval.ms": "1000",
            },
        )
        self.network = MemoryNetwork(self.broker, seed=seed, delay_ms=(0, tunables.delay_ms))
        self.history: list[Event] = []
        self.partition_count = tunables.partitions
        self.committed: dict[tuple[str, int], int] = {}
        self.owners: dict[tuple[str, int, int], str] = {}
        self.producer_ids: set[int] = set()
        self.topics: dict[str, bool | None] = {}
        """What Admin was told: there, gone, or it does not know."""
        self.trimmed_below = 0
        self.trimmed_end = 0
        self.is_draining = False
        self.restarts = 0
        self._topic_ids: dict[str, bytes] = {}
        self._acked_ends: dict[int, int] = {}
        self._history_seen = 0
        self._high_watermarks: dict[object, int] = {}
        self._epochs: dict[tuple[str, int], int] = {}
        self.clients: list[Client] = []

    # -- what clients ask -------------------------------------------------------------------

    def topic_id(self, topic: str) -> bytes:
        return self._topic_ids[topic]

    def anomaly(self, what: str) -> None:
        raise Caught(f"{what} (seed {self.seed}, {self.tunables})")

    @property
    def was_full(self) -> bool:
        """The disk was full at some time since the broker's start."""
        return any(event == "disk_full" for event, _ in self.broker.notes)

    # -- the run ----------------------------------------------------------------------------

    def run(self) -> None:
        """Raises Caught, or whatever the broker itself raises."""
        step_bytes, groups_runtime.LOAD_STEP_BYTES = (  # type: ignore[misc]  # a constant, drawn here
            groups_runtime.LOAD_STEP_BYTES,
            self.tunables.load_step_bytes,
        )
        try:
            self._set_up()
            for _ in range(self.tunables.steps):
                self._step()
                self._check()
            self._drain()
            self._judge()
        except AssertionError as error:
            if isinstance(error, Caught):
                raise
            raise Caught(f"{error!r} (seed {self.seed}, {self.tunables})") from error
        finally:
            groups_runtime.LOAD_STEP_BYTES = step_bytes  # type: ignore[misc]  # a constant, as it was

    def _set_up(self) -> None:
        self.broker.start()
        client = self.broker.connect()
        for topic, count in ((MAIN, self.partition_count), (TRIMMED, 1)):
            request = requests.create_topic(topic, partitions=count)
            response = client.ask(request, CreateTopicsResponse, version=7)
            self._topic_ids[topic] = response.topics[0].topic_id
            self.topics[topic] = True
        del self.topics[MAIN], self.topics[TRIMMED]  # which Admin may not delete
        tunables = self.tunables
        self.clients = [
            *(
                Producer(self, f"idempotent-{n}", is_idempotent=True)
                for n in range(tunables.idempotent_producers)
            ),
            *(
                Producer(self, f"plain-{n}", is_idempotent=False)
                for n in range(tunables.plain_producers)
            ),
            *(
                Producer(self, f"careless-{n}", is_idempotent=False, acks=1)
                for n in range(tunables.careless_producers)
            ),
            *(Reader(self, f"reader-{n}") for n in range(tunables.readers)),
            *(Member(self, f"member-{n}", "group") for n in range(tunables.members)),
            *(Committer(self, f"committer-{n}") for n in range(tunables.committers)),
            Trimmer(self, "trimmer-0"),
            Trimmer(self, "trimmer-1"),
            Admin(self, "admin", partitions_max=tunables.partitions + 2),
        ]

    def _step(self) -> None:
        dice, tunables = self.dice, self.tunables
        if self.broker.broker is None:
            if dice.randrange(5) == 0:
                self._start()
            else:
                self._move_on()
            return
        for rate, fault in (
            (tunables.ends, self._end),
            (tunables.network_faults, self._break_network),
            (tunables.disk_full, self._fill_disk),
            (tunables.disk_error, self._fail_disk),
            (tunables.big_jumps, self._jump),
        ):
            if dice.randrange(1000) < rate:
                fault()
                return
        self._move_on()

    def _move_on(self) -> None:
        choice = self.dice.randrange(1000)
        if choice < 300:
            self.dice.choice(self.clients).act()
        elif choice < 300 + self.tunables.disk_work:
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
        self.fs.is_cold = bool(self.tunables.is_cold)
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
        self._note_acknowledged()
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
        for topic, exists in self.topics.items():
            if exists is not None and (topic in broker.image.topics) is not exists:
                self.anomaly(f"topic {topic} was {'created' if exists else 'deleted'}, and is not")
        if broker.stats.unhandled:
            self.anomaly(f"a request met a fault of the broker: {self.broker.notes[-1]}")

    def _found_no_space(self) -> bool:
        return any(event == "partition_not_created" for event, _ in self.broker.notes)

    def _check_hosted(self, hosted: Hosted) -> None:
        known = self._high_watermarks.get(hosted, 0)
        if hosted.high_watermark < known:
            self.anomaly(f"the high watermark of {hosted} fell from {known}")
        self._high_watermarks[hosted] = hosted.high_watermark
        if hosted.topic == MAIN:
            acked_end = self._acked_ends.get(hosted.index, 0)
        else:
            acked_end = self.trimmed_end if hosted.topic == TRIMMED else 0
        if hosted.high_watermark < acked_end:
            self.anomaly(f"{hosted} lacks acknowledged offset {acked_end - 1}")
        if hosted.topic == TRIMMED and hosted.log.log_start_offset < self.trimmed_below:
            self.anomaly(f"{hosted} has records again below {self.trimmed_below}")

    def _note_acknowledged(self) -> None:
        for event in self.history[self._history_seen :]:
            if isinstance(event, Acked) and event.offset is not None:
                end_offset = max(self._acked_ends.get(event.partition, 0), event.offset + 1)
                self._acked_ends[event.partition] = end_offset
        self._history_seen = len(self.history)

    def _drain(self) -> None:
        """Heal everything and let every client come to its end."""
        self.is_draining = True
        self._heal_disk()
        if self.broker.broker is None:
            self._start()
        for line in list(self.network.lines.values()):
            for direction in Direction:
                line.resume(direction)
        for _ in range(DRAIN_ROUNDS_MAX):
            for client in self.clients:
                client.act()
            self.network.advance(50)
            self._check()
            if all(client.is_done for client in self.clients):
                return
        busy = [client for client in self.clients if not client.is_done]
        self.anomaly(f"with everything healed, {busy} do not come to an end")

    def _judge(self) -> None:
        self._restart_all_ways()
        self._read_everything()
        anomalies = check(self.history, caught_up=True, dense=True)
        if anomalies:
            self.anomaly("; ".join(map(str, anomalies[:3])))

    def _restart_all_ways(self) -> None:
        """What clients were told must outlive the ends that the dice did not choose."""
        for end in (self.broker.crash, self.broker.stop):
            self._epochs = {}
            end()
            self._start()
            self.broker.settle()
            self._check()
            self._look_up_commits()

    def _look_up_commits(self) -> None:
        for client in self.clients:
            client.act()
        self.network.advance(200)

    def _read_everything(self) -> None:
        client = self.broker.connect()
        for index in range(self.partition_count):
            position = 0
            while True:
                request = requests.fetch(MAIN, self.topic_id(MAIN), {index: position})
                response = client.ask(request, FetchResponse, version=17)
                data = response.responses[0].partitions[0]
                records = [
                    (MAIN, index, record.offset, (record.value or b"").decode())
                    for record in requests.records_of(data.records)
                    if record.offset >= position
                ]
                if not records:
                    break
                position = records[-1][2] + 1
                self.history.append(Poll(process="last", records=tuple(records), subscribed=False))


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
