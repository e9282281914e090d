"""Attacks from the network: what each meets, and that nobody else notices.

Numbers are those of the table of attacks in the design pages: 1 length prefixes, 2 counts that
lie, 3 many small elements, 4 decompression bombs, 5 batches that lie, 6 slow and greedy
connections, 16 names.
"""

import struct
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import cramjam
import lz4.frame
import pytest
import zstandard

from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.kernel.limits import DECODE_ELEMENTS_MAX
from headwater.core_log.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from headwater.core_log.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from headwater.core_log.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from headwater.core_log.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from headwater.core_log.records.batch import HEADER_BYTES, read_batch, seal
from headwater.core_log.records.compression import Codec
from headwater.core_log.records.record import NewRecord, build_batch

from ..interop.target import TARGET_NAME, Target, target
from ..interop.waiting import eventually
from .wire import Raw, framed, head, is_serving, resident_bytes

pytestmark = pytest.mark.chaos

MIB = 2**20
CLOSE_SECONDS = 5.0
METADATA, API_VERSIONS = 3, 18
OURS = TARGET_NAME == "headwater"
"""Memory is asked of our broker only: a JVM's heap says nothing about one request."""


class Memory:
    """Growth of the node's resident memory since the start of a test."""

    def __init__(self, node: Target) -> None:
        self._pid = node.pid
        self._before = resident_bytes(self._pid)

    def assert_grew_less_than(self, bytes_max: int) -> None:
        grown = resident_bytes(self._pid) - self._before
        assert not OURS or grown < bytes_max, f"{grown / MIB:.1f} MiB more"


@pytest.fixture
def memory(node: Target, neighbour: Raw) -> Memory:
    return Memory(node)


# -- 1: length prefixes -------------------------------------------------------------------------


@pytest.mark.parametrize("length", [2**31 - 1, 100 * MIB + 1, 0, -1, -(2**31)])
def test_a_length_that_no_request_has_closes_the_connection(
    length: int, attacker: Raw, memory: Memory
) -> None:
    """Attack 1: the prefix is judged before anything is allocated for it."""
    attacker.send(struct.pack(">i", length) + b"x" * 100)
    assert attacker.is_closed(timeout_seconds=CLOSE_SECONDS)
    memory.assert_grew_less_than(MIB)


def test_a_large_length_claims_no_memory_before_its_bytes_come(
    node: Target, memory: Memory
) -> None:
    """Attack 1: twenty requests of 100 MiB announced, none sent."""
    if not OURS:
        pytest.skip("Kafka allocates on the word of the prefix, and ends for want of heap")
    with ExitStack() as connections:
        for _ in range(20):
            connection = connections.enter_context(Raw(node.bootstrap))
            connection.send(struct.pack(">i", 100 * MIB) + head(0, 9, is_flexible=True))
        memory.assert_grew_less_than(24 * MIB)  # a megabyte ahead of the data, each


# -- 2: counts that lie -------------------------------------------------------------------------

FLEXIBLE = head(METADATA, 12, is_flexible=True)
PLAIN = head(METADATA, 1, is_flexible=False)

LIES = {
    "array longer than the request": PLAIN + struct.pack(">i", 2**31 - 1),
    "array of -2": PLAIN + struct.pack(">i", -2),
    "string longer than the request": PLAIN + struct.pack(">ih", 1, 2**15 - 1),
    "null string in an array of names": PLAIN + struct.pack(">ih", 1, -1),
    "string of -2": PLAIN + struct.pack(">ih", 1, -2),
    "compact array of 2^32 - 1": FLEXIBLE + b"\xff\xff\xff\xff\x0f",
    "varint of six bytes": FLEXIBLE + b"\xff\xff\xff\xff\xff\x01",
    "varint without end": FLEXIBLE + b"\x80" * 100,
    "compact string longer than the request": FLEXIBLE + b"\x02" + bytes(16) + b"\xff\xff\x03",
    "tag count of 2^32 - 1": FLEXIBLE + b"\x01\x00\x00\xff\xff\xff\xff\x0f",
    "tag longer than the request": FLEXIBLE + b"\x01\x00\x00\x01\x05\xff\xff\xff\x0f",
    "tags in the header without end": head(METADATA, 12, is_flexible=False) + b"\xff\xff\xff\x0f",
    "client id longer than the request": struct.pack(">hhih", METADATA, 1, 1, 2**15 - 1),
    "client id of -2": struct.pack(">hhih", METADATA, 1, 1, -2) + bytes(4),
    "header cut short": struct.pack(">hh", METADATA, 1),
    "name that is not UTF-8": PLAIN + struct.pack(">ih", 1, 2) + b"\xff\xfe",
    "body cut short": PLAIN,
    "API key that does not exist": struct.pack(">hhih", 12_345, 0, 1, -1),
    "API key below zero": struct.pack(">hhih", -1, 0, 1, -1),
    "version nobody serves": struct.pack(">hhih", METADATA, 99, 1, -1) + bytes(8),
    "version below zero": struct.pack(">hhih", METADATA, -1, 1, -1) + bytes(8),
}


KAFKA_TAKES = {
    "array of -2": "as null",
    "client id of -2": "as null",
    "tag count of 2^32 - 1": "as none",
    "name that is not UTF-8": "with replacement characters",
    "bytes behind the batch": "as the start of a batch that was cut short",
}
"""Where ours is stricter than Kafka, and what Kafka makes of it."""


@pytest.mark.parametrize("lie", LIES)
def test_a_request_that_lies_about_its_sizes_closes_the_connection(
    lie: str, attacker: Raw, memory: Memory
) -> None:
    """Attack 2: a count is compared with what is left before anything is made of it."""
    _skip_what_kafka_takes(lie)
    attacker.send(framed(LIES[lie]))
    assert attacker.is_closed(timeout_seconds=CLOSE_SECONDS)
    memory.assert_grew_less_than(MIB)


def test_bytes_that_are_no_protocol_at_all_close_the_connection(
    attacker: Raw, memory: Memory
) -> None:
    """A web browser that found the port: its first four letters are a length of a gigabyte."""
    attacker.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert attacker.is_closed(timeout_seconds=CLOSE_SECONDS)


# -- 3: many small elements ---------------------------------------------------------------------


@pytest.mark.parametrize("count", [DECODE_ELEMENTS_MAX + 1, 2_000_000])
def test_a_request_of_many_tiny_elements_meets_the_element_budget(
    count: int, node: Target, attacker: Raw, memory: Memory
) -> None:
    """Attack 3: two bytes on the wire become a hundred in memory, so elements are counted."""
    if not OURS:
        pytest.skip("Kafka has no element budget")
    attacker.send(framed(PLAIN + struct.pack(">i", count) + b"\0\0" * count))
    assert attacker.is_closed(timeout_seconds=CLOSE_SECONDS)
    memory.assert_grew_less_than(48 * MIB)


# -- 4: decompression bombs ---------------------------------------------------------------------

BOMB_BYTES = 256 * MIB


def _bomb(codec: Codec) -> bytes:
    """A records section that unpacks to 256 MiB of zeros."""
    block = bytes(MIB)
    match codec:
        case Codec.GZIP:
            packer = zlib.compressobj(6, zlib.DEFLATED, 31)
            parts = [packer.compress(block) for _ in range(BOMB_BYTES // MIB)]
            return b"".join([*parts, packer.flush()])
        case Codec.ZSTD:
            zstd = zstandard.ZstdCompressor().compressobj()
            parts = [zstd.compress(block) for _ in range(BOMB_BYTES // MIB)]
            return b"".join([*parts, zstd.flush()])
        case Codec.LZ4:
            lz4_packer = lz4.frame.LZ4FrameCompressor(block_size=lz4.frame.BLOCKSIZE_MAX4MB)
            parts = [lz4_packer.begin()]
            parts += [lz4_packer.compress(block) for _ in range(BOMB_BYTES // MIB // 2)]
            return b"".join([*parts, lz4_packer.flush()])
        case _:
            return bytes(cramjam.snappy.compress_raw(bytes(16 * MIB)))


def _bomb_batch(codec: Codec) -> bytes:
    """A sealed batch that says it holds one record and holds a bomb."""
    batch = bytearray(_one_record(compression=codec))[:HEADER_BYTES] + _bomb(codec)
    struct.pack_into(">i", batch, 8, len(batch) - 12)
    seal(read_batch(batch))
    return bytes(batch)


def _xerial_lie() -> bytes:
    """Snappy as Java frames it, with a chunk that says it has two gigabytes (CVE-2023-34455)."""
    magic = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
    batch = bytearray(_one_record(compression=Codec.SNAPPY))[:HEADER_BYTES]
    batch += magic + struct.pack(">i", 2**31 - 1) + b"x" * 100
    struct.pack_into(">i", batch, 8, len(batch) - 12)
    seal(read_batch(batch))
    return bytes(batch)


BOMBS: dict[str, Callable[[], bytes]] = {
    "gzip": lambda: _bomb_batch(Codec.GZIP),
    "snappy": lambda: _bomb_batch(Codec.SNAPPY),
    "lz4": lambda: _bomb_batch(Codec.LZ4),
    "zstd": lambda: _bomb_batch(Codec.ZSTD),
    "xerial chunk length": _xerial_lie,
}
REFUSALS = {
    ErrorCode.CORRUPT_MESSAGE,
    ErrorCode.INVALID_RECORD,
    ErrorCode.MESSAGE_TOO_LARGE,
    ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
    ErrorCode.UNKNOWN_SERVER_ERROR,  # what Kafka answers where its decompressor fails
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_is_not_unpacked_where_nobody_must_look_inside(
    bomb: Callable[[], bytes], attacker: Raw, memory: Memory
) -> None:
    """Attack 4: batches are stored as they came; the bomb is refused or stays packed."""
    topic = _topic(attacker, "max.message.bytes=8000000")
    _produce(attacker, topic, bomb())
    memory.assert_grew_less_than(64 * MIB)


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_is_refused_where_the_broker_must_unpack_it(
    bomb: Callable[[], bytes], attacker: Raw, memory: Memory
) -> None:
    """Attack 4: a topic with a codec of its own unpacks, up to a bound."""
    topic = _topic(attacker, "max.message.bytes=8000000", "compression.type=uncompressed")
    assert _produce(attacker, topic, bomb()) in REFUSALS
    assert _end_offset(attacker, topic) == 0
    memory.assert_grew_less_than(96 * MIB)


# -- 5: batches that lie ------------------------------------------------------------------------


def _one_record(*, compression: Codec = Codec.NONE) -> bytearray:
    record = NewRecord(timestamp_ms=int(time.time() * 1000), key=b"k", value=b"v")
    return build_batch([record, record, record], compression=compression)


def _lie(layout: str, position: int, value: int, *, is_sealed: bool = True) -> bytes:
    """A good batch of three records with one field changed, its checksum made to fit."""
    batch = _one_record()
    view = read_batch(batch)
    struct.pack_into(layout, batch, position, value)
    if is_sealed:
        seal(view)
    return bytes(batch)


BASE_OFFSET, LENGTH, MAGIC, CRC, ATTRIBUTES, LAST_DELTA = 0, 8, 16, 17, 21, 23
MAX_TIMESTAMP, PRODUCER_ID, PRODUCER_EPOCH, SEQUENCE, COUNT = 35, 43, 51, 53, 57
IN_A_YEAR_MS = int(time.time() * 1000) + 365 * 86_400_000

BATCH_LIES: dict[str, bytes] = {
    "base offset": _lie(">q", BASE_OFFSET, 2**62),
    "checksum": _lie(">I", CRC, 0xDEADBEEF, is_sealed=False),
    "no records": _lie(">i", COUNT, 0),
    "more records than there are": _lie(">i", COUNT, 4),
    "two billion records": _lie(">i", COUNT, 2**31 - 1),
    "a negative number of records": _lie(">i", COUNT, -1),
    "last offset too high": _lie(">i", LAST_DELTA, 1_000),
    "last offset too low": _lie(">i", LAST_DELTA, 0),
    "last offset below zero": _lie(">i", LAST_DELTA, -1),
    "control batch from a client": _lie(">h", ATTRIBUTES, 0x20),
    "codec that does not exist": _lie(">h", ATTRIBUTES, 5),
    "length beyond the bytes": _lie(">i", LENGTH, 10_000),
    "length short of the bytes": _lie(">i", LENGTH, 60),
    "length of zero": _lie(">i", LENGTH, 0),
    "length below zero": _lie(">i", LENGTH, -1),
    "format 0": _lie(">b", MAGIC, 0),
    "format 1": _lie(">b", MAGIC, 1),
    "format 3": _lie(">b", MAGIC, 3),
    "two batches": bytes(_one_record() * 2),
    "bytes behind the batch": bytes(_one_record()) + b"\0",
    "batch cut short": bytes(_one_record())[:-1],
    "header cut short": bytes(_one_record())[:40],
    "nothing": b"",
    "sequence without producer": _lie(">q", PRODUCER_ID, 1_000_000),
}


@pytest.mark.parametrize("lie", BATCH_LIES)
def test_a_batch_that_lies_is_refused_and_the_log_unchanged(
    lie: str, attacker: Raw, memory: Memory
) -> None:
    """Attack 5: CORRUPT_MESSAGE or INVALID_RECORD, and the next good batch gets offset 0."""
    _skip_what_kafka_takes(lie)
    topic = _topic(attacker)
    refusal = _produce(attacker, topic, BATCH_LIES[lie])
    assert refusal in {*REFUSALS, ErrorCode.INVALID_REQUEST}
    assert _end_offset(attacker, topic) == 0
    assert _produce(attacker, topic, bytes(_one_record())) is ErrorCode.NONE
    assert _end_offset(attacker, topic) == 3
    memory.assert_grew_less_than(4 * MIB)


@pytest.mark.parametrize(
    "timestamp_ms", [2**63 - 1, IN_A_YEAR_MS], ids=["the last moment", "in a year"]
)
def test_a_timestamp_beyond_the_topics_bound_is_refused(timestamp_ms: int, attacker: Raw) -> None:
    """Attack 5: a record of the far future would keep its segment for ever."""
    topic = _topic(attacker, "message.timestamp.after.max.ms=3600000")
    batch = build_batch([NewRecord(timestamp_ms=timestamp_ms, value=b"v")])
    assert _produce(attacker, topic, bytes(batch)) is ErrorCode.INVALID_TIMESTAMP
    assert _end_offset(attacker, topic) == 0


# -- 6: slow and greedy connections -------------------------------------------------------------


def test_a_thousand_idle_connections_cost_little(node: Target, memory: Memory) -> None:
    """Attack 6: a connection that says nothing has no buffer."""
    with ExitStack() as connections:
        for _ in range(1_000):
            connections.enter_context(Raw(node.bootstrap))
        last = connections.enter_context(Raw(node.bootstrap))
        assert is_serving(last)
        memory.assert_grew_less_than(16 * MIB)


def test_answers_that_nobody_reads_do_not_pile_up(
    node: Target, attacker: Raw, memory: Memory
) -> None:
    """Attack 6: when a peer leaves answers unread, its next requests are left unread too."""
    request = attacker.encode(MetadataRequest(topics=None), 12)
    flood = request * (64 * MIB // len(request))
    taken = attacker.send_some(flood, timeout_seconds=2.0)
    assert taken < len(flood)
    memory.assert_grew_less_than(32 * MIB)


def test_a_request_left_unfinished_is_given_up(tmp_path: Path) -> None:
    """Attack 6: half-open, half-sent and silent connections end after the idle time."""
    with _node(tmp_path, "connections.max.idle.ms=1000") as node, ExitStack() as connections:
        silent = connections.enter_context(Raw(node.bootstrap))
        half = connections.enter_context(Raw(node.bootstrap))
        half.send(struct.pack(">i", 1_000) + FLEXIBLE)
        prefix = connections.enter_context(Raw(node.bootstrap))
        prefix.send(b"\0\0")
        for connection in (silent, half, prefix):
            assert connection.is_closed(timeout_seconds=20)
        assert is_serving(connections.enter_context(Raw(node.bootstrap)))


def test_connections_from_one_address_are_bounded(tmp_path: Path) -> None:
    """Attack 6: the ones over the limit are refused, the ones below it served."""
    with _node(tmp_path, "max.connections.per.ip=20") as node, ExitStack() as connections:
        taken = [connections.enter_context(Raw(node.bootstrap)) for _ in range(10)]
        extra = [connections.enter_context(Raw(node.bootstrap)) for _ in range(30)]
        refused = [each for each in extra if each.is_closed(timeout_seconds=0.5)]
        assert len(refused) >= 20
        assert all(is_serving(connection) for connection in taken)


# -- 16: names ----------------------------------------------------------------------------------

BAD_NAMES = ["../x", "a/b", "/etc", "..", ".", "", "a\0b", "x" * 250, "a b", "ä", "a\nb", "a:b"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_topic_name_that_is_no_name_is_refused(name: str, node: Target, attacker: Raw) -> None:
    """Attack 16: INVALID_TOPIC from every door, and no file anywhere."""
    before = _files(node)
    assert _create(attacker, name) is ErrorCode.INVALID_TOPIC_EXCEPTION
    metadata = attacker.ask(
        MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=True),
        MetadataResponse,
        9,
    )
    assert metadata.topics[0].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    produced = _produce(attacker, name, bytes(_one_record()))
    assert produced in {
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert _files(node) == before


def test_names_that_differ_by_case_are_two_topics(attacker: Raw) -> None:
    """Attack 16: one may not be taken for the other."""
    name = _topic(attacker)
    assert _create(attacker, name.upper()) is ErrorCode.NONE
    assert _produce(attacker, name, bytes(_one_record())) is ErrorCode.NONE
    assert (_end_offset(attacker, name), _end_offset(attacker, name.upper())) == (3, 0)


def test_names_that_metrics_would_confuse_are_refused(attacker: Raw) -> None:
    """Attack 16: a period and an underscore are one in metrics, so Kafka refuses the second."""
    name = _topic(attacker)
    assert _create(attacker, f"{name}.a") is ErrorCode.NONE
    assert _create(attacker, f"{name}_a") is ErrorCode.INVALID_TOPIC_EXCEPTION


# -- what the tests share -----------------------------------------------------------------------


def _skip_what_kafka_takes(lie: str) -> None:
    if not OURS and lie in KAFKA_TAKES:
        pytest.skip(f"Kafka takes a {lie} {KAFKA_TAKES[lie]}")


@contextmanager
def _node(directory: Path, *settings: str) -> Iterator[Target]:
    """A started node with *settings* that the shared one must not have."""
    pairs = dict(setting.split("=", 1) for setting in settings)
    node = target(directory / "own", settings=pairs)
    node.start()
    try:
        yield node
    finally:
        node.kill()


def _topic(connection: Raw, *configs: str) -> str:
    name = f"bad-input-{time.monotonic_ns()}"
    assert _create(connection, name, *configs) is ErrorCode.NONE
    # Kafka answers before it has made the partition.
    eventually(lambda: _ends(connection, name).error_code, lambda code: code == ErrorCode.NONE)
    return name


def _create(connection: Raw, name: str, *configs: str) -> ErrorCode:
    pairs = [config.split("=", 1) for config in configs]
    topic = CreatableTopic(
        name=name,
        num_partitions=1,
        replication_factor=1,
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in pairs],
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
    response = connection.ask(request, CreateTopicsResponse, 5)
    return ErrorCode(response.topics[0].error_code)


def _produce(connection: Raw, topic: str, records: bytes) -> ErrorCode:
    partition = PartitionProduceData(index=0, records=records)
    request = ProduceRequest(
        acks=-1,
        timeout_ms=10_000,
        topic_data=[TopicProduceData(name=topic, partition_data=[partition])],
    )
    response = connection.ask(request, ProduceResponse, 9)
    return ErrorCode(response.responses[0].partition_responses[0].error_code)


def _end_offset(connection: Raw, topic: str) -> int:
    return _ends(connection, topic).offset


def _ends(connection: Raw, topic: str) -> ListOffsetsPartitionResponse:
    partition = ListOffsetsPartition(partition_index=0, timestamp=-1)
    request = ListOffsetsRequest(
        replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=[partition])]
    )
    response = connection.ask(request, ListOffsetsResponse, 6)
    return response.topics[0].partitions[0]


def _files(node: Target) -> set[str]:
    return {str(path) for path in node.data_directory.parent.glob("*/*") if path.is_dir()}
