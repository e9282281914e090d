"""Debian's kcat: librdkafka 2.0.2, which reads the broker's abilities from single versions."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from .client import Client, Record
from .conftest import OpenClient
from .data import noise
from .target import Target
from .toolchain import kcat, needed
from .waiting import eventually

pytestmark = pytest.mark.kcat

RUN_TIMEOUT_SECONDS = 30
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


class Kcat:
    """kcat against one broker."""

    def __init__(self, program: str, bootstrap: str) -> None:
        self._command = [program, "-b", bootstrap]

    def run(
        self, *arguments: str, data: bytes = b"", refused: bool = False
    ) -> subprocess.CompletedProcess[bytes]:
        """Run to the end; it must succeed, or fail where ``refused``."""
        done = subprocess.run(
            [*self._command, *arguments],
            input=data,
            capture_output=True,
            timeout=RUN_TIMEOUT_SECONDS,
            check=False,
        )
        assert (done.returncode != 0) == refused, done.stderr.decode()
        return done

    def produce(self, topic: str, lines: list[str], *arguments: str) -> None:
        """Lines of ``key:value``; an empty value is null."""
        text = "".join(f"{line}\n" for line in lines).encode()
        self.run("-P", "-t", topic, "-K:", "-Z", *arguments, data=text)

    def consume(self, *arguments: str) -> list[dict[str, Any]]:
        """The records up to the end of the topic."""
        return _records(self.run("-C", "-e", "-q", "-J", *arguments).stdout)

    @contextmanager
    def member(self, group: str, topic: str, output: Path) -> Iterator[subprocess.Popen[bytes]]:
        """A group member that writes what it reads to ``output`` until it is ended."""
        with output.open("wb") as file:
            process = self._start(group, topic, file)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def _start(self, group: str, topic: str, file: IO[bytes]) -> subprocess.Popen[bytes]:
        settings = {
            "auto.offset.reset": "earliest",
            "session.timeout.ms": "3000",
            "heartbeat.interval.ms": "200",
            "auto.commit.interval.ms": "100",
        }
        options = [word for pair in settings.items() for word in ("-X", "=".join(pair))]
        return subprocess.Popen(
            [*self._command, "-G", group, topic, "-u", "-q", "-J", *options],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.DEVNULL,
        )


@pytest.fixture
def cat(broker: Target) -> Kcat:
    return Kcat(needed(kcat), broker.bootstrap)


@pytest.fixture
def other(open_client: OpenClient) -> Client:
    return open_client("confluent-kafka")


@pytest.mark.parametrize("codec", CODECS)
def test_records_survive_every_codec(cat: Kcat, topic: str, other: Client, codec: str) -> None:
    """Compression is used at all: this librdkafka silently turns it off below Produce 0 to 7."""
    other.create_topic(topic)
    lines = [f"key-{number}:value {number}" for number in range(200)]
    cat.produce(topic, lines, "-p", "0", "-z", codec, "-X", "linger.ms=50")
    received = cat.consume("-t", topic)
    assert [f"{each['key']}:{each['payload']}" for each in received] == lines
    assert [each["offset"] for each in received] == list(range(200))


@pytest.mark.parametrize("codec", CODECS)
def test_batches_on_disk_carry_the_codec(
    cat: Kcat, topic: str, other: Client, codec: str, broker: Target
) -> None:
    """The broker advertises what makes old clients compress: the low bits of the attributes."""
    other.create_topic(topic)
    lines = [f"k:{'the same again ' * 20}" for _ in range(20)]
    cat.produce(topic, lines, "-p", "0", "-z", codec, "-X", "linger.ms=50")
    log = broker.data_directory / f"{topic}-0" / "00000000000000000000.log"
    attributes = int.from_bytes(log.read_bytes()[21:23], "big")
    assert attributes & 7 == CODECS.index(codec)


def test_headers_and_nulls_and_what_others_wrote(cat: Kcat, topic: str, other: Client) -> None:
    """Both directions: kcat's null value and headers elsewhere, another's null key here."""
    other.create_topic(topic)
    cat.produce(topic, ["a:1", "b:"], "-p", "0", "-H", "x=1", "-H", "x=2")
    first, second = other.fetch(topic, count=2)
    assert (first.key, first.value) == (b"a", b"1")
    assert (second.key, second.value) == (b"b", None)
    assert first.headers == (("x", b"1"), ("x", b"2"))
    other.produce(topic, [Record(value=b"keyless", headers=(("h", b"v"),), partition=0)])
    (third,) = cat.consume("-t", topic, "-o", "2")
    assert (third["key"], third["payload"], third["headers"]) == (None, "keyless", ["h", "v"])


def test_metadata_and_offsets_by_time(cat: Kcat, topic: str, other: Client) -> None:
    other.create_topic(topic, partitions=3)
    base_ms = 1_700_000_000_000
    sent = [Record(value=b"v", partition=1, timestamp_ms=base_ms + n) for n in range(10)]
    other.alter_configs(topic, {"retention.ms": "-1"})
    other.produce(topic, sent)
    (listed,) = json.loads(cat.run("-L", "-J", "-t", topic).stdout)["topics"]
    assert [each["partition"] for each in listed["partitions"]] == [0, 1, 2]
    assert [each["leader"] for each in listed["partitions"]] == [1, 1, 1]
    for timestamp_ms, expected in [(base_ms + 4, 4), (base_ms - 1, 0), (-2, 0)]:
        answer = json.loads(cat.run("-Q", "-J", "-t", f"{topic}:1:{timestamp_ms}").stdout)
        assert answer[topic]["1"]["offset"] == expected, timestamp_ms
    late = cat.consume("-t", topic, "-p", "1", "-o", f"s@{base_ms + 7}")
    assert [each["offset"] for each in late] == [7, 8, 9]


def test_large_and_too_large(cat: Kcat, topic: str, other: Client, tmp_path: Path) -> None:
    other.create_topic(topic)
    file = tmp_path / "large"
    limit = ("-X", "message.max.bytes=3000000")
    file.write_bytes(noise("kcat", 900_000))
    cat.run("-P", "-t", topic, "-p", "0", *limit, str(file))
    (received,) = other.fetch(topic, count=1)
    assert received.value == file.read_bytes()
    file.write_bytes(noise("kcat", 1_200_000))
    refused = cat.run("-P", "-t", topic, "-p", "0", *limit, str(file), refused=True)
    assert b"Broker: Message size too large" in refused.stderr


def test_errors_have_their_names(cat: Kcat, topic: str, other: Client) -> None:
    unknown = cat.run(
        *("-C", "-e", "-t", topic, "-X", "allow.auto.create.topics=false"), refused=True
    )
    assert b"Broker: Unknown topic or partition" in unknown.stderr
    other.create_topic(topic)
    beyond = cat.run(
        *("-C", "-e", "-t", topic, "-p", "0", "-o", "99", "-X", "auto.offset.reset=error"),
        refused=True,
    )
    assert b"Broker: Offset out of range" in beyond.stderr


def test_an_idempotent_producer_is_served(cat: Kcat, topic: str, other: Client) -> None:
    other.create_topic(topic)
    lines = [f"k:{number}" for number in range(300)]
    cat.produce(topic, lines, "-p", "0", "-X", "enable.idempotence=true")
    assert [int(each["payload"]) for each in cat.consume("-t", topic)] == list(range(300))


def test_a_group_resumes_where_it_committed(
    cat: Kcat, topic: str, group: str, other: Client
) -> None:
    """kcat commits when it leaves."""
    other.create_topic(topic)
    cat.produce(topic, [f"k:{number}" for number in range(30)], "-p", "0")
    arguments = ("-G", group, topic, "-e", "-q", "-J", "-X", "auto.offset.reset=earliest")
    assert _payloads(cat.run(*arguments).stdout) == [str(n) for n in range(30)]
    assert other.committed(group, topic) == 30
    cat.produce(topic, ["k:more"], "-p", "0")
    assert _payloads(cat.run(*arguments).stdout) == ["more"]


def test_members_join_leave_and_crash(
    cat: Kcat, topic: str, group: str, other: Client, tmp_path: Path
) -> None:
    """Three members, one is stopped, one killed: every record is read by somebody."""
    other.create_topic(topic, partitions=6)
    outputs = [tmp_path / str(number) for number in range(3)]
    for output in outputs:
        output.touch()
    sent: set[str] = set()

    def produce(name: str) -> None:
        new = [f"{name}-{number}" for number in range(60)]
        sent.update(new)
        other.produce(topic, [Record(value=v.encode(), partition=n % 6) for n, v in enumerate(new)])
        eventually(lambda: {p for file in outputs for p in _payloads(file.read_bytes())} == sent)

    def members() -> int:
        described = other.describe_group(group)
        return described.members if described.state == "STABLE" else 0

    with cat.member(group, topic, outputs[0]) as first:
        eventually(lambda: members() == 1)
        produce("alone")
        with (
            cat.member(group, topic, outputs[1]) as second,
            cat.member(group, topic, outputs[2]),
        ):
            eventually(lambda: members() == 3)
            produce("three")
            os.kill(second.pid, signal.SIGTERM)
            second.wait(RUN_TIMEOUT_SECONDS)
            eventually(lambda: members() == 2)
            produce("two")
            first.kill()
            eventually(lambda: members() == 1)
            produce("survivor")


def _records(output: bytes) -> list[dict[str, Any]]:
    """Whole lines only: a member that was killed may leave half of one."""
    return [json.loads(line) for line in output.splitlines(keepends=True) if line.endswith(b"\n")]


def _payloads(output: bytes) -> list[str]:
    return [each["payload"] for each in _records(output)]
