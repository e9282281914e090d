"""Raw conversations for a comparison of answers: requests as plain data, answers made comparable.

A case is data: an API and the fields of a request, in every version that both brokers serve. What
differs between two runs by nature (ids, times, ports, sizes) is replaced by a word; everything
else must be equal, error messages and order included.
"""

import re
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, get_args, get_origin, get_type_hints

import crc32c
import msgspec

from headwater.core_log.protocol.apis import API_BY_KEY, Api, decode_response, encode_request
from headwater.core_log.protocol.errors import EncodeError

from .waiting import eventually

Json: TypeAlias = dict[str, Any]
Context: TypeAlias = dict[str, Any]
"""What earlier answers of a case taught: names to values, for placeholders."""

TIMEOUT_SECONDS: Final = 3.0
"""An answer that takes longer counts as none: a join that waits for other members, for one."""

FIRST_TIMESTAMP_MS: Final = time.time_ns() // 1_000_000 - 3_600_000
"""Of every batch that names no other. An hour old: records a week older than a marker would make
the marker start a new segment, and retention take the old one while the suite runs."""

CLOSED: Final[Json] = {"connection": "closed"}
SILENT: Final[Json] = {"connection": "silent"}

API_BY_NAME: Final[Mapping[str, Api]] = {api.name: api for api in API_BY_KEY.values()}


@dataclass(frozen=True, slots=True)
class Ref:
    """A placeholder in a request: the context's value under this name, ``plus`` for numbers."""

    name: str
    plus: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """A placeholder in a request: a record batch whose arguments may be placeholders."""

    arguments: Json


@dataclass(frozen=True, slots=True)
class Step:
    """One request in the version under test, or in one of its own.

    ``learn`` takes values for later steps from the answer.
    """

    api: str
    fields: Json
    version: int | None = None
    """The case's version under test when None."""
    learn: Callable[[Json], Context] | None = None
    no_answer: bool = False
    until: Callable[[Json], bool] | None = None
    """Ask again until the answer is so: what a coordinator does after its answer takes time."""


@dataclass(frozen=True, slots=True)
class Batches:
    """A placeholder in a request: several record batches behind one another."""

    arguments: Sequence[Json]


class RawClient:
    """One connection and its correlation ids."""

    def __init__(self, bootstrap: str) -> None:
        host, port = bootstrap.split(":")
        self._socket = socket.create_connection((host, int(port)), TIMEOUT_SECONDS)
        self._correlation_id = 0
        self.ranges: dict[int, tuple[int, int]] = {}
        answer = self.ask(API_BY_NAME["ApiVersions"], 0, {})
        assert answer is not None
        for each in answer["api_keys"]:
            self.ranges[each["api_key"]] = (each["min_version"], each["max_version"])

    def close(self) -> None:
        self._socket.close()

    def ask(self, api: Api, version: int, fields: Json, *, no_answer: bool = False) -> Json | None:
        """The answer as plain data; None where the version cannot carry the fields or the broker
        gives no answer."""
        if not self.send(api, version, fields) or no_answer:
            return None
        return self.receive(api, version)

    def send(self, api: Api, version: int, fields: Json) -> bool:
        """Only ask; False where the version cannot carry the fields."""
        self._correlation_id += 1
        request = build(api.request_class, fields)
        try:
            parts = encode_request(api, version, self._correlation_id, "parity", request)
        except EncodeError:
            return False
        self._socket.sendall(b"".join(bytes(part) for part in parts))
        return True

    def receive(self, api: Api, version: int) -> Json:
        """The answer to what was sent last."""
        try:
            frame = self._exactly(struct.unpack(">i", self._exactly(4))[0])
        except ConnectionError:
            return CLOSED
        except TimeoutError:
            return SILENT
        correlation_id, answer = decode_response(api, version, frame)
        assert correlation_id == self._correlation_id
        plain: Json = msgspec.to_builtins(answer, builtin_types=(bytes, bytearray, memoryview))
        return plain

    def _exactly(self, size: int) -> bytes:
        parts = b""
        while len(parts) < size:
            received = self._socket.recv(size - len(parts))
            if not received:
                raise ConnectionError("the broker closed the connection")
            parts += received
        return parts


def converse(bootstrap: str, steps: Sequence[Step], version: int, context: Context) -> list[Any]:
    """The comparable answers to the steps, on one connection."""
    client = RawClient(bootstrap)
    answers: list[Any] = []
    try:
        for step in steps:
            api = API_BY_NAME[step.api]
            chosen = version if step.version is None else step.version
            fields = _filled(step.fields, context)
            answer = _asked(client, api, chosen, fields, step)
            if answer not in (None, CLOSED, SILENT) and step.learn is not None:
                context.update(step.learn(answer))
            answers.append((step.api, comparable(answer, context)))
            if answer in (CLOSED, SILENT):
                client.close()
                client = RawClient(bootstrap)
    finally:
        client.close()
    return answers


def _asked(client: RawClient, api: Api, version: int, fields: Json, step: Step) -> Json | None:
    """The first answer, or the first one as the step wants it."""
    if step.until is None:
        return client.ask(api, version, fields, no_answer=step.no_answer)
    wanted = step.until
    return eventually(
        lambda: client.ask(api, version, fields),
        lambda answer: answer in (None, CLOSED, SILENT) or wanted(answer or {}),
    )


def build(cls: type[Any], fields: Json) -> Any:
    """A message or struct from plain data; what is not given keeps its default."""
    hints = get_type_hints(cls)
    return cls(**{name: _value(hints[name], value) for name, value in fields.items()})


def _value(hint: Any, value: Any) -> Any:
    candidates = [each for each in (hint, *get_args(hint)) if each is not None]
    if isinstance(value, dict):
        (inner,) = [each for each in candidates if _is_struct(each)]
        return build(inner, value)
    if isinstance(value, list):
        (listed,) = [each for each in candidates if get_origin(each) is list]
        return [_value(get_args(listed)[0], each) for each in value]
    return value


def _is_struct(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, msgspec.Struct)


def _filled(value: Any, context: Context) -> Any:
    match value:
        case Ref(name, plus):
            found = context.get(name, b"\x07" * 16 if name.endswith("_id") else f"no-{name}")
            return found + plus if plus else found
        case Batch(arguments):
            return batch(**_filled(arguments, context))
        case Batches(several):
            return b"".join(batch(**_filled(each, context)) for each in several)
        case dict():
            return {key: _filled(each, context) for key, each in value.items()}
        case list():
            return [_filled(each, context) for each in value]
        case _:
            return value


_VARIES: Final = {
    "throttle_time_ms",
    "host",
    "port",
    "log_dir",
    "total_bytes",
    "usable_bytes",
    "size",
    "cluster_id",
    "transaction_start_time_ms",
    "last_timestamp",
    "log_append_time_ms",
    "last_fetch_timestamp",
    "last_caught_up_timestamp",
    "log_end_offset",
    "documentation",
    "session_id",
}
"""Fields whose values no two runs share."""

_CONFIGS_MEANT_TO_DIFFER: Final = {
    "flush.messages",  # we flush before we acknowledge, unless a topic asks for laziness
    "min.insync.replicas",  # Kafka's format step makes it dynamic, for eligible leader replicas
}

_WORDS: Final = (
    (re.compile(r"\b[\w.-]+-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "MEMBER"),
    (re.compile(r"\b[A-Za-z0-9_-]{22}\b"), "UUID"),
    (re.compile(r"127\.0\.0\.1:\d+"), "ADDRESS"),
    (re.compile(r"\b17\d{11}\b"), "TIME"),
)


def comparable(value: Any, context: Context) -> Any:
    """The answer with its own names for what varies."""
    match value:
        case dict():
            return {
                key: _of_field(key, each, context)
                for key, each in value.items()
                if not key.endswith("error_message")
            }
        case list():
            kept = [each for each in value if not _meant_to_differ(each)]
            return sorted((comparable(each, context) for each in kept), key=repr)
        case bytes() | bytearray() | memoryview():
            return "NO_ID" if bytes(value) == bytes(16) else f"{len(value)} BYTES"
        case str():
            named = [(name, each) for name, each in context.items() if isinstance(each, str)]
            for name, each in sorted(named, key=lambda pair: -len(pair[1])):
                value = value.replace(each, name.upper()) if each else value
            for pattern, word in _WORDS:
                value = pattern.sub(word, value)
            return value
        case _:
            return value


def _of_field(name: str, value: Any, context: Context) -> Any:
    if value is not None and name.endswith("producer_id"):
        known = [key.upper() for key, each in context.items() if each == value and "pid" in key]
        return value if value < 0 else (known or ["SOME"])[0]
    if name == "records" and value:
        return [_outline(each, context) for each in _batches(bytes(value))]
    return "VARIES" if name in _VARIES and value is not None else comparable(value, context)


def _batches(data: bytes) -> Iterator[bytes]:
    """The whole batches, and what is left behind them."""
    while len(data) >= 12 and len(data) >= 12 + struct.unpack_from(">i", data, 8)[0]:
        size = 12 + struct.unpack_from(">i", data, 8)[0]
        yield data[:size]
        data = data[size:]
    if data:
        yield data


def _outline(data: bytes, context: Context) -> Json | str:
    """What of a batch must be equal: of a marker also what it says."""
    if len(data) < 61:
        return f"{len(data)} BYTES"
    attributes, last_delta = struct.unpack_from(">hi", data, 21)
    producer_id, epoch, sequence, count = struct.unpack_from(">qhii", data, 43)
    return {
        "base_offset": struct.unpack_from(">q", data)[0],
        "last_offset_delta": last_delta,
        "attributes": attributes,
        "producer_id": _of_field("producer_id", producer_id, context),
        "epoch": epoch,
        "sequence": sequence,
        "count": count,
        "size": len(data),
        "marker": data[61:].hex() if attributes & 0x20 else None,
    }


def _meant_to_differ(value: Any) -> bool:
    return isinstance(value, dict) and value.get("name") in _CONFIGS_MEANT_TO_DIFFER


def batch(
    values: Sequence[tuple[bytes | None, bytes | None]] = ((b"k", b"v"),),
    *,
    attributes: int = 0,
    base_offset: int = 0,
    first_timestamp_ms: int = FIRST_TIMESTAMP_MS,
    last_timestamp_ms: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    magic: int = 2,
    count: int | None = None,
    last_offset_delta: int | None = None,
    crc_off_by: int = 0,
    payload: bytes | None = None,
) -> bytes:
    """A record batch, right or wrong in the ways the arguments say."""
    records = b"".join(_record(n, key, value) for n, (key, value) in enumerate(values))
    body = struct.pack(
        ">hiqqqhii",
        attributes,
        len(values) - 1 if last_offset_delta is None else last_offset_delta,
        first_timestamp_ms,
        first_timestamp_ms if last_timestamp_ms is None else last_timestamp_ms,
        producer_id,
        producer_epoch,
        base_sequence,
        len(values) if count is None else count,
    ) + (records if payload is None else payload)
    crc = (crc32c.crc32c(body) + crc_off_by) & 0xFFFFFFFF
    head = struct.pack(">iBI", -1, magic, crc)
    return struct.pack(">qi", base_offset, len(head) + len(body)) + head + body


def _record(number: int, key: bytes | None, value: bytes | None) -> bytes:
    body = b"\x00" + _varint(0) + _varint(number) + _bytes(key) + _bytes(value) + _varint(0)
    return _varint(len(body)) + body


def _bytes(data: bytes | None) -> bytes:
    return _varint(-1) if data is None else _varint(len(data)) + data


def _varint(number: int) -> bytes:
    rest = number << 1 ^ number >> 63
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes((*out, rest))
