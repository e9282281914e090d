"""KAFKA-17754: a request that arrives after its transaction must not touch the next one.

The schedule: a client's EndTxn gets stuck on the way. The client gives the connection up, asks
again on a new one, is answered, and begins its next transaction. Then the first EndTxn arrives, on
its old connection. With the same producer id and epoch it would end the next transaction in the
middle. Version 2 of transactions raises the epoch with each end (KIP-890), so the late request is
fenced; for clients of version 1 our coordinators tell by the connection. Apache Kafka does not:
there the tests of version 1 are expected to fail, which shows that the schedules are the right
ones.

Raw frames of both versions, and librdkafka as it is.
"""

import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition

from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.apis import API_BY_KEY, decode_response
from headwater.core_log.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnResponse
from headwater.core_log.protocol.messages.create_topics import CreateTopicsResponse
from headwater.core_log.protocol.messages.end_txn import EndTxnResponse
from headwater.core_log.testing.process import HOST, free_port
from headwater.core_log.testing.proxy import FaultProxy, Held
from headwater.core_log.testing.requests import create_topic

from ..interop.target import TARGET_NAME, Target
from ..interop.waiting import eventually
from .raw_producer import VERSION_1, VERSION_2, RawProducer
from .transactions.node import node as node_behind
from .wire import Raw

pytestmark = [pytest.mark.chaos, pytest.mark.slow]

ADD_PARTITIONS: Final = 24
END_TXN: Final = 26
TXN_OFFSET_COMMIT: Final = 28
SECONDS: Final = 20.0
PARTITION_COUNT: Final = 2
NOT_YET: Final = (
    *(ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.NOT_COORDINATOR),
    *(ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
)
"""While the transaction before is being ended, or a topic is new: clients ask again."""

has_hole = pytest.mark.xfail(
    TARGET_NAME == "kafka", reason="KAFKA-17754 is open for version 1", strict=True
)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Target, FaultProxy]]:
    port = free_port()
    with FaultProxy((HOST, port), seed=17754) as proxy:
        directory: Path = tmp_path_factory.mktemp("late")
        broker = node_behind(TARGET_NAME, directory, port=port, advertised=proxy.bootstrap)
        broker.start()
        yield broker, proxy
        broker.kill()


@pytest.fixture
def broker(places: tuple[Target, FaultProxy]) -> Target:
    return places[0]


@pytest.fixture
def proxy(places: tuple[Target, FaultProxy]) -> Iterator[FaultProxy]:
    yield places[1]
    places[1].heal()


@pytest.fixture
def topic(request: pytest.FixtureRequest, broker: Target) -> str:
    name = "".join(each if each.isalnum() else "-" for each in request.node.name)
    with Raw(broker.bootstrap) as connection:
        wanted = create_topic(name, partitions=PARTITION_COUNT)
        created = connection.ask(wanted, CreateTopicsResponse, 5)
        assert [each.error_code for each in created.topics] == [0]
    return name


@pytest.fixture
def producer(
    request: pytest.FixtureRequest, proxy: FaultProxy, topic: str
) -> Iterator[RawProducer]:
    opened = RawProducer(proxy.bootstrap, topic, request.param)
    yield opened
    opened.close()


def until_served(act: Callable[[], ErrorCode]) -> None:
    assert eventually(act, lambda code: code not in NOT_YET) == ErrorCode.NONE


BOTH: Final = [
    pytest.param(VERSION_1, id="version-1", marks=has_hole),
    pytest.param(VERSION_2, id="version-2"),
]


@pytest.mark.parametrize("producer", BOTH, indirect=True)
@pytest.mark.parametrize("committed", [True, False], ids=["commit", "abort"])
def test_a_late_end_does_not_end_the_next_transaction(
    producer: RawProducer, proxy: FaultProxy, broker: Target, topic: str, *, committed: bool
) -> None:
    """It is refused; the next transaction ends as its client wants, in all its partitions."""
    producer.begin_anew()
    until_served(lambda: producer.add_partition(0))
    until_served(lambda: producer.produce(0, "first"))
    held = proxy.hold(END_TXN, cuts_client=True)
    producer.send(producer.ending(committed=committed), producer.versions.end_txn)
    held.wait_until_caught(SECONDS)
    producer.reconnect()
    until_served(lambda: producer.end(committed=committed))

    until_served(lambda: producer.add_partition(0))
    until_served(lambda: producer.produce(0, "second, one half"))
    held.release()
    code = code_of_end(held, transaction_version=producer.versions.transaction)
    assert code not in (None, ErrorCode.NONE)

    until_served(lambda: producer.add_partition(1))
    until_served(lambda: producer.produce(1, "second, other half"))
    until_served(lambda: producer.end(committed=not committed))
    seen = values_read(broker, topic)
    expected = {"first"} if committed else {"second, one half", "second, other half"}
    assert seen == expected


@has_hole
@pytest.mark.parametrize("producer", [VERSION_1], ids=["version-1"], indirect=True)
def test_a_late_addition_opens_no_transaction_that_nobody_ends(
    producer: RawProducer, proxy: FaultProxy, broker: Target, topic: str
) -> None:
    """After its transaction it is refused; readers at read_committed get to the end."""
    producer.begin_anew()
    held = proxy.hold(ADD_PARTITIONS, cuts_client=True)
    producer.send(producer.adding(0), version=3)
    held.wait_until_caught(SECONDS)
    producer.reconnect()
    until_served(lambda: producer.add_partition(0))
    until_served(lambda: producer.produce(0, "first"))
    until_served(lambda: producer.end(committed=True))
    assert values_read(broker, topic) == {"first"}
    held.release()
    answer = held.answer(SECONDS)
    assert answer is not None
    _, response = decode_response(API_BY_KEY[ADD_PARTITIONS], 3, answer)
    assert isinstance(response, AddPartitionsToTxnResponse)
    (result,) = response.results_by_topic_v3_and_below
    assert result.results_by_partition[0].partition_error_code != ErrorCode.NONE


@pytest.mark.parametrize("producer", BOTH, indirect=True)
def test_a_late_offset_does_not_replace_that_of_the_next_transaction(
    producer: RawProducer, proxy: FaultProxy, broker: Target, topic: str
) -> None:
    """The group goes on from where the newest transaction says."""
    producer.begin_anew()
    until_served(producer.add_offsets)
    held = proxy.hold(TXN_OFFSET_COMMIT, cuts_client=True)
    producer.send(producer.committing(1), producer.versions.offset_commit)
    held.wait_until_caught(SECONDS)
    producer.reconnect()
    until_served(lambda: producer.commit_offset(1))
    until_served(lambda: producer.end(committed=True))

    until_served(producer.add_offsets)
    until_served(lambda: producer.commit_offset(2))
    held.release()
    held.answer(SECONDS)
    until_served(lambda: producer.end(committed=True))
    assert offset_committed(broker, topic) == 2


@has_hole
def test_librdkafka_is_not_torn_by_its_own_late_end(
    proxy: FaultProxy, broker: Target, topic: str
) -> None:
    """The same with a client that is used: it retries by itself, and notices nothing."""
    client = Producer(
        {
            "bootstrap.servers": proxy.bootstrap,
            "transactional.id": topic,
            "reconnect.backoff.ms": 10,
            "reconnect.backoff.max.ms": 100,
            "linger.ms": 0,
        }
    )
    client.init_transactions(SECONDS)
    client.begin_transaction()
    client.produce(topic, "first", partition=0)
    client.flush(SECONDS)
    held = proxy.hold(END_TXN, cuts_client=True)
    client.commit_transaction(SECONDS)
    held.wait_until_caught(0)

    client.begin_transaction()
    client.produce(topic, "second, one half", partition=0)
    client.flush(SECONDS)
    held.release()
    assert code_of_end(held, transaction_version=1) not in (None, ErrorCode.NONE)
    client.produce(topic, "second, other half", partition=1)
    client.flush(SECONDS)
    client.abort_transaction(SECONDS)
    assert values_read(broker, topic) == {"first"}


def code_of_end(held: Held, *, transaction_version: int) -> ErrorCode | None:
    """What the broker said to the late EndTxn; None when it only closed the connection."""
    answer = held.answer(SECONDS)
    if answer is None:
        return None
    (version,) = struct.unpack_from(">h", held.request, 2)
    assert (version >= 5) == (transaction_version == 2), "the version that the test is about"
    _, response = decode_response(API_BY_KEY[END_TXN], version, answer)
    assert isinstance(response, EndTxnResponse)
    return ErrorCode(response.error_code)


def values_read(broker: Target, topic: str) -> set[str]:
    """All that a fresh read_committed reader sees, to the ends of the log.

    Raises AssertionError when it does not get there: a transaction is open.
    """
    reader = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "late",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    partitions = range(PARTITION_COUNT)
    reader.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in partitions])
    left = set(partitions)
    values = set()
    deadline = time.monotonic() + SECONDS
    while left:
        assert time.monotonic() < deadline, f"partitions {left} have no end"
        message = reader.poll(0.1)
        if message is None:
            continue
        error = message.error()
        if error is None:
            values.add((message.value() or b"").decode())
        elif error.code() == KafkaError._PARTITION_EOF:
            left.discard(message.partition() or 0)
    reader.close()
    return values


def offset_committed(broker: Target, topic: str) -> int:
    """The group's offset of partition 0, when no transaction has it pending."""
    reader = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": topic})
    (found,) = reader.committed([TopicPartition(topic, 0)], SECONDS)
    reader.close()
    return int(found.offset)
