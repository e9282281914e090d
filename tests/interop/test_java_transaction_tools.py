"""Apache's own command-line tools on transactions: those of the broker and those of its files."""

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .client import Client, Record, Transactor
from .conftest import OpenClient
from .data import records
from .java_tools import (
    CONSOLE_CONSUMER,
    DUMP_LOG,
    FEATURES,
    GET_OFFSETS,
    PRODUCER_PERFORMANCE,
    TRANSACTIONS,
    Tool,
)
from .target import Target, target
from .toolchain import needed
from .waiting import eventually

pytestmark = pytest.mark.jvm

OLD = Record(value=b"open for long", partition=0, timestamp_ms=time.time_ns() // 10**6 - 3_600_000)
"""The tool looks at a record's timestamp, and lets five minutes pass above the limit."""
FIND_HANGING = ("find-hanging", "--broker-id", "1", "--max-transaction-timeout", "1")


@contextmanager
def _open(java: Client, topic: str) -> Iterator[Transactor]:
    """A transaction with ten records, open for the time of the block."""
    java.create_topic(topic, partitions=2)
    with java.transactor(f"id-{topic}") as transactor:
        transactor.begin()
        transactor.send(topic, records("open", 10, partition=0))
        yield transactor


def test_kafka_transactions_lists_and_describes(tool: Tool, java: Client, topic: str) -> None:
    name = f"id-{topic}"
    with _open(java, topic) as transactor:
        (listed,) = _listed(tool, name)
        assert (listed[1], listed[3]) == ("1", "Ongoing")
        head, row = tool(TRANSACTIONS, "describe", "--transactional-id", name).table()
        described = dict(zip(head, row, strict=True))
        assert described["TransactionState"] == "Ongoing"
        assert described["TopicPartitions"] == f"{topic}-0"
        assert described["TransactionTimeoutMs"] == "60000"
        transactor.commit()
    (complete,) = eventually(
        lambda: _listed(tool, name), lambda rows: rows[0][3] == "CompleteCommit"
    )
    assert complete[2] == listed[2]


def test_kafka_transactions_describes_an_open_transaction_in_its_partition(
    tool: Tool, java: Client, topic: str
) -> None:
    with _open(java, topic) as transactor:
        arguments = ("describe-producers", "--topic", topic, "--partition", "0")
        (producer,) = tool(TRANSACTIONS, *arguments).table()[1:]
        assert (producer[1], producer[3], producer[-1]) == ("0", "9", "0")
        transactor.abort()
    (producer,) = eventually(
        lambda: tool(TRANSACTIONS, *arguments).table()[1:], lambda rows: rows[0][-1] == "None"
    )
    assert (producer[1], producer[2]) == ("1", "0"), "epoch and coordinator's epoch"


def test_kafka_transactions_finds_nothing_that_hangs(tool: Tool, java: Client, topic: str) -> None:
    """Not even an old transaction that is open, while its coordinator knows it."""
    with _open(java, topic) as transactor:
        transactor.send(topic, [OLD])
        found = tool(TRANSACTIONS, *FIND_HANGING, "--topic", topic)
        assert len(found.lines) == 1, found
        transactor.commit()


def test_kafka_transactions_finds_what_hangs_and_ends_it(
    local_tool: Tool, open_client: OpenClient, tmp_path: Path
) -> None:
    """The coordinator has lost its log: nobody but the tool ends what lies in the topic."""
    system = target(tmp_path)
    needed(system.start)
    try:
        command = open_client("confluent-kafka").command[:-1]
        with Client("client", [*command, system.bootstrap]) as client:
            client.create_topic("stuck")
            transactor = client.transactor("gone")
            transactor.begin()
            transactor.send("stuck", [OLD])
            client.produce("stuck", records("behind", 3, partition=0))
            system.kill()
        for log in system.data_directory.glob("__transaction_state-*"):
            shutil.rmtree(log)
        system.start()
        where = ("--bootstrap-server", system.bootstrap)
        (row,) = local_tool(TRANSACTIONS, *where, *FIND_HANGING, "--topic", "stuck").table()[1:]
        assert row[:2] == ["stuck", "0"]
        abort = ("abort", "--topic", "stuck", "--partition", "0", "--start-offset", "0")
        ended = local_tool(TRANSACTIONS, *where, *abort)
        assert ended.status == 0, ended
        with Client("client", [*command, system.bootstrap]) as client:
            read = client.fetch("stuck", count=3, isolation="read_committed")
        assert [each.offset for each in read] == [1, 2, 3]
    finally:
        system.kill()


def test_kafka_transactions_aborts_by_start_offset(tool: Tool, java: Client, topic: str) -> None:
    """The tool has the marker written itself; readers behind it go on."""
    with _open(java, topic):
        java.produce(topic, records("behind", 5, partition=0))
        where = ("--topic", topic, "--partition", "0")
        tool(TRANSACTIONS, "abort", *where, "--start-offset", "0")
        read = java.fetch(topic, count=5, isolation="read_committed")
        assert [each.offset for each in read] == [10, 11, 12, 13, 14]


def test_kafka_features_takes_the_version_of_transactions_down_and_up(
    tool: Tool, java: Client, topic: str
) -> None:
    """Clients of both generations' transactions work at each level."""
    java.create_topic(topic)
    assert _transaction_version(tool) == ("0", "2", "2")
    sent = 0
    try:
        for level in ("1", "0"):
            tool(FEATURES, "downgrade", "--feature", f"transaction.version={level}")
            assert _transaction_version(tool)[2] == level
            sent += _transaction(java, topic, level)
    finally:
        tool(FEATURES, "upgrade", "--feature", "transaction.version=2")
    assert _transaction_version(tool)[2] == "2"
    sent += _transaction(java, topic, "2")
    assert len(java.fetch(topic, count=sent, isolation="read_committed")) == sent


def test_kafka_dump_log_decodes_our_transactions_topic(
    tool: Tool, local_tool: Tool, java: Client, topic: str, broker: Target
) -> None:
    """Every state of a transaction lies in __transaction_state in Kafka's own records."""
    with _open(java, topic) as transactor:
        transactor.commit()
    eventually(lambda: _listed(tool, f"id-{topic}")[0][3] == "CompleteCommit")
    logs = sorted(broker.data_directory.glob("__transaction_state-*/*.log"))
    text = "".join(
        local_tool(DUMP_LOG, "--files", str(log), "--transaction-log-decoder").output
        for log in logs
        if log.stat().st_size
    )
    mine = [line for line in text.splitlines() if f"id-{topic}" in line]
    states = [re.findall(r'"producerEpoch":(\d+),.*"transactionStatus":(\d+)', m) for m in mine]
    empty, ongoing, prepare_commit, complete_commit = "0", "1", "2", "4"
    assert [pair for found in states for pair in found] == [
        *(("0", empty), ("0", ongoing), ("1", prepare_commit), ("1", complete_commit))
    ]
    assert all('"clientTransactionVersion":2' in line for line in mine[1:])


def test_kafka_dump_log_shows_our_markers(
    local_tool: Tool, java: Client, topic: str, broker: Target
) -> None:
    with _open(java, topic) as transactor:
        transactor.commit()
        transactor.begin()
        transactor.send(topic, records("gone", 3, partition=0))
        transactor.abort()
    eventually(lambda: java.offsets(topic).end == 15)
    log = broker.data_directory / f"{topic}-0" / "00000000000000000000.log"
    dumped = local_tool(DUMP_LOG, "--files", str(log), "--print-data-log")
    assert re.findall(r"endTxnMarker: (\w+) coordinatorEpoch: (\d+)", dumped.output) == [
        *(("COMMIT", "0"), ("ABORT", "0"))
    ]
    batches = [line for line in dumped.lines if line.startswith("baseOffset:")]
    assert all("isTransactional: true" in line for line in batches)
    assert all(line.endswith("isvalid: true") for line in batches)


def test_kafka_dump_log_decodes_positions_of_transactions(
    local_tool: Tool, java: Client, topic: str, group: str, broker: Target
) -> None:
    with _open(java, topic) as transactor:
        transactor.send_position(group, topic, 0, 7)
        transactor.commit()
    eventually(lambda: java.committed(group, topic) == 7)
    logs = sorted(broker.data_directory.glob("__consumer_offsets-*/*.log"))
    text = "".join(
        local_tool(DUMP_LOG, "--files", str(log), "--offsets-decoder").output
        for log in logs
        if log.stat().st_size
    )
    assert re.search(rf'"group":"{group}".*"topic":"{topic}","partition":0.*"offset":7', text)


def test_kafka_get_offsets_counts_markers(tool: Tool, java: Client, topic: str) -> None:
    with _open(java, topic) as transactor:
        transactor.commit()
    eventually(lambda: java.offsets(topic).end == 11)
    for moment, expected in [
        ("latest", f"{topic}:0:11"),
        ("earliest", f"{topic}:0:0"),
        ("earliest-local", f"{topic}:0:0"),
        ("max-timestamp", f"{topic}:0:10"),
    ]:
        found = tool(GET_OFFSETS, "--topic-partitions", f"{topic}:0", "--time", moment).lines
        assert found == [expected], moment
    for moment in ("latest-tiered", "earliest-pending-upload"):
        found = tool(GET_OFFSETS, "--topic-partitions", f"{topic}:0", "--time", moment).lines
        assert found == [], moment


def test_the_console_consumer_reads_committed_records_alone(
    tool: Tool, java: Client, topic: str
) -> None:
    with _open(java, topic) as transactor:
        transactor.abort()
        transactor.begin()
        transactor.send(topic, records("kept", 4, partition=0))
        transactor.commit()
    options = ("--topic", topic, "--from-beginning", "--timeout-ms", "3000")
    shown = tool(
        CONSOLE_CONSUMER,
        *options,
        "--isolation-level",
        "read_committed",
        "--formatter-property",
        "print.offset=true",
    )
    offsets = re.findall(r"^Offset:(\d+)", shown.output, re.MULTILINE)
    assert offsets == ["11", "12", "13", "14"]


def test_the_performance_tool_runs_transactions(tool: Tool, java: Client, topic: str) -> None:
    java.create_topic(topic)
    size = ("--num-records", "2000", "--record-size", "100", "--throughput", "2000")
    ids = ("--transactional-id", f"perf-{topic}", "--transaction-duration-ms", "200")
    produced = tool(PRODUCER_PERFORMANCE, "--topic", topic, *size, *ids)
    assert produced.lines[-1].startswith("2000 records sent")
    assert len(java.fetch(topic, count=2000, isolation="read_committed")) == 2000
    assert java.offsets(topic).end > 2003


def _listed(tool: Tool, transactional_id: str) -> list[list[str]]:
    rows = tool(TRANSACTIONS, "list").table()[1:]
    return [row for row in rows if row[0] == transactional_id]


def _transaction_version(tool: Tool) -> tuple[str, ...]:
    """Lowest and highest level that the broker knows, and the one in force."""
    found = re.search(
        r"Feature: transaction.version\s+SupportedMinVersion: (\d)\s+SupportedMaxVersion: (\d)\s+"
        r"FinalizedVersionLevel: (\d)",
        tool(FEATURES, "describe").output,
    )
    assert found is not None
    return found.groups()


def _transaction(java: Client, topic: str, seed: str) -> int:
    with java.transactor(f"id-{topic}") as transactor:
        transactor.begin()
        transactor.send(topic, records(seed, 5, partition=0))
        transactor.commit()
    return 5
