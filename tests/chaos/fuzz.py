"""Requests of every API and version, well-formed and broken: the broker must shrug.

A shell around dice: a seed replays the requests. Messages come from the schemas, so they pass the
decoder; names, ids and partitions in them are aimed at topics that exist, so that the handlers
have work; then bytes are changed, so that the decoder has work too. After each round the node
must run, serve a connection from before in time, have logged no fault of its own and hold no more
memory than the budget says. An answer to a well-formed request must decode.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from headwater.core_log.protocol.apis import API_BY_KEY, Api, decode_response, encode_request
from headwater.core_log.protocol.errors import DecodeError, EncodeError
from headwater.core_log.protocol.messages.api_versions import (
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from headwater.core_log.protocol.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from headwater.core_log.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from headwater.core_log.protocol.schema import WireStruct, fields_of
from headwater.core_log.records.batch import MAGIC, CorruptBatch, read_batch, seal
from headwater.core_log.records.compression import Codec
from headwater.core_log.records.record import NewRecord, build_batch
from headwater.core_log.testing.messages import random_message

from ..interop.target import Target
from .wire import PREFIX, Raw, is_serving, resident_bytes

TARGETS: Final = ("topic-1", "a")
"""Topics that exist while requests fly, by names that ``random_message`` knows too."""
AIMED_SHARE: Final = 0.5
MUTATED_SHARE: Final = 0.6
MUTATIONS_MAX: Final = 4
ANSWER_SECONDS: Final = 0.05
"""Answers come at once or, for a fetch or a join that waits, not at all: nobody waits for them."""
ROUND_REQUESTS: Final = 100
MEMORY_BUDGET_BYTES: Final = 64 * 2**20
FAULT_MARK: Final = "unhandled"
"""In the log: the broker's word for an exception of its own that no handler foresaw."""

EDGES: Final = (b"\x00", b"\x7f", b"\x80", b"\xff", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff")


@dataclass(slots=True, kw_only=True)
class Report:
    requests: int = 0
    answered: int = 0
    closed: int = 0
    """Connections that the broker closed on us."""
    silent: int = 0
    """No answer in time: a request that waits, or acks=0."""
    grown_bytes: int = 0
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        counts = (
            f"{self.requests:,} requests: {self.answered:,} answered, {self.closed:,} closed, "
            f"{self.silent:,} silent; {self.grown_bytes / 2**20:.1f} MiB more memory"
        )
        return "\n".join([counts, *self.failures[:20]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One request as it goes out."""

    api: Api
    version: int
    frame: bytes
    is_mutated: bool

    def __str__(self) -> str:
        kind = "mutated" if self.is_mutated else "well-formed"
        return f"{kind} {self.api.name} v{self.version}: {self.frame.hex()}"


def run(
    node: Target,
    *,
    requests: int,
    rng: random.Random,
    say: Callable[[str], None] = lambda _: None,
) -> Report:
    """Fire *requests* at a started node; stop after the first round with a failure."""
    report = Report()
    with Raw(node.bootstrap) as neighbour:
        served = served_versions(neighbour)
        memory_before = resident_bytes(node.pid)
        while report.requests < requests and not report.failures:
            shots = _shots(served, _prime(neighbour), rng)
            fired = [next(shots) for _ in range(ROUND_REQUESTS)]
            for shot in fired:
                _fire(node, shot, report)
            report.grown_bytes = resident_bytes(node.pid) - memory_before
            _look_after(node, neighbour, fired, report)
            say(str(report).splitlines()[0])
    return report


def served_versions(connection: Raw) -> list[tuple[Api, int]]:
    """Every API and version that the node says it serves."""
    request = ApiVersionsRequest(client_software_name="fuzz", client_software_version="1")
    response = connection.ask(request, ApiVersionsResponse, 3)
    return [
        (API_BY_KEY[key.api_key], version)
        for key in response.api_keys
        for version in range(key.min_version, key.max_version + 1)
        if version in API_BY_KEY[key.api_key].versions
    ]


def _prime(connection: Raw) -> list[bytes]:
    """Make the topics that requests are aimed at, unless they are there; their ids."""
    topics = [CreatableTopic(name=name, num_partitions=3, replication_factor=1) for name in TARGETS]
    request = CreateTopicsRequest(topics=topics, timeout_ms=10_000)
    connection.ask(request, CreateTopicsResponse, 5)
    asked = [MetadataRequestTopic(name=name) for name in TARGETS]
    known = connection.ask(MetadataRequest(topics=asked), MetadataResponse, 12)
    return [topic.topic_id for topic in known.topics]


def _shots(
    served: Sequence[tuple[Api, int]], topic_ids: Sequence[bytes], rng: random.Random
) -> Iterator[Shot]:
    """Without end: all APIs and versions in random order, over and over."""
    while True:
        for api, version in rng.sample(served, len(served)):
            message = random_message(
                api.request_class, version, rng, small=True, plain=rng.random() < 0.5
            )
            _aim(message, topic_ids, rng)
            try:
                frame = b"".join(encode_request(api, version, 7, "fuzz", message))
            except EncodeError:  # a value that this version cannot say
                continue
            is_mutated = rng.random() < MUTATED_SHARE
            yield Shot(
                api=api,
                version=version,
                frame=mutate(frame, rng) if is_mutated else frame,
                is_mutated=is_mutated,
            )


def _aim(message: WireStruct, topic_ids: Sequence[bytes], rng: random.Random) -> None:
    """Point half of the topics, partitions and batches in *message* at what exists."""
    for bound in fields_of(type(message)):
        value = getattr(message, bound.name)
        if isinstance(value, WireStruct):
            _aim(value, topic_ids, rng)
        elif isinstance(value, list) and value and isinstance(value[0], WireStruct):
            for element in value:
                _aim(element, topic_ids, rng)
        elif rng.random() < AIMED_SHARE:
            _aim_field(message, bound.name, topic_ids, rng)


def _aim_field(
    message: WireStruct, name: str, topic_ids: Sequence[bytes], rng: random.Random
) -> None:
    match name:
        case "topic_id":
            message.topic_id = rng.choice(topic_ids)  # type: ignore[attr-defined]  # by name
        case "index" | "partition" | "partition_index":
            setattr(message, name, rng.randrange(4))  # one more than there are
        case "name" | "topic" if isinstance(getattr(message, name), str):
            setattr(message, name, rng.choice(TARGETS))
        case "records":
            message.records = _batch(rng)  # type: ignore[attr-defined]  # by name
        case _:
            return  # left as the dice made it


def _batch(rng: random.Random) -> bytes:
    """A good record batch, or one that a few changed bytes have spoiled."""
    records = [
        NewRecord(timestamp_ms=rng.randrange(2_000_000_000_000), value=rng.randbytes(9))
        for _ in range(rng.randint(1, 4))
    ]
    batch = build_batch(records, compression=Codec(rng.randrange(5)))
    for _ in range(rng.choice([0, 0, 1, 3])):
        batch[rng.randrange(len(batch))] = rng.randrange(256)
    if rng.random() < 0.5 and batch[16] == MAGIC:
        with suppress(CorruptBatch):
            seal(read_batch(batch))
    return bytes(batch)


def mutate(frame: bytes, rng: random.Random) -> bytes:
    """The frame with a few bytes changed behind its key and version, its length made to fit."""
    body = bytearray(frame[PREFIX.size :])
    for _ in range(rng.randint(1, MUTATIONS_MAX)):
        position = rng.randrange(4, len(body) + 1) if len(body) > 4 else len(body)
        edge = rng.choice(EDGES)
        match rng.randrange(6):
            case 0:
                del body[position:]
            case 1:
                body[position : position + len(edge)] = edge
            case 2:
                body[position:position] = edge
            case 3:
                del body[position : position + rng.randrange(1, 9)]
            case 4:
                body += body[position : position + 64]
            case _:
                if position < len(body):
                    body[position] ^= 1 << rng.randrange(8)
    length = len(body) if rng.random() < 0.95 else rng.choice([0, 1, len(body) + 1, 2**31 - 1])
    return PREFIX.pack(length) + bytes(body)


def _fire(node: Target, shot: Shot, report: Report) -> None:
    """One request on a connection of its own: what it leaves behind must hurt nobody else."""
    report.requests += 1
    try:
        with Raw(node.bootstrap) as connection:
            connection.send(shot.frame)
            answer = connection.receive(timeout_seconds=ANSWER_SECONDS)
    except TimeoutError:
        report.silent += 1
        return
    except OSError as error:
        report.failures.append(f"{error!r} on {shot}")
        return
    if answer is None:
        report.closed += 1
        return
    report.answered += 1
    if shot.is_mutated:
        return
    try:
        correlation_id, _ = decode_response(shot.api, shot.version, answer)
    except DecodeError as error:
        report.failures.append(f"the answer does not decode ({error}) to {shot}")
        return
    if correlation_id != 7:
        report.failures.append(f"the answer has correlation id {correlation_id} to {shot}")


def _look_after(node: Target, neighbour: Raw, fired: Sequence[Shot], report: Report) -> None:
    try:
        is_well = is_serving(neighbour)
    except (OSError, AssertionError) as error:
        report.failures.append(f"the neighbour is not served: {error!r}")
        is_well = False
    faults = [line for line in node.log_file.read_text().splitlines() if FAULT_MARK in line]
    report.failures += [f"a fault in the log: {fault}" for fault in faults]
    if report.grown_bytes > MEMORY_BUDGET_BYTES:
        report.failures.append(f"{report.grown_bytes:,} bytes of memory more than before")
    if not is_well or faults:
        report.failures += [f"one of: {shot}" for shot in fired]
