"""Hand-written Produce and Fetch: the same as the compiled ones, to the byte and to the error."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.core_log.kernel.ports import Buffer
from headwater.core_log.protocol import hot
from headwater.core_log.protocol.codec import encode
from headwater.core_log.protocol.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    SnapshotId,
)
from headwater.core_log.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from headwater.core_log.protocol.primitives import TooManyElements, WireProblem
from headwater.core_log.protocol.read_compiler import reader_source
from headwater.core_log.protocol.schema import Message
from headwater.core_log.protocol.write_compiler import writer_source
from headwater.core_log.testing.messages import random_message

REQUESTS: list[tuple[type[Message], int]] = [
    *((ProduceRequest, version) for version in range(3, 14)),
    *((FetchRequest, version) for version in range(4, 19)),
]
RESPONSES: list[tuple[type[Message], int]] = [
    *((ProduceResponse, version) for version in range(3, 14)),
    *((FetchResponse, version) for version in range(4, 19)),
]
NAMES = ["", "a", "topic", "grüße", "x" * 126, "x" * 127, "x" * 249]
SIZES = [0, 1, 61, 126, 127, 128, 16_382, 16_383, 16_384, 70_000]
IDS = [bytes(16), b"0123456789abcdef"]


class Fallback(Exception):
    """The common shape was not recognised."""


def refuse(*_: Any) -> Any:
    raise Fallback


def outcome(run: Callable[..., Any], *arguments: Any) -> Any:
    """What a codec gives, or how it fails."""
    try:
        return run(*arguments)
    except (WireProblem, TooManyElements, IndexError, UnicodeDecodeError) as error:
        return type(error), str(error)
    except Exception as error:  # noqa: BLE001 - struct.error and all that a wrong value may raise
        return type(error)


def common_request(
    cls: type[Message], version: int, name: str, size: int, topic_id: bytes
) -> Message:
    """One partition, as an interactive client sends it."""
    if cls is ProduceRequest:
        part = PartitionProduceData(index=7, records=bytes(size))
        topic = TopicProduceData(partition_data=[part])
        if version >= 13:
            topic.topic_id = topic_id
        else:
            topic.name = name
        return ProduceRequest(acks=-1, timeout_ms=1500, topic_data=[topic])
    position = FetchPartition(partition=3, fetch_offset=2**40, partition_max_bytes=size)
    fetch = FetchTopic(partitions=[position])
    if version >= 13:
        fetch.topic_id = topic_id
    else:
        fetch.topic = name
    return FetchRequest(max_wait_ms=500, min_bytes=1, topics=[fetch])


@pytest.mark.parametrize(("cls", "version"), REQUESTS)
@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(NAMES),
    size=st.sampled_from(SIZES),
    topic_id=st.sampled_from(IDS),
    changes=st.lists(
        st.tuples(
            st.sampled_from([*range(42), *range(-6, 0)]), st.sampled_from([0, 1, 2, 3, 127, 128])
        ),
        max_size=2,
    ),
    cut=st.sampled_from([0, 0, 0, 1, 3, 4]),
    behind=st.sampled_from([b"", b"", b"\0", b"\0\0\0"]),
    budget=st.sampled_from([0, 1, 2, 100]),
)
def test_a_reader_by_hand_does_what_the_compiled_one_does(
    *,
    cls: type[Message],
    version: int,
    name: str,
    size: int,
    topic_id: bytes,
    changes: list[tuple[int, int]],
    cut: int,
    behind: bytes,
    budget: int,
) -> None:
    """Whole or damaged, cut short or with bytes behind, within the budget or beyond it."""
    data = bytearray(encode(common_request(cls, version, name, size, topic_id), version))
    for position, byte in changes:
        data[position % len(data)] = byte
    frame = memoryview(b"head" + data[: len(data) - cut] + behind)
    compiled = reader_source(cls, version, views=True).function("<compiled>")
    by_hand = hot.reader_of(cls, version, compiled)
    assert outcome(by_hand, frame, 4, budget) == outcome(compiled, frame, 4, budget)


@pytest.mark.parametrize(("cls", "version"), REQUESTS)
def test_no_single_byte_makes_a_difference(cls: type[Message], version: int) -> None:
    """Every byte of the common request and of an empty one, put to each value that means much."""
    compiled = reader_source(cls, version, views=True).function("<compiled>")
    by_hand = hot.reader_of(cls, version, compiled)
    for message in (common_request(cls, version, "topic", 5, IDS[1]), cls()):
        whole = encode(message, version)
        for position in range(len(whole)):
            for byte in (0, 1, 2, 3, 6, 127, 128, 255):
                changed = memoryview(whole[:position] + bytes((byte,)) + whole[position + 1 :])
                assert outcome(by_hand, changed, 0, 9) == outcome(compiled, changed, 0, 9)


@pytest.mark.parametrize(("cls", "version"), REQUESTS)
def test_a_reader_by_hand_reads_any_other_request_too(cls: type[Message], version: int) -> None:
    """Several topics, transactions, sessions, tagged fields."""
    compiled = reader_source(cls, version, views=True).function("<compiled>")
    by_hand = hot.reader_of(cls, version, compiled)
    for seed in range(30):
        message = random_message(cls, version, random.Random(seed), small=True)
        data = memoryview(encode(message, version))
        assert by_hand(data, 0, 1000) == (message, len(data))


@pytest.mark.parametrize(
    ("cls", "version"),
    [case for case in REQUESTS if case[0] is ProduceRequest or case[1] >= 13],
)
@pytest.mark.parametrize("size", SIZES[1:])
def test_the_common_request_is_read_by_hand(cls: type[Message], version: int, size: int) -> None:
    """Or the file would have no reason to be."""
    message = common_request(cls, version, "topic", size, IDS[1])
    data = memoryview(encode(message, version))
    assert hot.reader_of(cls, version, refuse)(data, 0, 2) == (message, len(data))


@pytest.mark.parametrize("version", range(9, 13))
def test_a_long_name_is_not_taken_for_a_short_one(version: int) -> None:
    """A length of two bytes, and behind it what would pass for the rest of the common shape."""
    part = PartitionProduceData(index=12, records=bytes(10))
    topic = TopicProduceData(name="x" * 126 + "\x02", partition_data=[part])
    message = ProduceRequest(acks=1, timeout_ms=1, topic_data=[topic])
    data = memoryview(encode(message, version))
    compiled = reader_source(ProduceRequest, version, views=True).function("<compiled>")
    assert hot.reader_of(ProduceRequest, version, compiled)(data, 0, 9) == (message, len(data))


@pytest.mark.parametrize("version", range(13, 19))
def test_a_fetch_that_changes_nothing_is_read_by_hand(version: int) -> None:
    """It is all that an incremental session sends while it waits."""
    message = FetchRequest(max_wait_ms=500, min_bytes=1, session_id=77, session_epoch=9)
    data = encode(message, version)
    assert hot.reader_of(FetchRequest, version, refuse)(data, 0, 0) == (message, len(data))


PRODUCE_PARTS = [
    PartitionProduceResponse(index=1, base_offset=2**40, log_start_offset=3),
    PartitionProduceResponse(index=1, error_code=87, log_append_time_ms=5),
    PartitionProduceResponse(error_message="no"),
    PartitionProduceResponse(record_errors=[BatchIndexAndErrorMessage(batch_index=1)]),
    PartitionProduceResponse(base_offset=2**63),
    PartitionProduceResponse(index="1"),  # type: ignore[arg-type]  # what a slip looks like
]
FETCH_PARTS = [
    PartitionData(partition_index=2, high_watermark=9, records=b"r" * 200),
    PartitionData(aborted_transactions=None, records=bytearray(b"r")),
    *(PartitionData(records=memoryview(b"r" * size)) for size in (125, 126, 127, 128)),
    PartitionData(records=b""),
    PartitionData(error_code=1, records=None),
    PartitionData(current_leader=LeaderIdAndEpoch(leader_id=1, leader_epoch=2), records=b"r"),
    PartitionData(diverging_epoch=EpochEndOffset(epoch=1, end_offset=2), records=b"r"),
    PartitionData(snapshot_id=SnapshotId(epoch=1, end_offset=2), records=b"r"),
    PartitionData(high_watermark=2**63, records=b"r"),
]


@pytest.mark.parametrize(("cls", "version"), RESPONSES)
@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("name", ["topic", "x" * 126, "x" * 127, "\ud800"])
@pytest.mark.parametrize("topic_id", [IDS[1], b"short"])
def test_a_writer_by_hand_does_what_the_compiled_one_does(
    cls: type[Message], version: int, count: int, name: str, topic_id: bytes
) -> None:
    """One part or several, plain or with anything set, right or wrong."""
    compiled = writer_source(cls, version).function("<compiled>")
    by_hand = hot.writer_of(cls, version, compiled)
    for message in _responses(cls, version, count, name, topic_id):
        assert joined(by_hand, message) == joined(compiled, message)


def joined(write: Callable[[Any, bytearray], list[Buffer]], message: Message) -> Any:
    found = outcome(write, message, bytearray(b"head"))
    return b"".join(found) if isinstance(found, list) else found


def _responses(
    cls: type[Message], version: int, count: int, name: str, topic_id: bytes
) -> Sequence[Message]:
    if cls is ProduceResponse:
        return [
            ProduceResponse(
                responses=[
                    TopicProduceResponse(
                        name=name, topic_id=topic_id, partition_responses=[part] * count
                    )
                ],
                throttle_time_ms=4,
            )
            for part in PRODUCE_PARTS
        ] + [ProduceResponse()]
    plain = [
        FetchResponse(
            responses=[
                FetchableTopicResponse(topic=name, topic_id=topic_id, partitions=[part] * count)
            ],
            throttle_time_ms=4,
            session_id=5 if version >= 7 else 0,
        )
        for part in FETCH_PARTS
    ]
    moved = FetchResponse(responses=plain[0].responses, node_endpoints=[NodeEndpoint(node_id=1)])
    return [*plain, moved, FetchResponse()]


@pytest.mark.parametrize("version", range(9, 14))
def test_the_common_produce_response_is_written_by_hand(version: int) -> None:
    """One partition, no complaint."""
    (message, *_) = _responses(ProduceResponse, version, 1, "topic", IDS[1])
    assert joined(hot.writer_of(ProduceResponse, version, refuse), message) == b"head" + encode(
        message, version
    )


@pytest.mark.parametrize("version", range(13, 19))
def test_the_common_fetch_response_is_written_by_hand(version: int) -> None:
    """One partition with records, which are not copied."""
    (message, *_) = _responses(FetchResponse, version, 1, "topic", IDS[1])
    parts = hot.writer_of(FetchResponse, version, refuse)(message, bytearray())
    assert b"".join(parts) == encode(message, version)
    assert parts[1] is FETCH_PARTS[0].records
