"""What every client must get from transactions: its own module tells this story too."""

import itertools
from collections.abc import Callable

import pytest

from .client import FETCH_TIMEOUT_MS, Client, DriverFailed, Record, Refused, Transactor
from .conftest import OpenClient
from .data import records
from .waiting import eventually

QUIET_MS = 700
"""How long a reader waits for what must not come."""
SHORT_TIMEOUT_MS = 1_000


class TransactionContract:
    """Subclasses set ``client_name``; pytest runs the tests of the subclasses only."""

    client_name = ""

    @pytest.fixture
    def client(self, open_client: OpenClient) -> Client:
        return open_client(self.client_name)

    def test_records_are_committed_together(self, client: Client, topic: str) -> None:
        """Over two partitions: nobody who reads committed sees one of them before all."""
        client.create_topic(topic, partitions=2)
        first, second = records("a", 20, partition=0), records("b", 20, partition=1)
        with client.transactor(f"id-{topic}") as transactor:
            transactor.begin()
            transactor.send(topic, [*first, *second])
            assert _committed(client, topic, quiet=True) == []
            assert _values(client.fetch(topic, count=20)) == _values(first)
            transactor.commit()
        assert _committed(client, topic, count=20) == _values(first)
        assert _committed(client, topic, 1, count=20) == _values(second)

    def test_aborted_records_are_never_read_as_committed(self, client: Client, topic: str) -> None:
        client.create_topic(topic)
        gone, kept = records("gone", 15, partition=0), records("kept", 15, partition=0)
        with client.transactor(f"id-{topic}") as transactor:
            transactor.begin()
            transactor.send(topic, gone)
            transactor.abort()
            transactor.begin()
            transactor.send(topic, kept)
            transactor.commit()
        assert _committed(client, topic, count=15) == _values(kept)
        assert _values(client.fetch(topic, count=30)) == _values([*gone, *kept])

    def test_many_transactions_of_one_producer(self, client: Client, topic: str) -> None:
        """Every third one is aborted; a newer client's epoch grows with each."""
        _needs(client, "several_aborted")
        client.create_topic(topic, partitions=2)
        kept: list[Record] = []
        with client.transactor(f"id-{topic}") as transactor:
            for number in range(12):
                batch = records(f"t{number}", 3, partition=0)
                transactor.begin()
                transactor.send(topic, batch)
                if number % 3 == 0:
                    transactor.abort()
                else:
                    transactor.commit()
                    kept += batch
        assert _committed(client, topic, count=len(kept)) == _values(kept)

    def test_an_open_transaction_holds_back_what_is_behind_it(
        self, client: Client, topic: str
    ) -> None:
        """Two producers in one partition: the last stable offset waits for the first of them."""
        client.create_topic(topic)
        slow, quick = records("slow", 5, partition=0), records("quick", 5, partition=0)
        with client.transactor(f"1-{topic}") as one, client.transactor(f"2-{topic}") as other:
            one.begin()
            one.send(topic, slow)
            other.begin()
            other.send(topic, quick)
            other.commit()
            assert _committed(client, topic, quiet=True) == []
            one.abort()
        assert _committed(client, topic, count=5) == _values(quick)

    def test_a_position_is_committed_with_the_records(
        self, client: Client, topic: str, group: str
    ) -> None:
        _needs(client, "transactional_positions")
        client.create_topic(topic)
        with client.transactor(f"id-{topic}") as transactor:
            for offset, end in ((3, Transactor.commit), (9, Transactor.abort)):
                transactor.begin()
                transactor.send(topic, records(str(offset), 2, partition=0))
                transactor.send_position(group, topic, 0, offset)
                end(transactor)
        assert client.committed(group, topic) == 3

    def test_copying_is_exactly_once(self, client: Client, topic: str, group: str) -> None:
        """Consume, transform, produce: half of the transactions fail and are done again."""
        _needs(client, "transactional_positions")
        target = f"{topic}-copy"
        client.create_topic(topic)
        client.create_topic(target)
        source = records("source", 40, partition=0)
        client.produce(topic, source)
        member = client.join(group, [topic])
        eventually(lambda: len(member.refresh().records), lambda read: read >= 40)
        with client.transactor(f"id-{topic}") as transactor:
            for start, attempt in itertools.product(range(0, 40, 10), ("fails", "works")):
                read = member.records[start : start + 10]
                transactor.begin()
                transactor.send(target, [_copied(each) for each in read])
                transactor.send_position(group, topic, 0, start + 10, member=member)
                if attempt == "fails":
                    transactor.abort()
                else:
                    transactor.commit()
        member.leave()
        assert _committed(client, target, count=40) == [_copied(each).value for each in source]
        assert client.committed(group, topic) == 40

    def test_a_zombie_is_fenced(self, client: Client, topic: str) -> None:
        """Who takes a transactional id ends the open transaction of who had it."""
        _needs(client, "taking_over")
        client.create_topic(topic)
        zombie = client.transactor(f"id-{topic}")
        zombie.begin()
        zombie.send(topic, records("zombie", 5, partition=0))
        with client.transactor(f"id-{topic}") as heir:
            heir.begin()
            heir.send(topic, records("heir", 5, partition=0))
            _fails(zombie.commit)
            heir.commit()
        zombie.close()
        assert _committed(client, topic, count=5) == _values(records("heir", 5))

    def test_a_transaction_times_out(self, client: Client, topic: str) -> None:
        """What it wrote is aborted, nobody behind it waits longer, its commit fails."""
        _needs(client, "taking_over")
        client.create_topic(topic)
        forgotten = client.transactor(f"id-{topic}", timeout_ms=SHORT_TIMEOUT_MS)
        forgotten.begin()
        forgotten.send(topic, records("forgotten", 5, partition=0))
        plain = records("plain", 5, partition=0)
        client.produce(topic, plain)
        assert _committed(client, topic, count=5) == _values(plain)
        _fails(forgotten.commit)
        forgotten.close()
        with client.transactor(f"id-{topic}") as transactor:
            transactor.begin()
            transactor.send(topic, plain)
            transactor.commit()
        assert _committed(client, topic, count=10) == _values([*plain, *plain])


class CopyContract:
    """For clients that send positions of nothing but what they consumed themselves."""

    def test_a_client_copies_exactly_once_by_itself(
        self, client: Client, open_client: OpenClient, topic: str, group: str
    ) -> None:
        """Half of the transactions are aborted and done again. librdkafka reads the copy: not every
        client hides several aborted transactions of a producer."""
        client.create_topic(topic)
        client.create_topic(f"{topic}-copy")
        source = records("source", 40, partition=0)
        client.produce(topic, source)
        copied = client.call(
            "copy",
            transactional_id=f"id-{topic}",
            group=group,
            topic=topic,
            target=f"{topic}-copy",
            count=40,
        )
        assert copied == 40
        reader = open_client("confluent-kafka")
        read = reader.fetch(f"{topic}-copy", count=41, timeout_ms=2_000, isolation="read_committed")
        assert [each.value for each in read] == [_copied(each).value for each in source]
        assert client.committed(group, topic) == 40


def _committed(
    client: Client, topic: str, partition: int = 0, *, count: int = 1, quiet: bool = False
) -> list[bytes | None]:
    """Values that a reader of committed records gets."""
    timeout_ms = QUIET_MS if quiet else FETCH_TIMEOUT_MS
    return _values(
        client.fetch(
            topic, partition, count=count, timeout_ms=timeout_ms, isolation="read_committed"
        )
    )


def _values(read: list[Record]) -> list[bytes | None]:
    return [each.value for each in read]


def _copied(read: Record) -> Record:
    return Record(key=read.key, value=b"copy of " + (read.value or b""), partition=0)


def _needs(client: Client, ability: str) -> None:
    if ability in client.lacks:
        pytest.skip(f"{client.version} lacks {ability}")


def _fails(act: Callable[[], object]) -> None:
    """Clients tell the end of a producer in their own words, most without Kafka's code."""
    with pytest.raises((Refused, DriverFailed)):
        act()
