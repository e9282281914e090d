"""``headwater transactions``: who has one open, and how to end it."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer

from headwater.core_log.testing.process import BrokerProcess

from .commands import Commands


@pytest.fixture
def open_producer(headwater: Commands) -> Iterator[Producer]:
    """A transaction of the id ``open-one`` with a record in both partitions of ``held``."""
    headwater("topics", "create", "held", "--partitions", "2")
    producer = Producer(
        {"bootstrap.servers": headwater.bootstrap, "transactional.id": "open-one", "log_level": 2}
    )
    producer.init_transactions(30)
    producer.begin_transaction()
    for partition in (0, 1):
        producer.produce("held", b"open", partition=partition)
    producer.flush(30)
    yield producer
    with suppress(KafkaException):  # where the test has ended it
        producer.abort_transaction(30)
    headwater("topics", "delete", "held", "--yes")


def test_an_open_transaction_from_all_sides(headwater: Commands, open_producer: Producer) -> None:
    """Its coordinator's view, and that of the partitions it holds back."""
    listed = headwater("transactions", "list", "--state", "ongoing", "--json").rows
    [row] = [row for row in listed if row["transactional_id"] == "open-one"]
    assert (row["coordinator"], row["state"]) == (1, "Ongoing")

    [described] = headwater("transactions", "describe", "open-one", "--json").rows
    assert described["partitions"] == ["held-0", "held-1"]
    assert described["producer_id"] == row["producer_id"]
    assert described["timeout_ms"] == 60_000
    assert 0 <= described["duration_ms"] < 60_000

    held = headwater("transactions", "producers", "held", "--open", "--json").rows
    assert [(each["partition"], each["start_offset"]) for each in held] == [(0, 0), (1, 0)]
    assert {each["producer_id"] for each in held} == {row["producer_id"]}
    [one] = headwater("transactions", "producers", "held", "-p", "1", "--json").rows
    assert one["partition"] == 1
    assert "held-0,held-1" in headwater("transactions", "describe", "open-one").out


def test_a_transaction_that_its_coordinator_knows_is_not_hanging(
    headwater: Commands, open_producer: Producer
) -> None:
    """However long it is open."""
    found = headwater("transactions", "find-hanging", "--topic", "held", "--max-timeout-ms", "0")
    assert found.out == "no transaction is hanging\n"


def test_a_transaction_that_its_coordinator_knows_is_not_aborted_in_one_place(
    headwater: Commands, open_producer: Producer
) -> None:
    """It would be torn; the way out ends all of it."""
    place = ("held", "--partition", "0", "--start-offset", "0")
    refused = headwater("transactions", "abort", *place, "--yes", code=1)
    assert "this transaction belongs to open-one" in refused.err
    assert len(headwater("transactions", "producers", "held", "--open", "--json").rows) == 2

    ended = headwater("produce", "held", "--transactional-id", "open-one", given="")
    assert ended.err == "0 records committed\n"
    assert headwater("transactions", "producers", "held", "--open", "--json").rows == []


def test_transactions_are_listed_by_what_is_asked(
    headwater: Commands, open_producer: Producer
) -> None:
    """By state, producer id, age and name."""

    def listed(*options: str) -> list[str]:
        rows = headwater("transactions", "list", "--json", *options).rows
        return [row["transactional_id"] for row in rows if row["transactional_id"] == "open-one"]

    [row] = headwater("transactions", "describe", "open-one", "--json").rows
    producer_id = row["producer_id"]
    assert listed("--producer-id", str(producer_id)) == ["open-one"]
    assert listed("--producer-id", str(producer_id + 1_000)) == []
    assert listed("--pattern", "open-.*") == ["open-one"]
    assert listed("--pattern", "closed-.*") == []
    assert listed("--state", "CompleteAbort") == []
    assert listed("--open-for-ms", "3600000") == []


def test_mistakes_are_told(headwater: Commands) -> None:
    """With the way out."""
    transactions = "transactions"
    unknown = headwater(transactions, "describe", "nobody", code=1)
    assert "no transactional id nobody; 'headwater transactions list'" in unknown.err
    assert "there is no topic none" in headwater(transactions, "producers", "none", code=1).err
    headwater("topics", "create", "calm")
    beyond = headwater(transactions, "producers", "calm", "--partition", "3", code=1)
    assert "calm has no partition 3; it has 1, from 0" in beyond.err
    place = ("calm", "--partition", "0", "--start-offset", "5")
    missing = headwater(transactions, "abort", *place, "--yes", code=1)
    assert "no open transaction begins at offset 5 of calm-0" in missing.err
    assert "producers calm --open" in missing.err
    secret = headwater(transactions, "list", "--client-config", "ssl.ca.location=/x", code=1)
    assert "ssl.ca.location cannot be used here" in secret.err
    pattern = headwater(transactions, "list", "--pattern", "(", code=1)
    assert "INVALID_REGULAR_EXPRESSION" in pattern.err


def test_produce_commits_all_lines_or_none(headwater: Commands) -> None:
    """A line that cannot be sent aborts what was sent before it."""
    headwater("topics", "create", "atomic")
    send = ("produce", "atomic", "--transactional-id", "lines", "--key-separator", ":")
    refused = headwater(*send, given="a:1\nb\n", code=1)
    assert "line 2 has no ':'" in refused.err
    assert "nothing was committed" in refused.err
    assert headwater(*send, given="a:2\nb:3\n").err == "2 records committed\n"
    assert headwater("consume", "atomic").out == "2\n3\n"
    assert "2\n3\n" in headwater("consume", "atomic", "--isolation", "read-uncommitted").out
    assert "needs --acks all" in headwater(*send, "--acks", "1", code=2).err


def test_consume_shows_open_records_only_when_asked(
    headwater: Commands, open_producer: Producer
) -> None:
    """read_committed is the default, as librdkafka has it; nobody has to wonder why it is empty."""
    committed = headwater("consume", "held")
    assert committed.out == ""
    assert "an open transaction holds back the last 2 offsets of held" in committed.err
    assert "'headwater transactions producers held --open'" in committed.err
    uncommitted = headwater("consume", "held", "--isolation", "read-uncommitted")
    assert (uncommitted.out, uncommitted.err) == ("open\nopen\n", "")
    assert headwater("consume", "held", "--partition", "0").err.count("the last 1 offsets") == 1


def test_a_hanging_transaction_is_found_and_ended(tmp_path: Path) -> None:
    """Here the coordinator has lost its own log: nobody but us will end what lies in the topic."""
    broker = BrokerProcess(tmp_path)
    broker.start()
    try:
        headwater = Commands(broker.bootstrap)
        headwater("topics", "create", "stuck")
        producer = Producer(
            {"bootstrap.servers": broker.bootstrap, "transactional.id": "gone", "log_level": 2}
        )
        producer.init_transactions(30)
        producer.begin_transaction()
        producer.produce("stuck", b"never committed")
        producer.flush(30)
        headwater("produce", "stuck", given="behind it\n")
        broker.kill()
        for log in broker.data_directory.glob("__transaction_state-*"):
            shutil.rmtree(log)
        broker.start()

        assert headwater("consume", "stuck").out == ""
        young = headwater("transactions", "find-hanging")
        assert young.out == "no transaction is hanging\n"
        find = ("transactions", "find-hanging", "--max-timeout-ms", "0")
        found = headwater(*find, "--json", code=1)
        [row] = found.rows
        assert (row["topic"], row["partition"], row["start_offset"]) == ("stuck", 0, 0)
        abort = ("transactions", "abort", "stuck", "--partition", "0", "--start-offset", "0")
        assert f"'headwater {' '.join(abort)}' ends it" in found.err

        assert "--yes aborts without asking" in headwater(*abort, code=2).err
        assert "aborted the transaction at offset 0 of stuck-0" in headwater(*abort, "--yes").out
        assert headwater(*find).out == "no transaction is hanging\n"
        assert headwater("consume", "stuck").out == "behind it\n"
    finally:
        broker.kill()
