"""What one client writes another reads, and what they share: partitions and groups."""

from collections import Counter

import pytest

from .client import Client, Member, Record
from .conftest import OpenClient
from .data import partition_of, records
from .waiting import eventually

pytestmark = [pytest.mark.jvm, pytest.mark.node, pytest.mark.go]

CLIENTS = [
    "confluent-kafka",
    "aiokafka",
    "kafka-python",
    "java",
    "franz-go",
    "kafkajs",
    "platformatic",
]


WRITERS_OF_FRAMED_SNAPPY = {"aiokafka", "kafka-python", "java"}
"""They wrap snappy in the frames of snappy-java; the others write one raw block."""


@pytest.fixture(params=CLIENTS)
def writer(request: pytest.FixtureRequest, open_client: OpenClient) -> Client:
    return open_client(request.param)


@pytest.fixture
def clients(open_client: OpenClient) -> list[Client]:
    return [open_client(name) for name in CLIENTS]


def test_everybody_reads_what_one_wrote(writer: Client, clients: list[Client], topic: str) -> None:
    """Every codec of the writer, every codec of the reader, byte for byte."""
    sent = {}
    for codec in writer.codecs:
        writer.create_topic(f"{topic}-{codec}")
        sent[codec] = records(f"{writer.name} {codec}", 40, partition=0)
        writer.produce(f"{topic}-{codec}", sent[codec], codec=codec, idempotent=codec == "gzip")
    for reader in clients:
        for codec in writer.codecs:
            if codec in reader.codecs and not _framed_snappy(writer, codec, reader):
                received = reader.fetch(f"{topic}-{codec}", count=40)
                assert received == sent[codec], f"{codec}, read by {reader.version}"


def test_everybody_appends_to_one_partition(clients: list[Client], topic: str) -> None:
    """Offsets stay dense and in the order of the producers, whoever's turn it is."""
    clients[0].create_topic(topic)
    sent: list[Record] = []
    for turn in range(3):
        for client in clients:
            new = records(f"{turn} {client.name}", 10, partition=0)
            placed = client.produce(topic, new, codec="gzip" if turn == 1 else "none")
            assert placed[0].offset == len(sent)
            sent += new
    received = clients[-1].fetch(topic, count=len(sent))
    assert received == sent
    assert [each.offset for each in received] == list(range(len(sent)))


def test_everybody_puts_a_key_on_the_same_partition(clients: list[Client], topic: str) -> None:
    clients[0].create_topic(topic, partitions=12)
    keys = [f"customer-{number}".encode() for number in range(50)]
    expected = [partition_of(key, 12) for key in keys]
    for client in clients:
        placed = client.produce(topic, [Record(key=key, value=b"v") for key in keys])
        assert [each.partition for each in placed] == expected, client.version


def test_members_of_many_makes_share_a_group(clients: list[Client], topic: str, group: str) -> None:
    """Whoever leads assigns by ``range``; every client understands every other's subscription."""
    ranging = [client for client in clients if "range" not in client.lacks]
    count = 2 * len(ranging)
    ranging[0].create_topic(topic, partitions=count)
    members: list[Member] = []
    for client in ranging:
        members.append(client.join(group, [topic]))
        eventually(lambda: sum(len(each.refresh().assignment) for each in members) == count)
    eventually(lambda: {len(each.refresh().assignment) for each in members} == {2})
    sent = [record for part in range(count) for record in records(f"{part}", 5, partition=part)]
    clients[0].produce(topic, sent)
    eventually(lambda: sum(len(each.refresh().records) for each in members) >= len(sent))
    assert Counter(r for member in members for r in member.records) == Counter(sent)
    for member in members:
        member.commit()
    while len(members) > 1:
        members.pop(0).leave()  # the leader of the group, as a rule
        eventually(lambda: sum(len(each.refresh().assignment) for each in members) == count)
    more = records("more", 20, partition=count - 1)
    clients[0].produce(topic, more)
    (last,) = members
    eventually(lambda: set(more) <= set(last.refresh().records))
    assert set(last.records) <= set(sent) | set(more)
    last.leave()


def test_an_offset_committed_by_one_is_found_by_all(
    clients: list[Client], topic: str, group: str
) -> None:
    clients[0].create_topic(topic)
    clients[0].produce(topic, records("shared", 9, partition=0))
    member = clients[0].join(group, [topic])
    eventually(lambda: len(member.refresh().records) == 9)
    member.commit()
    member.leave()
    for client in clients:
        assert client.committed(group, topic) == 9, client.version
        assert group in client.groups(), client.version


def _framed_snappy(writer: Client, codec: str, reader: Client) -> bool:
    """Whether the reader cannot read what the writer wrote, whatever broker lies between."""
    framed = codec == "snappy" and writer.name in WRITERS_OF_FRAMED_SNAPPY
    return framed and "framed_snappy" in reader.lacks
