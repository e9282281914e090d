"""What every client must get from a broker: one story, told by each client in its own module.

A module per client subclasses ``ClientContract`` and names its client; a client that lacks an
ability says so (``Client.lacks``), and the test that needs it is left out with that word.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest

from .client import Acks, Client, Codec, Member, Record, Refused, Strategy
from .conftest import OpenClient
from .contract_transactions import TransactionContract
from .data import fancy_headers, noise, partition_of, records
from .waiting import eventually

UNKNOWN = -1
OFFSET_OUT_OF_RANGE = 1
UNKNOWN_TOPIC_OR_PARTITION = 3
MESSAGE_TOO_LARGE = 10
INVALID_TOPIC = 17
INVALID_TIMESTAMP = 32
TOPIC_ALREADY_EXISTS = 36
INVALID_PARTITIONS = 37
INVALID_CONFIG = 40
NON_EMPTY_GROUP = 68
GROUP_ID_NOT_FOUND = 69
INVALID_RECORD = 87

HOUR_MS = 3_600_000


class ClientContract(TransactionContract):
    """Subclasses set ``client_name``; pytest runs the tests of the subclasses only."""

    client_name = ""

    @pytest.fixture
    def client(self, open_client: OpenClient) -> Client:
        return open_client(self.client_name)

    # Topics

    def test_a_new_topic_has_its_partitions_and_configs(self, client: Client, topic: str) -> None:
        """CreateTopics, then Metadata and DescribeConfigs tell what was asked for."""
        client.create_topic(topic, partitions=3, configs={"retention.ms": "86400000"})
        assert eventually(lambda: _partition_count(client, topic)) == 3
        configs = client.describe_configs(topic)
        assert configs["retention.ms"] == "86400000"
        assert configs["cleanup.policy"] == "delete"

    def test_a_topic_is_not_created_twice(self, client: Client, topic: str) -> None:
        client.create_topic(topic)
        _refused(TOPIC_ALREADY_EXISTS, lambda: client.create_topic(topic))

    @pytest.mark.parametrize("name", ["a/b", "..", "x" * 250], ids=["slash", "dots", "long"])
    def test_a_bad_topic_name_is_refused(self, client: Client, name: str) -> None:
        _refused(INVALID_TOPIC, lambda: client.create_topic(name))

    def test_an_unknown_topic_is_reported(self, client: Client, topic: str) -> None:
        """Neither asking for it nor trying to delete it creates it."""
        _refused(UNKNOWN_TOPIC_OR_PARTITION, lambda: client.partition_count(topic))
        _refused(UNKNOWN_TOPIC_OR_PARTITION, lambda: client.delete_topic(topic))

    def test_producing_to_an_unknown_topic_creates_it(self, client: Client, topic: str) -> None:
        """auto.create.topics.enable and num.partitions at Kafka's defaults: one partition."""
        (placed,) = client.produce(topic, [Record(key=b"k", value=b"v")])
        assert (placed.partition, placed.offset) == (0, 0)
        assert client.partition_count(topic) == 1

    def test_a_topic_deleted_and_created_again_is_empty(self, client: Client, topic: str) -> None:
        client.create_topic(topic)
        client.produce(topic, records("old", 20, partition=0))
        client.delete_topic(topic)
        eventually(lambda: _partition_count(client, topic) is None)
        client.create_topic(topic)
        eventually(lambda: _partition_count(client, topic) == 1)
        sent = records("new", 5, partition=0)
        assert [each.offset for each in client.produce(topic, sent)] == [0, 1, 2, 3, 4]
        assert _contents(client.fetch(topic, count=5)) == _contents(sent)

    def test_partitions_are_added_and_used(self, client: Client, topic: str) -> None:
        """They only ever grow in number; the new ones start at offset 0."""
        client.create_topic(topic, partitions=1)
        client.add_partitions(topic, partitions=3)
        eventually(lambda: _partition_count(client, topic) == 3)
        sent = records("grown", 10, partition=2)
        assert client.produce(topic, sent)[0].offset == 0
        assert _contents(client.fetch(topic, 2, count=10)) == _contents(sent)
        _refused(INVALID_PARTITIONS, lambda: client.add_partitions(topic, partitions=2))

    def test_topic_configs_change_and_go_back(self, client: Client, topic: str) -> None:
        client.create_topic(topic, configs={"retention.ms": "1000000"})
        client.alter_configs(topic, {"retention.ms": "2000000"})
        eventually(lambda: client.describe_configs(topic)["retention.ms"] == "2000000")
        _needs(client, "unset_config")
        client.alter_configs(topic, {"retention.ms": None})
        eventually(lambda: client.describe_configs(topic)["retention.ms"] == "604800000")

    @pytest.mark.parametrize("bad", [("retention.ms", "soon"), ("no.such.config", "1")])
    def test_a_bad_config_is_refused(
        self, client: Client, topic: str, bad: tuple[str, str]
    ) -> None:
        client.create_topic(topic)
        name, value = bad
        _refused(INVALID_CONFIG, lambda: client.alter_configs(topic, {name: value}))

    # Records

    @pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
    def test_records_survive_every_codec(self, client: Client, topic: str, codec: Codec) -> None:
        """Keys, values, nulls, headers and timestamps come back byte for byte, offsets dense."""
        if codec not in client.codecs:
            pytest.skip(f"{client.version} has no {codec} here")
        client.create_topic(topic)
        sent = records(codec, 300, partition=0)
        placed = client.produce(topic, sent, codec=codec)
        assert [each.offset for each in placed] == list(range(300))
        received = client.fetch(topic, count=300)
        assert received == sent
        assert [each.offset for each in received] == list(range(300))

    @pytest.mark.parametrize("acks", ["0", "1", "all"])
    def test_records_arrive_whatever_the_producer_waits_for(
        self, client: Client, topic: str, acks: Acks
    ) -> None:
        client.create_topic(topic)
        sent = records(acks, 50, partition=0)
        placed = client.produce(topic, sent, acks=acks)
        expected = [-1] * 50 if acks == "0" else list(range(50))
        assert [each.offset for each in placed] == expected
        assert client.fetch(topic, count=50) == sent

    def test_an_idempotent_producer_is_served(self, client: Client, topic: str) -> None:
        """InitProducerId, then sequences; a second producer starts its own."""
        client.create_topic(topic)
        sent = records("idempotent", 400, partition=0)
        client.produce(topic, sent[:200], idempotent=True)
        client.produce(topic, sent[200:], idempotent=True, codec="gzip")
        assert client.fetch(topic, count=400) == sent

    def test_headers_may_repeat_and_be_empty_or_null(self, client: Client, topic: str) -> None:
        _needs(client, "repeated_headers")
        client.create_topic(topic)
        headers = fancy_headers(null_header="null_header" not in client.lacks)
        client.produce(topic, [Record(key=b"k", value=b"v", headers=headers, partition=0)])
        (received,) = client.fetch(topic, count=1)
        assert received.headers == headers

    def test_a_key_goes_where_murmur2_sends_it(self, client: Client, topic: str) -> None:
        """The same partition for the same key from every client: joins depend on it."""
        client.create_topic(topic, partitions=7)
        eventually(lambda: _partition_count(client, topic) == 7)
        keys = [f"key-{number}".encode() for number in range(60)]
        keys += [noise(str(size), size) for size in range(1, 12)]
        placed = client.produce(topic, [Record(key=key, value=b"v") for key in keys])
        assert [each.partition for each in placed] == [partition_of(key, 7) for key in keys]

    def test_a_large_record_passes(self, client: Client, topic: str) -> None:
        """900 KB of noise: below max.message.bytes and above most buffers on the way."""
        client.create_topic(topic)
        sent = [Record(key=b"large", value=noise("large", 900_000), partition=0)]
        client.produce(topic, sent)
        assert _contents(client.fetch(topic, count=1)) == _contents(sent)

    def test_a_record_above_the_limit_is_refused(self, client: Client, topic: str) -> None:
        """MESSAGE_TOO_LARGE, nothing stored; raising max.message.bytes lets it pass."""
        client.create_topic(topic)
        large = [Record(key=b"k", value=noise("too large", 1_200_000), partition=0)]
        _refused(MESSAGE_TOO_LARGE, lambda: client.produce(topic, large))
        assert client.offsets(topic).end == 0
        client.alter_configs(topic, {"max.message.bytes": "2000000"})
        eventually(lambda: client.describe_configs(topic)["max.message.bytes"] == "2000000")
        client.produce(topic, large)
        assert _contents(client.fetch(topic, count=1)) == _contents(large)

    def test_a_compacted_topic_wants_keys(self, client: Client, topic: str) -> None:
        client.create_topic(topic, configs={"cleanup.policy": "compact"})
        keyless = [Record(value=b"nobody's", partition=0)]
        code = UNKNOWN if "error_codes_above_85" in client.lacks else INVALID_RECORD
        _refused(code, lambda: client.produce(topic, keyless))
        client.produce(topic, [Record(key=b"k", value=None, partition=0)])
        assert client.offsets(topic).end == 1

    def test_a_timestamp_far_ahead_is_refused(self, client: Client, topic: str) -> None:
        """message.timestamp.after.max.ms is an hour; the past is not limited."""
        client.create_topic(topic, configs={"retention.ms": "-1"})
        now_ms = records("now", 1)[0].timestamp_ms
        assert now_ms is not None
        ahead = Record(value=b"v", partition=0, timestamp_ms=now_ms + 3 * HOUR_MS)
        _refused(INVALID_TIMESTAMP, lambda: client.produce(topic, [ahead]))
        client.produce(topic, [Record(value=b"v", partition=0, timestamp_ms=1)])
        assert client.fetch(topic, count=1)[0].timestamp_ms == 1

    def test_the_broker_stamps_records_where_the_topic_asks(
        self, client: Client, topic: str
    ) -> None:
        """message.timestamp.type=LogAppendTime: what the producer says is overwritten."""
        client.create_topic(topic, configs={"message.timestamp.type": "LogAppendTime"})
        sent = records("append time", 30, partition=0)
        client.produce(topic, sent, codec="gzip")
        received = client.fetch(topic, count=30)
        assert _contents(received) == _contents(sent)
        _needs(client, "append_time")
        stamps = [each.timestamp_ms or 0 for each in received]
        assert min(stamps) > max(each.timestamp_ms or 0 for each in sent)
        assert stamps == sorted(stamps)
        assert len(set(stamps)) < 30, "one for each batch, not for each record"

    # Offsets

    def test_offsets_are_found_by_time(self, client: Client, topic: str) -> None:
        """The first record as late as the time or later; none behind the last."""
        client.create_topic(topic)
        sent = records("time", 100, partition=0)
        client.produce(topic, sent[:50])
        client.produce(topic, sent[50:], codec="gzip")
        first_ms = sent[0].timestamp_ms
        assert first_ms is not None
        for after_ms, expected in [(-1, 0), (0, 0), (1, 1), (49, 49), (50, 50), (99, 99)]:
            found = client.offset_for_time(topic, 0, timestamp_ms=first_ms + after_ms)
            assert found == expected, f"{after_ms} ms after the first record"
        assert client.offset_for_time(topic, 0, timestamp_ms=first_ms + 100) is None

    def test_reading_starts_in_the_middle_of_a_batch(self, client: Client, topic: str) -> None:
        client.create_topic(topic)
        sent = records("middle", 100, partition=0)
        client.produce(topic, sent, codec="gzip")
        received = client.fetch(topic, start_offset=63, count=37)
        assert [each.offset for each in received] == list(range(63, 100))
        assert received == sent[63:]

    def test_an_offset_out_of_range_is_reported(self, client: Client, topic: str) -> None:
        """Above the end and below the start; the end itself is in range and waits."""
        _needs(client, "out_of_range")
        client.create_topic(topic)
        client.produce(topic, records("range", 10, partition=0))
        client.delete_records(topic, 0, before_offset=4)
        for offset in (3, 11):
            with pytest.raises(Refused) as refused:
                client.fetch(topic, start_offset=offset, count=1)
            assert refused.value.code == OFFSET_OUT_OF_RANGE, offset
        assert client.fetch(topic, start_offset=10, count=1, timeout_ms=300) == []

    def test_deleted_records_are_gone(self, client: Client, topic: str) -> None:
        client.create_topic(topic)
        sent = records("deleted", 20, partition=0)
        client.produce(topic, sent)
        assert client.delete_records(topic, 0, before_offset=7) == 7
        offsets = client.offsets(topic)
        assert (offsets.start, offsets.end) == (7, 20)
        assert client.fetch(topic, start_offset=7, count=13) == sent[7:]
        _refused(OFFSET_OUT_OF_RANGE, lambda: client.delete_records(topic, 0, before_offset=21))

    # Groups

    def test_a_group_resumes_where_it_committed(
        self, client: Client, topic: str, group: str
    ) -> None:
        """The second life of a group reads what the first did not commit, and nothing else."""
        client.create_topic(topic)
        sent = records("resume", 60, partition=0)
        client.produce(topic, sent[:40])
        first = client.join(group, [topic])
        _read(first, 40)
        first.commit()
        assert eventually(lambda: client.committed(group, topic)) == 40
        first.leave()
        client.produce(topic, sent[40:])
        second = client.join(group, [topic])
        _read(second, 20)
        assert second.records == sent[40:]
        second.leave()

    def test_members_share_the_partitions(self, client: Client, topic: str, group: str) -> None:
        """A second member takes half, a third a third; who leaves hands over at once."""
        client.create_topic(topic, partitions=6)
        members = [client.join(group, [topic])]
        _balanced(members, topic, 6)
        for count in (2, 3):
            members.append(client.join(group, [topic]))
            _balanced(members, topic, 6)
            assert {len(each.assignment) for each in members} == {6 // count}
        _produce_and_read(client, topic, members, "three")
        for member in members:
            member.commit()
        members.pop(0).leave()
        _balanced(members, topic, 6)
        _produce_and_read(client, topic, members, "two")
        for member in members:
            member.leave()

    def test_a_crashed_member_is_replaced(self, client: Client, topic: str, group: str) -> None:
        """Its partitions move when its session is over; what it read uncommitted is read again."""
        client.create_topic(topic, partitions=4)
        survivor = client.join(group, [topic])
        with client.another() as doomed_client:
            doomed = doomed_client.join(group, [topic])
            _balanced([survivor, doomed], topic, 4)
            _produce_and_read(client, topic, [survivor, doomed], "before")
            survivor.commit()
            doomed_client.kill()
        _balanced([survivor], topic, 4)
        lost = Counter(each.content for each in doomed.records)
        eventually(lambda: Counter(each.content for each in survivor.refresh().records) >= lost)
        _produce_and_read(client, topic, [survivor], "after")
        survivor.leave()

    def test_cooperative_members_keep_what_they_hold(
        self, client: Client, topic: str, group: str
    ) -> None:
        """A newcomer gets partitions without anybody letting go of all of its own."""
        _needs(client, "cooperative")
        client.create_topic(topic, partitions=6)
        strategy: Strategy = "cooperative-sticky"
        first = client.join(group, [topic], strategy=strategy)
        _balanced([first], topic, 6)
        second = client.join(group, [topic], strategy=strategy)
        _balanced([first, second], topic, 6)
        assert (len(first.assignment), len(second.assignment)) == (3, 3)
        _produce_and_read(client, topic, [first, second], "cooperative")
        held = first.history[first.history.index(_all_partitions(topic, 6)) :]
        assert all(first.assignment <= each for each in held), held
        second.leave()
        _balanced([first], topic, 6)
        first.leave()

    def test_a_static_member_comes_back_unnoticed(
        self, client: Client, topic: str, group: str
    ) -> None:
        """Killed and started again within its session, it finds its partitions where it left
        them, and the other member never loses any (KIP-345)."""
        _needs(client, "static")
        client.create_topic(topic, partitions=4)
        stays = client.join(group, [topic], instance_id="stays", session_timeout_ms=20_000)
        with client.another() as former_client:
            former = former_client.join(
                group, [topic], instance_id="returns", session_timeout_ms=20_000
            )
            _balanced([stays, former], topic, 4)
            former_client.kill()
        with client.another() as later_client:
            later = later_client.join(
                group, [topic], instance_id="returns", session_timeout_ms=20_000
            )
            stays.history.clear()
            eventually(lambda: later.refresh().assignment == former.assignment)
            _produce_and_read(client, topic, [stays, later], "static")
            assert stays.history == [_all_partitions(topic, 4) - former.assignment]
            assert client.describe_group(group).members == 2
            later.leave()
        stays.leave()

    def test_a_group_is_listed_described_and_deleted(
        self, client: Client, topic: str, group: str
    ) -> None:
        """While it has members it cannot be deleted; afterwards its offsets are gone too."""
        client.create_topic(topic)
        client.produce(topic, records("group", 5, partition=0))
        member = client.join(group, [topic])
        _read(member, 5)
        member.commit()
        assert group in client.groups()
        described = client.describe_group(group)
        assert (described.state, described.members) == ("STABLE", 1)
        assert described.assignor == ("range" if "range" not in client.lacks else _eager(client))
        if "delete_group" not in client.lacks:
            _refused(NON_EMPTY_GROUP, lambda: client.delete_group(group))
        member.leave()
        described = eventually(lambda: client.describe_group(group), lambda g: g.state == "EMPTY")
        assert described.members == 0
        _needs(client, "delete_group")
        client.delete_group(group)
        assert group not in client.groups()
        assert client.committed(group, topic) is None
        _refused(GROUP_ID_NOT_FOUND, lambda: client.delete_group(group))


def _needs(client: Client, ability: str) -> None:
    if ability in client.lacks:
        pytest.skip(f"{client.version} lacks {ability}")


def _refused(code: int, act: Callable[[], object]) -> None:
    with pytest.raises(Refused) as refused:
        act()
    assert refused.value.code == code, refused.value


def _contents(some: Sequence[Record]) -> list[object]:
    return [each.content for each in some]


def _partition_count(client: Client, topic: str) -> int | None:
    try:
        return client.partition_count(topic)
    except Refused as refused:
        if refused.code == UNKNOWN_TOPIC_OR_PARTITION:
            return None
        raise


def _all_partitions(topic: str, count: int) -> frozenset[tuple[str, int]]:
    return frozenset((topic, partition) for partition in range(count))


def _eager(client: Client) -> str:
    return {"kafkajs": "RoundRobinAssigner", "platformatic": "roundrobin"}[client.name]


def _read(member: Member, count: int) -> None:
    eventually(lambda: len(member.refresh().records) >= count)


def _balanced(members: Sequence[Member], topic: str, count: int) -> None:
    """Wait until every partition has one owner and every member has its fair share."""

    def fair() -> bool:
        held = [member.refresh().assignment for member in members]
        sizes = [len(each) for each in held]
        owned = frozenset[tuple[str, int]]().union(*held)
        return (
            owned == _all_partitions(topic, count)
            and sum(sizes) == count
            and max(sizes) - min(sizes) <= 1
        )

    try:
        eventually(fair)
    except AssertionError as error:
        raise AssertionError(f"not balanced: {members!r}") from error


def _produce_and_read(client: Client, topic: str, members: Sequence[Member], seed: str) -> None:
    """New records on every partition reach the member that holds it, once and in order."""
    sent: list[Record] = []
    for _, partition in sorted(
        frozenset[tuple[str, int]]().union(*(m.assignment for m in members))
    ):
        sent += records(f"{seed}-{partition}", 20, partition=partition)
    for member in members:
        member.records.clear()
    client.produce(topic, sent)
    if "single_delivery" in client.lacks:
        eventually(lambda: _received(members) >= set(sent))
        assert _received(members) == set(sent)
        return
    eventually(lambda: sum(len(member.refresh().records) for member in members) >= len(sent))
    received = [record for member in members for record in member.records]
    assert Counter(received) == Counter(sent)
    for member in members:
        by_partition = sorted(member.records, key=lambda each: each.partition or 0)
        assert all(
            (a.offset or 0) < (b.offset or 0)
            for a, b in pairwise(by_partition)
            if a.partition == b.partition
        )


def _received(members: Sequence[Member]) -> set[Record]:
    return {record for member in members for record in member.refresh().records}
