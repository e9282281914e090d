"""Compacted logs change hands: Kafka opens what we compacted, we open what Kafka did.

Each owner compacts what it finds, the aborted records and the gaps of the other included, and
leaves the same newest value of every key, at the same offsets.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .client import Client, Record
from .data import noise
from .target import TARGET_NAME, Target, headwater_server, kafka_server
from .toolchain import needed, python_driver
from .waiting import eventually

pytestmark = pytest.mark.jvm

TOPIC = "compacted"
SEGMENT_BYTES = 1_048_576
"""The smallest segment.bytes that Kafka 4 accepts."""
CONFIGS = {
    "cleanup.policy": "compact",
    "segment.bytes": str(SEGMENT_BYTES),
    "min.cleanable.dirty.ratio": "0.01",
}
SETTINGS = {
    "log.cleaner.backoff.ms": "300",
    "log.flush.offset.checkpoint.interval.ms": "500",
}
OWNERS: dict[str, Callable[..., Target]] = {"kafka": kafka_server, "headwater": headwater_server}
PAIRS = (
    [("kafka", "kafka")]
    if TARGET_NAME == "kafka"
    else [("kafka", "headwater"), ("headwater", "kafka")]
)


@pytest.mark.parametrize("end", ["stopped", "killed"])
@pytest.mark.parametrize("pair", PAIRS, ids="-then-".join)
def test_a_compacted_log_changes_hands_and_comes_back(
    pair: tuple[str, str], end: str, tmp_path: Path
) -> None:
    first, second = pair
    story = _Story(tmp_path)
    with _serving(first, tmp_path, end) as client:
        client.create_topic(TOPIC, configs=CONFIGS)
        story.go_on(client)
    for owner in (second, first):
        with _serving(owner, tmp_path, end) as client:
            story.check(client)
            story.go_on(client)


class _Story:
    """What was sent, and what the newest value of every key is."""

    def __init__(self, directory: Path) -> None:
        self._checkpoint = directory / "data" / "cleaner-offset-checkpoint"
        self._latest: dict[bytes, bytes | None] = {}
        self._seen: dict[int, bytes | None] = {}
        self._chapter = 0

    def go_on(self, client: Client) -> None:
        """Another chapter: committed and aborted records, tombstones, and a pass over them."""
        self._chapter += 1
        before = self._clean_until()
        with client.transactor("writer") as writer:
            for turn in range(4):
                sent = [self._record(turn, number) for number in range(8)]
                writer.begin()
                writer.send(TOPIC, sent)
                if turn % 2:
                    writer.abort()
                else:
                    writer.commit()
                    self._latest |= {each.key: each.value for each in sent if each.key}
        plain = [self._record(9, number) for number in range(25)]
        client.produce(TOPIC, plain)
        self._latest |= {each.key: each.value for each in plain if each.key}
        eventually(self._clean_until, lambda offset: offset > before, timeout_seconds=60)
        self.check(client)
        assert len(self._seen) < client.offsets(TOPIC).end, "nothing was compacted"

    def check(self, client: Client) -> None:
        """Committed readers see the newest values, and at an offset what was there before."""
        end = client.offsets(TOPIC).end
        found: dict[int, Record] = {}
        position = 0
        while position < end:
            batch = client.fetch(
                TOPIC,
                start_offset=position,
                count=end - position,
                timeout_ms=3_000,
                isolation="read_committed",
            )
            if not batch:
                break
            for each in batch:
                assert each.offset is not None
                found[each.offset] = each
                position = each.offset + 1
        latest = {each.key: each.value for _, each in sorted(found.items())}
        assert latest == self._latest
        values = {offset: each.value for offset, each in found.items()}
        common = values.keys() & self._seen.keys()
        assert {offset: values[offset] for offset in common} == {
            offset: self._seen[offset] for offset in common
        }
        self._seen = values

    def _record(self, turn: int, number: int) -> Record:
        """Large ones, so that few fill a segment; one in ten a tombstone."""
        text = f"{self._chapter} {turn} {number}"
        value = None if number % 10 == 7 else text.encode() + noise(text, 90_000)
        return Record(key=f"key-{number % 5}".encode(), value=value, partition=0)

    def _clean_until(self) -> int:
        try:
            lines = self._checkpoint.read_text().splitlines()[2:]
        except FileNotFoundError:
            return 0
        return max((int(line.split()[2]) for line in lines if line.split()[0] == TOPIC), default=0)


@contextmanager
def _serving(owner: str, directory: Path, end: str) -> Iterator[Client]:
    """The owner serves the directory; a client of it; then the owner ends as told."""
    system = OWNERS[owner](directory, settings=SETTINGS)
    needed(system.start)
    try:
        with Client("client", [*python_driver("confluent"), system.bootstrap]) as client:
            yield client
        if end == "stopped":
            system.stop()
    finally:
        system.kill()
