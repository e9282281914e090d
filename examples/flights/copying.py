"""The demo's second half: a copy by aircraft with exactly-once, two crashes, then compaction.

A shell. The copier is killed inside an open transaction, then copier and broker together. At the
end every flight has been copied once, and compaction leaves the latest flight of each aircraft.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

import msgspec
import pandas as pd
from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # exported without saying so
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
)
from confluent_kafka.cimpl import NewTopic

from . import dataset
from .aircraft import Copies, copy_mismatches, report, survivor_mismatches
from .dataset import Flight
from .reading import open_records, place, read
from .story import DEADLINE_SECONDS, DemoFailed, Story
from .worker import WorkerProcess

PARTITION_COUNT: Final = 3
ONE_SEGMENT: Final = {"segment.ms": str(100 * 365 * 86_400_000)}
"""A segment is closed when a record comes that is a week younger than its first. The records' time
runs through a year: with one open segment nothing is compacted before everything is counted."""
CRASHES: Final = (1 / 3, 2 / 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Where the copy happens. *restart_broker* kills it and starts it again; None: not ours."""

    bootstrap: str
    source: str
    directory: Path
    data_directory: Path | None
    restart_broker: Callable[[], float] | None

    @property
    def by_aircraft(self) -> str:
        return f"{self.source}-by-aircraft"

    @property
    def without_aircraft(self) -> str:
        return f"{self.source}-without-aircraft"

    @property
    def targets(self) -> tuple[str, str]:
        return self.by_aircraft, self.without_aircraft


@dataclass(slots=True)
class Counted:
    """What lies in one target partition after the copy."""

    latest: dict[str, int] = field(default_factory=dict)
    """The offset of each aircraft's last record."""
    last: Message | None = None


def copy_by_aircraft(stage: Stage, frame: pd.DataFrame, say: Story) -> list[str]:
    """Copy, crash, count, compact, compare; what is wrong, one sentence each.

    Raises DemoFailed when a step comes to no end.
    """
    _create_topics(stage)
    say(f"copying to {stage.by_aircraft!r}, compacted: at last, the latest flight per aircraft")
    _copy(stage, len(frame), say)
    copies, counted = _count(stage, say)
    wrong = copy_mismatches(copies, flight_count=len(frame))
    survivors = _compact(stage, counted, say)
    expected = dataset.expected_latest(frame)
    wrong += survivor_mismatches(survivors, expected)
    say.lines(report(copies, survivor_count=len(survivors), aircraft_count=len(expected)))
    if not wrong:
        say("each flight was copied once; the survivors are pandas' last flight per aircraft")
    return wrong


def _create_topics(stage: Stage) -> None:
    admin = AdminClient({"bootstrap.servers": stage.bootstrap})
    compacted = {"cleanup.policy": "compact", **ONE_SEGMENT}
    topics = [
        NewTopic(stage.by_aircraft, num_partitions=PARTITION_COUNT, config=compacted),
        NewTopic(stage.without_aircraft, num_partitions=1, config={"retention.ms": "-1"}),
    ]
    for future in admin.create_topics(topics).values():
        future.result(30)


def _copy(stage: Stage, flight_count: int, say: Story) -> None:
    copier = _Copier(stage)
    try:
        for share in CRASHES:
            copier.wait_for(int(flight_count * share), say)
            open_count = copier.kill_inside_a_transaction()
            if not open_count:
                say("the copy came to its end before it could be interrupted")
                return
            say(
                f"copier killed (SIGKILL) after {copier.copied:,} flights; no reader of committed "
                f"records sees the {open_count:,} of its open transaction"
            )
            if share == CRASHES[-1] and stage.restart_broker is not None:
                seconds = stage.restart_broker()
                say(f"broker killed (SIGKILL) too, and ready again after {seconds:.2f} s")
            copier.start()
        copier.wait_for(flight_count, say)
    finally:
        copier.close()


@final
class _Copier:
    """The copying process and its successors."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.copied = 0
        self.start()

    def start(self) -> None:
        stage = self._stage
        arguments = (stage.bootstrap, stage.source, stage.by_aircraft, stage.without_aircraft)
        self._process = WorkerProcess("copier", arguments, stage.directory / "copier.log")

    def wait_for(self, flights: int, say: Story) -> None:
        """Until so many are committed. Raises DemoFailed."""
        say.wait(
            f"{flights:,} flights to be copied",
            lambda: self._look() >= flights,
            lambda: f"{self.copied:,} flights copied",
            self._obstacle,
        )

    def kill_inside_a_transaction(self) -> int:
        """End it while records of a transaction lie in the log; how many. 0: it was done before.

        Raises DemoFailed.
        """
        while True:
            reports = self._process.reports
            reports.pop("open", None)
            while "open" not in reports and self._process.is_running:
                self._process.has_reported.clear()
                self._process.has_reported.wait(1.0)
            if reason := self._obstacle():
                raise DemoFailed(f"waiting for the copier to open a transaction, {reason}")
            self._process.kill()
            self._look()
            count = open_records(self._stage.bootstrap, self._stage.targets)
            if count or self._process.code == 0:
                return count
            self.start()  # it had committed before the signal came: the next one, then

    def close(self) -> None:
        self._process.kill()

    def _look(self) -> int:
        self.copied = max(self.copied, int(self._process.reports.get("copied", 0)))
        return self.copied

    def _obstacle(self) -> str | None:
        code = self._process.code
        return None if code in {None, 0} else f"it ended with {code}: see {self._process.log}"


def _count(stage: Stage, say: Story) -> tuple[Copies, dict[int, Counted]]:
    """Everything a fresh reader of committed records is shown."""
    copies, counted = Copies(), defaultdict[int, Counted](Counted)
    decode = msgspec.json.Decoder(Flight).decode
    for message in read(stage.bootstrap, stage.by_aircraft):
        partition, offset = place(message)
        flight = decode(message.value() or b"")
        copies.add(flight)
        assert flight.tailnum is not None, "the copier has put the others elsewhere"
        counted[partition].latest[flight.tailnum] = offset
        counted[partition].last = message
    for message in read(stage.bootstrap, stage.without_aircraft):
        copies.add(decode(message.value() or b""))
    say(f"{len(copies.rows):,} distinct flights in the copy, {copies.doubled} twice")
    return copies, dict(counted)


def _compact(stage: Stage, counted: dict[int, Counted], say: Story) -> list[Flight]:
    """Have the topic compacted; the records left, but for those in segments still open."""
    before = _megabytes(stage)
    open_since = _close_segments(stage, counted)
    aircraft_count = sum(len(partition.latest) for partition in counted.values())
    first_left = {index: min(partition.latest.values()) for index, partition in counted.items()}
    say.wait(
        "the broker to compact the copy",
        lambda: _first_offsets(stage, set(counted)) == first_left,
        lambda: "waiting for compaction",
    )
    decode = msgspec.json.Decoder(Flight).decode
    survivors: list[Flight] = []

    def is_compacted() -> bool:
        survivors.clear()
        for message in read(stage.bootstrap, stage.by_aircraft):
            partition, offset = place(message)
            if offset < open_since[partition]:
                survivors.append(decode(message.value() or b""))
        return len(survivors) <= aircraft_count

    say.wait("compaction to end", is_compacted, lambda: f"{len(survivors):,} records are left")
    after = _megabytes(stage)
    on_disk = "" if before is None else f": {before:.1f} MB on disk became {after:.1f} MB"
    say(f"compacted{on_disk}")
    return survivors


def _close_segments(stage: Stage, counted: dict[int, Counted]) -> dict[int, int]:
    """Write each partition's last record once more, into a new segment.

    Only closed segments are compacted. Returns the offsets of the new ones by partition.
    """
    admin = AdminClient({"bootstrap.servers": stage.bootstrap})
    entry = ConfigEntry("segment.ms", "1", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, stage.by_aircraft, None, None)
    resource.add_incremental_config(entry)
    for future in admin.incremental_alter_configs([resource]).values():
        future.result(30)
    open_since: dict[int, int] = {}

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is None:
            partition, offset = place(message)
            open_since[partition] = offset

    producer = Producer({"bootstrap.servers": stage.bootstrap, "enable.idempotence": True})
    for index, partition in counted.items():
        last = partition.last
        assert last is not None, "a counted partition has a last record"
        producer.produce(
            *(stage.by_aircraft, last.value(), last.key()),
            partition=index,
            timestamp=last.timestamp()[1] + 2,
            on_delivery=delivered,
        )
    producer.flush(DEADLINE_SECONDS)
    if open_since.keys() != counted.keys():
        raise DemoFailed(f"{stage.by_aircraft} does not take another record in each partition")
    return open_since


def _first_offsets(stage: Stage, partitions: set[int]) -> dict[int, int]:
    """The offset of the first record in each of these partitions of the compacted topic."""
    found: dict[int, int] = {}
    for message in read(stage.bootstrap, stage.by_aircraft):
        partition, offset = place(message)
        found.setdefault(partition, offset)
        if found.keys() == partitions:
            break
    return found


def _megabytes(stage: Stage) -> float | None:
    """What the compacted topic has on disk; None where the disk is not ours."""
    if stage.data_directory is None:
        return None
    segments = stage.data_directory.glob(f"{stage.by_aircraft}-*/*.log")
    return sum(segment.stat().st_size for segment in segments) / 1e6
