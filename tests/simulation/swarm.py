"""A whole broker among random clients, over a faulty network and disk, crashed and restarted.

Everything follows from the seed, the sizes and rates of a run too: a fault that no fixed setting
meets is met by one of many ("swarm testing"). After every event the parts' own invariants are
asserted, and the few things this book knows: what was acknowledged is there. After the run the
network heals, every client finishes, a fresh reader reads everything, and the history is judged.

``Swarm(seed).run()`` raises Caught when something is wrong.
"""

import random
from dataclasses import dataclass, fields, replace
from typing import Final, Self

from headwater.core_log.broker.partitions import Hosted
from headwater.core_log.protocol.messages.fetch import FetchResponse
from headwater.core_log.testing import requests
from headwater.core_log.testing.history import Acked, Poll, check

from .clients import (
    MAIN,
    TRIMMED,
    Admin,
    Committer,
    Member,
    Producer,
    Reader,
    Trimmer,
)
from .run import Run

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


class Swarm(Run):
    """One run."""

    def __init__(self, seed: int, *, steps: int = 800, scenario: str = ALL) -> None:
        dice = random.Random(seed)
        self.tunables = tunables = Tunables.draw(dice, steps, scenario)
        super().__init__(seed, dice, tunables, {})
        self.partition_count = tunables.partitions
        self.committed: dict[tuple[str, int], int] = {}
        self.owners: dict[tuple[str, int, int], str] = {}
        self.producer_ids: set[int] = set()
        self.topics: dict[str, bool | None] = {}
        """What Admin was told: there, gone, or it does not know."""
        self.trimmed_below = 0
        self.trimmed_end = 0
        self._acked_ends: dict[int, int] = {}
        self._history_seen = 0

    def _set_up(self) -> None:
        self._create_topic(MAIN, partitions=self.partition_count)
        self._create_topic(TRIMMED, partitions=1)
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

    def _check(self) -> None:
        self._note_acknowledged()
        super()._check()
        broker = self.broker.broker
        if broker is None:
            return
        for topic, exists in self.topics.items():
            if exists is not None and (topic in broker.image.topics) is not exists:
                self.anomaly(f"topic {topic} was {'created' if exists else 'deleted'}, and is not")

    def _check_hosted(self, hosted: Hosted) -> None:
        super()._check_hosted(hosted)
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

    def _judge(self) -> None:
        self._restart_all_ways()
        self._read_everything()
        anomalies = check(self.history, caught_up=True, dense=True)
        if anomalies:
            self.anomaly("; ".join(map(str, anomalies[:3])))

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
