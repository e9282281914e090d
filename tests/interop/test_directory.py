"""Directories change hands: what Apache Kafka wrote we open and serve, and Kafka opens ours.

The story is told three times per pair of owners: the first writes, the second serves and adds, the
first takes the directory back. With ``HEADWATER_INTEROP_TARGET=kafka`` both owners are Kafka.
"""

from pathlib import Path

import pytest

from .client import Client, Codec, Record
from .data import noise, records
from .directories import Owner, serving
from .toolchain import jvm_driver, needed
from .waiting import eventually

pytestmark = pytest.mark.jvm

CODECS: tuple[Codec, ...] = ("none", "gzip", "snappy", "lz4", "zstd")
SEGMENT_BYTES = 1_048_576
"""The smallest segment.bytes that Kafka 4 accepts."""

DESCRIBE_PRODUCERS = "org.apache.kafka.tools.TransactionsCommand"
DECODERS = {
    "__cluster_metadata": "cluster-metadata",
    "__consumer_offsets": "offsets",
    "__transaction_state": "transaction-log",
}
DUMP_LOG = "org.apache.kafka.tools.DumpLogSegments"


@pytest.mark.parametrize("end", ["stopped", "killed"])
def test_a_directory_changes_hands_and_comes_back(
    owners: tuple[Owner, Owner], end: str, tmp_path: Path
) -> None:
    """Topics, configs, records, offsets and groups are the same to the next owner, which goes on
    where the last stopped; after a kill as well, for whatever was acknowledged."""
    first, second = owners
    with serving(first, tmp_path, end) as client:
        story = _Story(client, end=end)
        story.begin()
        story.check(client)
    for owner in (second, first):
        with serving(owner, tmp_path, end) as client:
            story.check(client)
            story.go_on(client)
            story.check(client)


def test_producer_state_survives_a_change_of_hands(
    owners: tuple[Owner, Owner], tmp_path: Path
) -> None:
    """The last sequence of an idempotent producer is known to the next owner."""
    first, second = owners
    with serving(first, tmp_path, "stopped", needed(jvm_driver)) as client:
        client.create_topic("idempotent")
        client.produce("idempotent", records("sequences", 30, partition=0), idempotent=True)
        described = _producers(client)
        assert described
    with serving(second, tmp_path, "stopped", needed(jvm_driver)) as client:
        assert _producers(client) == described
        client.produce("idempotent", records("another", 5, partition=0), idempotent=True)
        later = _producers(client)
        assert set(described) < set(later), "the new producer got a producer id of the old one"
        assert client.fetch("idempotent", count=35)[30].offset == 30


def test_kafka_dump_log_accepts_every_file_of_a_directory(
    owners: tuple[Owner, Owner], tmp_path: Path
) -> None:
    """Segments, indexes, producer snapshots and the logs of metadata, groups and transactions,
    after a clean stop."""
    first, _ = owners
    with serving(first, tmp_path, "stopped") as client:
        story = _Story(client, end="stopped")
        story.begin()
        client.produce("codec-none", records("snapshot", 5, partition=0), idempotent=True)
        with client.transactor("dumped") as transactor:
            transactor.begin()
            transactor.send("transactional", records("aborted", 5, partition=0))
            transactor.send_position("dumped", "transactional", 0, 5)
            transactor.abort()
    with Client("java", [*needed(jvm_driver), "127.0.0.1:1"]) as java:
        for suffix, option in [
            ("log", "--deep-iteration"),
            ("index", "--verify-index-only"),
            ("timeindex", "--verify-index-only"),
            ("snapshot", "--deep-iteration"),
            ("txnindex", "--deep-iteration"),
        ]:
            for file in sorted((tmp_path / "data").rglob(f"*.{suffix}")):
                if suffix.endswith("index") and file.with_suffix(".log").stat().st_size == 0:
                    continue  # the tool falls over an index of nothing
                decoder = [
                    f"--{kind}-decoder" for name, kind in DECODERS.items() if name in str(file)
                ]
                arguments = ["--files", str(file), option, *decoder]
                ran = java.call("tool", name=DUMP_LOG, arguments=arguments)
                assert ran["status"] == 0, f"{file}: {ran}"
                assert "isvalid: false" not in ran["output"], file
                assert _complaints(ran["errors"]) == [], file


class _Story:
    """What was written, and what must be found by whoever serves the directory."""

    def __init__(self, client: Client, *, end: str) -> None:
        self._client = client
        self._end = end
        self._chapter = 0
        self._sent: dict[str, list[Record]] = {}
        self._latest: dict[bytes, bytes | None] = {}
        self._committed = 0

    def begin(self) -> None:
        client = self._client
        for codec in CODECS:
            client.create_topic(f"codec-{codec}")
            self._sent[f"codec-{codec}"] = []
        client.create_topic("stamped", configs={"message.timestamp.type": "LogAppendTime"})
        client.create_topic("rolled", configs={"segment.bytes": str(SEGMENT_BYTES)})
        client.create_topic("trimmed", partitions=3, configs={"retention.ms": "-1"})
        client.create_topic("compacted", configs={"cleanup.policy": "compact"})
        client.create_topic("deleted")
        client.delete_topic("deleted")
        self._sent |= {"stamped": [], "rolled": [], "trimmed": []}
        self.go_on(client)
        client.delete_records("trimmed", 0, before_offset=15)

    def go_on(self, client: Client) -> None:
        """Another chapter: more of everything."""
        self._chapter += 1
        for codec in CODECS:
            self._add(client, f"codec-{codec}", records(f"{codec} {self._chapter}", 40), codec)
        self._add(client, "stamped", records(f"stamped {self._chapter}", 10), "gzip")
        self._add(client, "trimmed", records(f"trimmed {self._chapter}", 20), "none")
        rolled = [
            Record(key=str(n).encode(), value=noise(f"{self._chapter} {n}", 100_000))
            for n in range(25)
        ]
        self._add(client, "rolled", rolled, "none")
        self._compacted(client)
        member = client.join("readers", ["codec-none"])
        total = len(self._sent["codec-none"])
        eventually(lambda: len(member.refresh().records) == total - self._committed)
        member.commit()
        member.leave()
        self._committed = total

    def check(self, client: Client) -> None:
        for topic, sent in self._sent.items():
            offsets = client.offsets(topic)
            start = offsets.start
            assert start in self._starts(topic), topic
            assert offsets.end == len(sent), topic
            received = client.fetch(topic, start_offset=start, count=len(sent) - start)
            assert [each.content for each in received] == [e.content for e in sent[start:]], topic
            if topic != "stamped":
                times = [each.timestamp_ms for each in sent[start:]]
                assert topic == "rolled" or [each.timestamp_ms for each in received] == times
        assert self._read_compacted(client) == self._latest
        assert client.committed("readers", "codec-none") == self._committed
        assert "readers" in client.groups()
        assert client.partition_count("trimmed") == 3
        configs = client.describe_configs("rolled")
        assert configs["segment.bytes"] == str(SEGMENT_BYTES)
        assert client.describe_configs("compacted")["cleanup.policy"] == "compact"

    def _starts(self, topic: str) -> set[int]:
        """Kafka notes a new log start offset once a minute: a kill takes DeleteRecords back."""
        if topic != "trimmed":
            return {0}
        return {15, 0} if self._end == "killed" else {15}

    def _add(self, client: Client, topic: str, new: list[Record], codec: Codec) -> None:
        placed = client.produce(topic, [_at_0(each) for each in new], codec=codec)
        assert placed[0].offset == len(self._sent[topic]), topic
        self._sent[topic] += new

    def _compacted(self, client: Client) -> None:
        new = [
            Record(
                key=f"key-{n % 7}".encode(),
                value=None if n % 5 == 0 else f"{self._chapter} {n}".encode(),
                partition=0,
            )
            for n in range(60)
        ]
        client.produce("compacted", new)
        for each in new:
            assert each.key is not None
            self._latest[each.key] = each.value

    def _read_compacted(self, client: Client) -> dict[bytes, bytes | None]:
        """The last value of every key; compaction may have taken older ones meanwhile."""
        end = client.offsets("compacted").end
        found: dict[bytes, bytes | None] = {}
        position = 0
        while position < end:
            for each in client.fetch(
                "compacted", start_offset=position, count=end - position, timeout_ms=2_000
            ):
                assert each.key is not None
                assert each.offset is not None
                found[each.key] = each.value
                position = each.offset + 1
        return found


def _complaints(errors: str) -> list[str]:
    """What the tool found wrong. It takes the first record of every later segment for a gap."""
    lines = [line.strip() for line in errors.splitlines()]
    return [line for line in lines if not line.startswith(("-1 is followed", "Non-consecutive"))]


def _producers(client: Client) -> dict[str, str]:
    """Last sequence by producer id, as ``kafka-transactions`` tells it."""
    bootstrap = client.command[-1]
    where = ["describe-producers", "--topic", "idempotent", "--partition", "0"]
    arguments = ["--bootstrap-server", bootstrap, *where]
    ran = client.call("tool", name=DESCRIBE_PRODUCERS, arguments=arguments)
    assert ran["status"] == 0, ran
    rows = [line.split() for line in ran["output"].splitlines()[1:]]
    return {row[0]: row[3] for row in rows}


def _at_0(record: Record) -> Record:
    return Record(
        key=record.key,
        value=record.value,
        headers=record.headers,
        partition=0,
        timestamp_ms=record.timestamp_ms,
    )
