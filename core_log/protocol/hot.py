"""Produce and Fetch by hand, for the shapes that a busy broker sees all day.

One partition in a request is what interactive producers and consumers send, thousands of times a
second. In that shape every length is known or short, so the whole fixed part is one ``struct``
call. Each function here takes the compiled codec of its class and version and gives back one that
tries the common shape first and leaves every other to the compiled one, errors included: what is
read or written is the same to the byte (a property in the tests), and there is one judge of what is
wrong with a message.

A reader here accepts only what it has checked to the last byte. The constants in the conditions are
the wire's: a count or length of n is the varint n + 1 in flexible versions, so 2 is *one element*,
1 *empty* and 0 *null* or *no tagged fields*.
"""

import struct
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from ..kernel.ids import ID_BYTES
from ..kernel.ports import Buffer
from .messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    LeaderIdAndEpoch,
    PartitionData,
    SnapshotId,
)
from .messages.produce import (
    LeaderIdAndEpoch as ProduceLeader,
)
from .messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from .primitives import VARINTS, write_uvarint
from .schema import Message

Reader: TypeAlias = Callable[[Any, int, int], tuple[Any, int]]
Writer: TypeAlias = Callable[[Any, bytearray], list[Buffer]]

_ELEMENTS_MIN: Final = 2
"""One topic with one partition costs this much of the element budget."""

_FETCH_TAIL_BYTES: Final = 3
"""Empty list of forgotten topics, empty rack, no tagged fields."""

_SHORT: Final = 127
"""Below this many bytes, a length is a varint of one byte."""

_UNWRITABLE: Final = (struct.error, TypeError, AttributeError, ValueError)

_NO_EPOCH: Final = EpochEndOffset()
_NO_LEADER: Final = LeaderIdAndEpoch()
_NO_SNAPSHOT: Final = SnapshotId()
_NO_PRODUCE_LEADER: Final = ProduceLeader()


def reader_of(cls: type[Message], version: int, compiled: Reader) -> Reader:
    """The reader to use in place of the compiled one; often that one itself."""
    if cls is ProduceRequest:
        if version >= 13:
            return _produce_request_by_id(compiled)
        return _produce_request_flexible(compiled) if version >= 9 else _produce_request(compiled)
    if cls is FetchRequest and version >= 13:
        return _fetch_request_by_id(compiled, current=version >= 15)
    return compiled


def writer_of(cls: type[Message], version: int, compiled: Writer) -> Writer:
    """The writer to use in place of the compiled one; often that one itself."""
    if cls is ProduceResponse and version >= 9:
        return _produce_response(compiled, by_id=version >= 13)
    if cls is FetchResponse and version >= 13:
        return _fetch_response(compiled)
    return compiled


def _produce_request(compiled: Reader) -> Reader:
    """Versions 3 to 8.

    ``[2 -1][2 acks][4 timeout][4 topics = 1][2 name][name][4 partitions = 1][4 index][4 records]``
    """
    head = struct.Struct(">hhiih")
    middle = struct.Struct(">iii")

    def read(b: memoryview, p: int, left: int) -> tuple[ProduceRequest, int]:
        size = len(b)
        if size - p >= head.size and left >= _ELEMENTS_MIN:
            transactional, acks, timeout_ms, topics, length = head.unpack_from(b, p)
            start = p + head.size
            at = start + length
            if transactional == -1 and topics == 1 and length >= 0 and at + middle.size <= size:
                partitions, index, records = middle.unpack_from(b, at)
                first = at + middle.size
                name = _name(b[start:at])
                if name and partitions == 1 and records >= 0 and first + records == size:
                    return _one_batch(acks, timeout_ms, name, index, b[first:]), size
        return compiled(b, p, left)

    return read


def _produce_request_flexible(compiled: Reader) -> Reader:
    """Versions 9 to 12.

    ``[1 null][2 acks][4 timeout][1 topics][1 name][name][1 partitions][4 index][1-5 records]``,
    the records, and three bytes that say *no tagged fields*.
    """
    head = struct.Struct(">BhiBB")
    middle = struct.Struct(">BiB")

    def read(b: memoryview, p: int, left: int) -> tuple[ProduceRequest, int]:
        size = len(b)
        if size - p >= head.size and left >= _ELEMENTS_MIN:
            transactional, acks, timeout_ms, topics, length = head.unpack_from(b, p)
            start = p + head.size
            at = start + length - 1
            if not transactional and topics == 2 and 0 < length < 128 and at + 6 <= size:
                partitions, index, byte = middle.unpack_from(b, at)
                first = at + middle.size
                if byte > 127:
                    first, byte = _length_behind(b, first, byte)
                end = first + byte - 1
                name = _name(b[start:at])
                if name and partitions == 2 and byte and end + 3 == size and not _tags(b, end):
                    return _one_batch(acks, timeout_ms, name, index, b[first:end]), size
        return compiled(b, p, left)

    return read


def _produce_request_by_id(compiled: Reader) -> Reader:
    """From version 13 on: as before with ``[16 topic id]`` in place of the name."""
    head = struct.Struct(">BhiB16sBiB")

    def read(b: memoryview, p: int, left: int) -> tuple[ProduceRequest, int]:
        size = len(b)
        first = p + head.size
        if first <= size and left >= _ELEMENTS_MIN:
            transactional, acks, timeout_ms, topics, topic_id, partitions, index, byte = (
                head.unpack_from(b, p)
            )
            if byte > 127:
                first, byte = _length_behind(b, first, byte)
            end = first + byte - 1
            if (
                not transactional
                and topics == 2
                and partitions == 2
                and byte > 0
                and end + 3 == size
                and not _tags(b, end)
            ):
                partition = PartitionProduceData(index=index, records=b[first:end])
                topic = TopicProduceData(topic_id=topic_id, partition_data=[partition])
                return ProduceRequest(
                    transactional_id=None, acks=acks, timeout_ms=timeout_ms, topic_data=[topic]
                ), size
        return compiled(b, p, left)

    return read


def _one_batch(
    acks: int, timeout_ms: int, name: str, index: int, records: memoryview
) -> ProduceRequest:
    partition = PartitionProduceData(index=index, records=records)
    topic = TopicProduceData(name=name, partition_data=[partition])
    return ProduceRequest(
        transactional_id=None, acks=acks, timeout_ms=timeout_ms, topic_data=[topic]
    )


def _name(data: memoryview) -> str | None:
    """A topic's name; None when it is not text, which the compiled reader will say properly."""
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        return None


def _length_behind(b: memoryview, at: int, byte: int) -> tuple[int, int]:
    """Where a varint ends whose first byte was taken, and its number; 0 for a malformed one."""
    number = byte & 127
    for group in range(1, 5):
        if at == len(b):
            return at, 0
        byte = b[at]
        at += 1
        number |= (byte & 127) << 7 * group
        if byte < 128:
            return at, number
    return at, 0


def _tags(b: memoryview, at: int) -> int:
    """Whether any of three bytes says that tagged fields follow."""
    return b[at] | b[at + 1] | b[at + 2]


def _fetch_request_by_id(compiled: Reader, *, current: bool) -> Reader:
    """From version 13 on; *current* from 15 on, where the replica id is a tagged field.

    ``[4 replica][4 wait][4 min][4 max][1 isolation][4 session][4 epoch][1 topics]`` and either the
    end of a request that changes nothing in its session, or one topic with one partition::

        [16 topic id][1 partitions][4 partition][4 leader epoch][8 offset][4 last epoch]
        [8 log start][4 max][1 tags][1 topic tags]
        [1 forgotten][1 rack][1 tags]
    """
    head = struct.Struct(">iiibiiB" if current else ">iiiibiiB")
    topic_part = struct.Struct(">16sBiiqiqiBB")

    def read(b: Any, p: int, left: int) -> tuple[FetchRequest, int]:
        size = len(b)
        at, end = p + head.size, size - _FETCH_TAIL_BYTES
        if at <= end and b[end] == 1 and b[end + 1] == 1 and b[end + 2] == 0:
            if current:
                replica_id = -1
                wait, least, most, isolation, session, epoch, count = head.unpack_from(b, p)
            else:
                replica_id, wait, least, most, isolation, session, epoch, count = head.unpack_from(
                    b, p
                )
            topics: list[FetchTopic] | None = None
            if count == 1 and at == end:
                topics = []
            elif count == 2 and at + topic_part.size == end and left >= _ELEMENTS_MIN:
                topics = _one_position(topic_part.unpack_from(b, at))
            if topics is not None:
                return FetchRequest(
                    replica_id=replica_id,
                    max_wait_ms=wait,
                    min_bytes=least,
                    max_bytes=most,
                    isolation_level=isolation,
                    session_id=session,
                    session_epoch=epoch,
                    topics=topics,
                ), size
        return compiled(b, p, left)

    return read


def _one_position(part: tuple[Any, ...]) -> list[FetchTopic] | None:
    """The topic in the bytes between head and tail; None unless it has the common shape."""
    topic_id, count, index, epoch, offset, last_epoch, log_start, bytes_max, tags, more = part
    if count != 2 or tags or more:
        return None
    partition = FetchPartition(
        partition=index,
        current_leader_epoch=epoch,
        fetch_offset=offset,
        last_fetched_epoch=last_epoch,
        log_start_offset=log_start,
        partition_max_bytes=bytes_max,
    )
    return [FetchTopic(topic_id=topic_id, partitions=[partition])]


def _produce_response(compiled: Writer, *, by_id: bool) -> Writer:
    """From version 9 on: one partition without anything to complain of.

    ``[1 topics][16 topic id, or 1 name and name][1 partitions]`` ``[4 index][2 error][8 offset]``
    ``[8 append time][8 log start][1 record errors][1 message][2 tags][4 throttle][1 tags]``
    """
    rest = "BihqqqBBBBiB"
    whole = struct.Struct(f">B16s{rest}").pack
    behind = struct.Struct(f">{rest}").pack

    def write(m: ProduceResponse, out: bytearray) -> list[Buffer]:
        answer = _one_answer(m)
        if answer is None:
            return compiled(m, out)
        topic, part = answer
        fields = (
            2, part.index, part.error_code, part.base_offset, part.log_append_time_ms,
            part.log_start_offset, 1, 0, 0, 0, m.throttle_time_ms, 0,
        )  # fmt: skip
        try:
            if by_id:
                if len(topic.topic_id) == ID_BYTES:
                    out += whole(2, topic.topic_id, *fields)
                    return [out]
            else:
                name = topic.name.encode()
                if len(name) < _SHORT:
                    out += b"\x02" + VARINTS[len(name) + 1] + name + behind(*fields)
                    return [out]
        except _UNWRITABLE:
            pass  # The compiled writer says which field it is.
        return compiled(m, out)

    return write


def _one_answer(m: ProduceResponse) -> tuple[TopicProduceResponse, PartitionProduceResponse] | None:
    """The only topic and partition of a response in which nothing else is set."""
    if len(m.responses) != 1 or m.node_endpoints != []:
        return None
    topic = m.responses[0]
    if len(topic.partition_responses) != 1:
        return None
    part = topic.partition_responses[0]
    if (
        part.error_message is not None
        or part.record_errors != []
        or part.current_leader != _NO_PRODUCE_LEADER
    ):
        return None
    return topic, part


def _fetch_response(compiled: Writer) -> Writer:
    """From version 13 on: one partition with records.

    ``[4 throttle][2 error][4 session][1 topics][16 topic id][1 partitions]`` ``[4 index][2 error]``
    ``[8 high watermark][8 last stable][8 log start][1 aborted][4 replica][1-5 records]``, the
    records, and three bytes that say *no tagged fields*.
    """
    head = struct.Struct(">ihiB16sBihqqqBi").pack

    def write(m: FetchResponse, out: bytearray) -> list[Buffer]:
        answer = _one_piece(m)
        if answer is None:
            return compiled(m, out)
        topic, part = answer
        records = part.records
        if records is None or len(topic.topic_id) != ID_BYTES:
            return compiled(m, out)
        try:
            begun = head(
                m.throttle_time_ms, m.error_code, m.session_id, 2, topic.topic_id, 2,
                part.partition_index, part.error_code, part.high_watermark,
                part.last_stable_offset, part.log_start_offset,
                0 if part.aborted_transactions is None else 1, part.preferred_read_replica,
            )  # fmt: skip
            size = len(records) + 1
            out += begun + (VARINTS[size] if size <= _SHORT else write_uvarint(size))
        except _UNWRITABLE:
            return compiled(m, out)  # It says which field it is.
        return [out, records, bytearray(3)]

    return write


def _one_piece(m: FetchResponse) -> tuple[FetchableTopicResponse, PartitionData] | None:
    """The only topic and partition of a response in which nothing unusual is set."""
    if len(m.responses) != 1 or m.node_endpoints != []:
        return None
    topic = m.responses[0]
    if len(topic.partitions) != 1:
        return None
    part = topic.partitions[0]
    if (
        part.aborted_transactions
        or part.diverging_epoch != _NO_EPOCH
        or part.current_leader != _NO_LEADER
        or part.snapshot_id != _NO_SNAPSHOT
    ):
        return None
    return topic, part
