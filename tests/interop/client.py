"""Somebody else's client as a test sees it: typed calls that travel to its driver process.

A shell: it owns the process. The operations are the same for every client, so that one contract
(``contract.py``) tells the story for all of them; what a client lacks it says itself.
"""

import base64
import json
import os
import selectors
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self, final

Codec = Literal["none", "gzip", "snappy", "lz4", "zstd"]
Acks = Literal["0", "1", "all"]
Strategy = Literal["range", "cooperative-sticky"]
Isolation = Literal["read_uncommitted", "read_committed"]

CALL_TIMEOUT_SECONDS = 60.0
FETCH_TIMEOUT_MS = 15_000
SESSION_TIMEOUT_MS = 3_000
TRANSACTION_TIMEOUT_MS = 60_000

Headers = tuple[tuple[str, bytes | None], ...]


class Refused(Exception):
    """The client reported a Kafka error; ``code`` is the protocol's error code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"error {code}: {message}")
        self.code = code


class DriverFailed(Exception):
    """The client failed in a way that is no answer of Kafka's, or did not answer in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record to send (partition and timestamp may be left to the client) or received."""

    key: bytes | None = None
    value: bytes | None = None
    headers: Headers = ()
    partition: int | None = None
    timestamp_ms: int | None = None
    offset: int | None = field(default=None, compare=False)

    @property
    def content(self) -> tuple[bytes | None, bytes | None, Headers]:
        """What must survive the way unchanged, whoever sent it and whoever reads it."""
        return self.key, self.value, self.headers


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Where a record came to lie; ``offset`` is -1 when nobody waited for the answer."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Offsets:
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDescription:
    state: str
    members: int
    assignor: str


@final
class Client:
    """One driver process with one client library in it."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self.command = tuple(command)
        self._requests = 0
        self._received = b""
        self._process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        hello = self.call("hello")
        self.version: str = hello["client"]
        self.codecs: tuple[Codec, ...] = tuple(hello["codecs"])
        self.lacks: frozenset[str] = frozenset(hello["lacks"])

    def another(self) -> "Client":
        """A second process of the same client, for a test to kill."""
        return Client(self.name, self.command)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the driver by the end of its input, or by force."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._process.poll() is None:
            self._process.stdin.close()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self.kill()

    def kill(self) -> None:
        """Crash: the client can say good-bye to nobody."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def call(
        self, operation: str, *, timeout_seconds: float = CALL_TIMEOUT_SECONDS, **arguments: Any
    ) -> Any:
        """The driver's result. Raises Refused for an answer of Kafka's, DriverFailed otherwise."""
        self._requests += 1
        request = {"id": self._requests, "op": operation, **arguments}
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise DriverFailed(f"the driver of {self.name} is gone") from error
        answer = json.loads(self._line(operation, timeout_seconds))
        assert answer["id"] == self._requests
        failure = answer.get("error")
        if failure is None:
            return answer.get("result")
        if failure["code"] is None:
            raise DriverFailed(f"{self.name}: {operation}: {failure['message']}")
        raise Refused(failure["code"], f"{self.name}: {operation}: {failure['message']}")

    def _line(self, operation: str, timeout_seconds: float) -> bytes:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        deadline = time.monotonic() + timeout_seconds
        parts = [self._received]
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while b"\n" not in parts[-1]:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise DriverFailed(f"{self.name}: no answer to {operation} in time")
                parts.append(os.read(descriptor, 1 << 20))
                if not parts[-1]:
                    raise DriverFailed(f"{self.name}: the driver ended during {operation}")
        line, _, self._received = b"".join(parts).partition(b"\n")
        return line

    def create_topic(
        self, topic: str, *, partitions: int = 1, configs: dict[str, str] | None = None
    ) -> None:
        self.call("create_topic", topic=topic, partitions=partitions, configs=configs or {})

    def delete_topic(self, topic: str) -> None:
        self.call("delete_topic", topic=topic)

    def add_partitions(self, topic: str, *, partitions: int) -> None:
        """Grow the topic to ``partitions`` in all."""
        self.call("add_partitions", topic=topic, partitions=partitions)

    def partition_count(self, topic: str) -> int:
        """How many partitions Metadata shows; refused with 3 when there is no such topic."""
        count: int = self.call("partition_count", topic=topic)
        return count

    def describe_configs(self, topic: str) -> dict[str, str | None]:
        configs: dict[str, str | None] = self.call("describe_configs", topic=topic)
        return configs

    def alter_configs(self, topic: str, configs: dict[str, str | None]) -> None:
        """Set configs of the topic; None goes back to the default."""
        self.call("alter_configs", topic=topic, configs=configs)

    def delete_records(self, topic: str, partition: int, *, before_offset: int) -> int:
        """The low watermark afterwards."""
        low: int = self.call(
            "delete_records", topic=topic, partition=partition, offset=before_offset
        )
        return low

    def offsets(self, topic: str, partition: int = 0) -> Offsets:
        return Offsets(**self.call("offsets", topic=topic, partition=partition))

    def offset_for_time(self, topic: str, partition: int, *, timestamp_ms: int) -> int | None:
        """The first offset whose record is as late as ``timestamp_ms`` or later."""
        found: int | None = self.call(
            "offset_for_time", topic=topic, partition=partition, timestamp_ms=timestamp_ms
        )
        return found

    def produce(
        self,
        topic: str,
        records: Iterable[Record],
        *,
        codec: Codec = "none",
        acks: Acks = "all",
        idempotent: bool = False,
    ) -> list[Placed]:
        """Send the records in order through one new producer; where each came to lie."""
        placed = self.call(
            "produce",
            topic=topic,
            records=[_pack(record) for record in records],
            codec=codec,
            acks=acks,
            idempotent=idempotent,
        )
        return [Placed(partition=partition, offset=offset) for partition, offset in placed]

    def fetch(
        self,
        topic: str,
        partition: int = 0,
        *,
        start_offset: int = 0,
        count: int,
        timeout_ms: int = FETCH_TIMEOUT_MS,
        isolation: Isolation = "read_uncommitted",
    ) -> list[Record]:
        """Up to ``count`` records by assignment, oldest first; fewer only after the time."""
        records = self.call(
            "fetch",
            topic=topic,
            partition=partition,
            offset=start_offset,
            count=count,
            timeout_ms=timeout_ms,
            isolation=isolation,
        )
        return [_unpack(record) for record in records]

    def transactor(
        self, transactional_id: str, *, timeout_ms: int = TRANSACTION_TIMEOUT_MS
    ) -> "Transactor":
        """A producer with this transactional id; it fences whoever had the id before."""
        self._requests += 1
        opened = Transactor(self, f"transactor-{self._requests}")
        self.call(
            "open_transactor",
            transactor=opened.name,
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
        )
        return opened

    def join(
        self,
        group: str,
        topics: Sequence[str],
        *,
        strategy: Strategy = "range",
        instance_id: str | None = None,
        session_timeout_ms: int = SESSION_TIMEOUT_MS,
    ) -> "Member":
        """A consumer of the group that polls from now on, from the start where none committed."""
        self._requests += 1
        member = Member(self, f"member-{self._requests}")
        self.call(
            "join",
            member=member.name,
            group=group,
            topics=list(topics),
            strategy=strategy,
            instance_id=instance_id,
            session_timeout_ms=session_timeout_ms,
        )
        return member

    def committed(self, group: str, topic: str, partition: int = 0) -> int | None:
        found: int | None = self.call("committed", group=group, topic=topic, partition=partition)
        return found

    def groups(self) -> list[str]:
        listed: list[str] = self.call("groups")
        return listed

    def describe_group(self, group: str) -> GroupDescription:
        return GroupDescription(**self.call("describe_group", group=group))

    def delete_group(self, group: str) -> None:
        self.call("delete_group", group=group)


@final
class Member:
    """A consumer of a group inside a driver; ``records`` grows with every ``refresh``."""

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self.name = name
        self.records: list[Record] = []
        self.assignment: frozenset[tuple[str, int]] = frozenset()
        self.history: list[frozenset[tuple[str, int]]] = []

    def __repr__(self) -> str:
        held = sorted(self.assignment)
        return f"<Member {self.name} of {self.client.name} holds {held}, {len(self.records)} read>"

    def refresh(self) -> Self:
        """Learn the assignment of now and the records since the last time."""
        status = self.client.call("status", member=self.name)
        if status["failure"] is not None:
            raise DriverFailed(f"{self!r}: {status['failure']}")
        self.records.extend(_unpack(record) for record in status["records"])
        self.assignment = frozenset((topic, int(part)) for topic, part in status["assignment"])
        if not self.history or self.history[-1] != self.assignment:
            self.history.append(self.assignment)
        return self

    def commit(self) -> None:
        """Commit everything polled so far."""
        self.client.call("commit", member=self.name)

    def leave(self) -> None:
        """Close the consumer: a dynamic member leaves the group, a static one keeps its place."""
        self.client.call("leave", member=self.name)


@final
class Transactor:
    """A transactional producer inside a driver."""

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self.name = name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self) -> None:
        self.client.call("begin", transactor=self.name)

    def send(self, topic: str, records: Iterable[Record]) -> None:
        """Send inside the transaction, and wait until the broker has the records."""
        packed = [_pack(record) for record in records]
        self.client.call("send", transactor=self.name, topic=topic, records=packed)

    def send_position(
        self, group: str, topic: str, partition: int, offset: int, *, member: Member | None = None
    ) -> None:
        """The group's position, stored when the transaction commits; as the member, if given."""
        self.client.call(
            "send_position",
            transactor=self.name,
            group=group,
            topic=topic,
            partition=partition,
            offset=offset,
            member=None if member is None else member.name,
        )

    def commit(self) -> None:
        self.client.call("end", transactor=self.name, commit=True)

    def abort(self) -> None:
        self.client.call("end", transactor=self.name, commit=False)

    def close(self) -> None:
        """Close the producer, whatever state it is in."""
        self.client.call("close_transactor", transactor=self.name)


def _pack(record: Record) -> dict[str, Any]:
    return {
        "key": _to_text(record.key),
        "value": _to_text(record.value),
        "headers": [[name, _to_text(content)] for name, content in record.headers],
        "partition": record.partition,
        "timestamp_ms": record.timestamp_ms,
    }


def _unpack(received: dict[str, Any]) -> Record:
    return Record(
        key=_to_bytes(received["key"]),
        value=_to_bytes(received["value"]),
        headers=tuple((name, _to_bytes(content)) for name, content in received["headers"]),
        partition=received["partition"],
        timestamp_ms=received["timestamp_ms"],
        offset=received["offset"],
    )


def _to_text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _to_bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
