"""Apache's own command-line tools, run in one JVM against the broker and its files."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from .client import Client, Record
from .data import records
from .java_tools import (
    ALL_GROUPS,
    API_VERSIONS,
    CLUSTER,
    CONFIGS,
    CONSOLE_CONSUMER,
    CONSOLE_PRODUCER,
    CONSUMER_PERFORMANCE,
    DELETE_RECORDS,
    DUMP_LOG,
    ELECTION,
    END_TO_END_LATENCY,
    FEATURES,
    GET_OFFSETS,
    GROUPS,
    LOG_DIRS,
    PRODUCER_PERFORMANCE,
    QUORUM,
    REASSIGN,
    TOPICS,
    TRANSACTIONS,
    Tool,
)
from .target import Target
from .waiting import eventually

pytestmark = pytest.mark.jvm


def test_kafka_topics_creates_describes_grows_and_deletes(tool: Tool, topic: str) -> None:
    """The whole life of a topic by ``kafka-topics``."""
    options = ("--partitions", "2", "--config", "retention.ms=100000000")
    created = tool(TOPICS, "--create", "--topic", topic, *options)
    assert f"Created topic {topic}." in created.lines
    again = tool(TOPICS, "--create", "--topic", topic, status=1)
    assert f"Topic '{topic}' already exists." in again.output
    quiet = tool(TOPICS, "--create", "--topic", topic, "--if-not-exists")
    assert "already exists" not in quiet.output
    head, *partitions = tool(TOPICS, "--describe", "--topic", topic).lines
    assert re.search(r"TopicId: [\w-]{22}\tPartitionCount: 2\tReplicationFactor: 1", head)
    assert "retention.ms=100000000" in head
    assert [
        re.findall(r"(?:Partition|Leader|Replicas|Isr): (\d+)", line) for line in partitions
    ] == [
        ["0", "1", "1", "1"],
        ["1", "1", "1", "1"],
    ]
    tool(TOPICS, "--alter", "--topic", topic, "--partitions", "3")
    assert len(tool(TOPICS, "--describe", "--topic", topic).lines) == 4
    assert tool(TOPICS, "--list", "--topic", topic).lines == [topic]
    for problem in ("--under-replicated-partitions", "--unavailable-partitions"):
        assert tool(TOPICS, "--describe", problem).lines == []
    tool(TOPICS, "--delete", "--topic", topic)
    gone = tool(TOPICS, "--describe", "--topic", topic, status=1)
    assert f"Topic '{topic}' does not exist as expected" in gone.output


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_console_producer_and_consumer_understand_each_other(
    tool: Tool, topic: str, codec: str
) -> None:
    """Lines with keys and headers go in and come out, by group and from the beginning."""
    tool(TOPICS, "--create", "--topic", topic)
    lines = [f"h:{number}\tkey-{number}\tvalue {number}" for number in range(30)]
    tool(
        *(CONSOLE_PRODUCER, "--topic", topic, "--compression-codec", codec),
        *("--reader-property", "parse.key=true", "--reader-property", "parse.headers=true"),
        input_text="\n".join(lines) + "\n",
    )
    consumed = tool(
        *(CONSOLE_CONSUMER, "--topic", topic, "--group", f"group-of-{topic}", "--from-beginning"),
        *("--max-messages", "30", "--timeout-ms", "15000"),
        *("--formatter-property", "print.key=true", "--formatter-property", "print.headers=true"),
    )
    assert consumed.lines == lines


def test_console_consumer_reads_a_partition_from_an_offset(
    tool: Tool, java: Client, topic: str
) -> None:
    java.create_topic(topic, partitions=2)
    java.produce(topic, [Record(value=f"{n}".encode(), partition=1) for n in range(10)])
    consumed = tool(
        *(CONSOLE_CONSUMER, "--topic", topic, "--partition", "1", "--offset", "6"),
        *("--max-messages", "4", "--timeout-ms", "15000"),
    )
    assert consumed.lines == ["6", "7", "8", "9"]


def test_kafka_get_offsets_knows_ends_starts_and_times(
    tool: Tool, java: Client, topic: str
) -> None:
    java.create_topic(topic, partitions=2)
    sent = records("offsets", 10, partition=1)
    java.produce(topic, sent)
    java.delete_records(topic, 1, before_offset=3)
    for time, zero, one in [
        ("latest", "0", "10"),
        ("earliest", "0", "3"),
        (str(sent[7].timestamp_ms), None, "7"),
        ("max-timestamp", None, "9"),
    ]:
        found = tool(GET_OFFSETS, "--topic", topic, "--time", time).lines
        expected = [] if zero is None else [f"{topic}:0:{zero}"]
        assert found == [*expected, f"{topic}:1:{one}"], time


def test_kafka_delete_records_moves_the_start(
    tool: Tool, java: Client, topic: str, tmp_path: Path
) -> None:
    java.create_topic(topic)
    java.produce(topic, records("gone", 10, partition=0))
    wish = {"partitions": [{"topic": topic, "partition": 0, "offset": 6}], "version": 1}
    wishes = tmp_path / "wishes.json"
    wishes.write_text(json.dumps(wish))
    deleted = tool(DELETE_RECORDS, "--offset-json-file", str(wishes))
    assert f"partition: {topic}-0\tlow_watermark: 6" in deleted.lines
    assert java.offsets(topic).start == 6


def test_kafka_consumer_groups_tells_of_an_active_group(
    tool: Tool, java: Client, topic: str, group: str
) -> None:
    """Listing with states, members with their partitions, offsets with their lag."""
    java.create_topic(topic, partitions=2)
    java.produce(topic, records("lag", 8, partition=0))
    member = java.join(group, [topic])
    eventually(lambda: len(member.refresh().records) == 8)
    member.commit()
    java.produce(topic, records("behind", 3, partition=1))
    eventually(lambda: len(member.refresh().records) == 11)
    assert [group, "Stable"] in tool(GROUPS, "--list", "--state").table()
    (row,) = [r for r in tool(ALL_GROUPS, "--list").table() if r[0] == group]
    assert row == [group, "Classic", "consumer"]
    offsets = tool(GROUPS, "--describe", "--group", group).table()[1:]
    numbers = {row[2]: row[3:6] for row in offsets}
    assert numbers == {"0": ["8", "8", "0"], "1": ["0", "3", "3"]}
    assert {row[7] for row in offsets} == {"/127.0.0.1"}
    (state,) = tool(GROUPS, "--describe", "--group", group, "--state").table()[1:]
    assert state[-3:] == ["range", "Stable", "1"]
    (who,) = tool(GROUPS, "--describe", "--group", group, "--members", "--verbose").table()[1:]
    assert who[0] == group
    assert f"{topic}:0,1" in "".join(who)
    refused = tool(GROUPS, "--delete", "--group", group)
    assert "The group is not empty." in refused.output
    member.leave()


def test_kafka_consumer_groups_resets_and_deletes(
    tool: Tool, java: Client, topic: str, group: str
) -> None:
    """reset-offsets by every rule, delete-offsets, delete."""
    java.create_topic(topic)
    sent = records("reset", 20, partition=0)
    java.produce(topic, sent)
    java.delete_records(topic, 0, before_offset=2)
    reset = (GROUPS, "--reset-offsets", "--group", group, "--topic", topic, "--execute")
    for rule, expected in [
        (("--to-earliest",), 2),
        (("--to-latest",), 20),
        (("--to-offset", "11"), 11),
        (("--shift-by", "-4"), 7),
        (("--to-offset", "99"), 20),
        (("--to-datetime", _iso(sent[15].timestamp_ms)), 15),
    ]:
        rows = tool(*reset, *rule).table()
        assert rows[-1] == [group, topic, "0", str(expected)], rule
        assert java.committed(group, topic) == expected
    dry = (GROUPS, "--reset-offsets", "--group", group, "--topic", topic, "--to-earliest")
    tool(*dry, "--dry-run")
    assert java.committed(group, topic) == 15
    deleted = tool(GROUPS, "--delete-offsets", "--group", group, "--topic", topic)
    assert [topic, "0", "Successful"] in deleted.table()
    assert java.committed(group, topic) is None
    tool(*reset, "--to-latest")
    tool(GROUPS, "--delete", "--group", group)
    assert group not in tool(GROUPS, "--list").lines


def test_kafka_configs_changes_topics_and_tells_where_values_come_from(
    tool: Tool, java: Client, topic: str
) -> None:
    java.create_topic(topic, configs={"retention.ms": "100000000"})
    entity = ("--entity-type", "topics", "--entity-name", topic)
    wishes = "retention.bytes=12345,cleanup.policy=[compact,delete]"
    tool(CONFIGS, "--alter", *entity, "--add-config", wishes)
    described = tool(CONFIGS, "--describe", *entity).lines
    assert described[0] == f"Dynamic configs for topic {topic} are:"
    topic_config, default = "DYNAMIC_TOPIC_CONFIG", "DEFAULT_CONFIG"
    policy = f"{topic_config}:cleanup.policy=compact,delete, {default}:log.cleanup.policy=delete"
    size = f"{topic_config}:retention.bytes=12345, {default}:log.retention.bytes=-1"
    assert f"  cleanup.policy=compact,delete sensitive=false synonyms={{{policy}}}" in described
    assert f"  retention.bytes=12345 sensitive=false synonyms={{{size}}}" in described
    tool(CONFIGS, "--alter", *entity, "--delete-config", "retention.bytes")
    everything = tool(CONFIGS, "--describe", *entity, "--all").lines
    values = dict(re.findall(r"^  ([\w.]+)=(\S*)", "\n".join(everything), re.MULTILINE))
    assert values["retention.bytes"] == "-1"
    assert values["retention.ms"] == "100000000"
    assert values["max.message.bytes"] == "1048588"
    assert values["segment.bytes"] == "1073741824"
    assert values["compression.type"] == "producer"


def test_kafka_configs_changes_a_broker(tool: Tool) -> None:
    """A dynamic broker config is set, shown with its source, and taken back."""
    entity = ("--entity-type", "brokers", "--entity-name", "1")
    tool(CONFIGS, "--alter", *entity, "--add-config", "log.index.interval.bytes=8192")
    synonyms = (
        "DYNAMIC_BROKER_CONFIG:log.index.interval.bytes=8192, "
        "DEFAULT_CONFIG:log.index.interval.bytes=4096"
    )
    expected = f"  log.index.interval.bytes=8192 sensitive=false synonyms={{{synonyms}}}"
    eventually(lambda: expected in tool(CONFIGS, "--describe", *entity).lines)
    tool(CONFIGS, "--alter", *entity, "--delete-config", "log.index.interval.bytes")
    eventually(lambda: expected not in tool(CONFIGS, "--describe", *entity).lines)


def test_kafka_log_dirs_knows_sizes(tool: Tool, java: Client, topic: str, broker: Target) -> None:
    java.create_topic(topic, partitions=2)
    java.produce(topic, records("size", 50, partition=1))
    text = tool(LOG_DIRS, "--describe", "--topic-list", topic).lines[-1]
    ((log_dir,),) = [node["logDirs"] for node in json.loads(text)["brokers"]]
    assert log_dir["error"] is None
    assert Path(log_dir["logDir"]) == broker.data_directory
    sizes = {each["partition"]: each["size"] for each in log_dir["partitions"]}
    file = broker.data_directory / f"{topic}-1" / "00000000000000000000.log"
    assert sizes == {f"{topic}-0": 0, f"{topic}-1": file.stat().st_size}


def test_kafka_broker_api_versions_finds_every_version_usable(tool: Tool, broker: Target) -> None:
    """What the traps of other clients need stands in the list: Produce from 0, JoinGroup from 0."""
    listed = tool(API_VERSIONS).output
    assert listed.startswith(f"{broker.bootstrap} (id: 1 rack: null isFenced: false) -> (")
    ranges = dict(re.findall(r"\t(\w+)\(\d+\): ([^,\n]+?) \[usable", listed))
    for name, expected in [
        ("Produce", "0 to 13"),
        ("Fetch", "4 to 18"),
        ("ListOffsets", "1 to 11"),
        ("Metadata", "0 to 13"),
        ("JoinGroup", "0 to 9"),
        ("OffsetCommit", "2 to 10"),
        ("OffsetFetch", "1 to 10"),
        ("CreateTopics", "2 to 7"),
        ("ApiVersions", "0 to 4"),
        ("InitProducerId", "0 to 5"),
        ("FindCoordinator", "0 to 6"),
    ]:
        assert ranges[name] == expected, name


def test_kafka_cluster_names_the_cluster_and_its_endpoints(
    local_tool: Tool, broker: Target
) -> None:
    def ask(question: str) -> list[str]:
        return local_tool(CLUSTER, question, "--bootstrap-server", broker.bootstrap).lines

    assert re.fullmatch(r"Cluster ID: [\w-]{22}", ask("cluster-id")[0])
    host, port = broker.bootstrap.split(":")
    assert ask("list-endpoints")[1].split() == ["1", host, port, "null", "unfenced", "broker"]


def test_kafka_metadata_quorum_and_features_describe_a_quorum_of_one(tool: Tool) -> None:
    status = dict(line.split(":", 1) for line in tool(QUORUM, "describe", "--status").lines)
    assert status["LeaderId"].strip() == "1"
    assert int(status["LeaderEpoch"]) >= 1
    assert status["CurrentObservers"].strip() == "[]"
    assert '"id": 1' in status["CurrentVoters"]
    (leader,) = tool(QUORUM, "describe", "--replication").table()[1:]
    assert (leader[0], leader[3], leader[-1]) == ("1", "0", "Leader")
    features = tool(FEATURES, "describe").output
    assert re.search(r"Feature: metadata.version\s.*FinalizedVersionLevel: 4.3-IV0", features)


def test_tools_that_wait_for_more_nodes_find_nothing_to_do(
    tool: Tool, java: Client, topic: str
) -> None:
    """Elections and reassignments of a cluster of one."""
    java.create_topic(topic)
    elected = tool(ELECTION, "--election-type", "preferred", "--topic", topic, "--partition", "0")
    assert f"Valid replica already elected for partitions {topic}-0" in elected.output
    assert tool(REASSIGN, "--list").lines == ["No partition reassignments found."]


def test_kafka_transactions_describes_the_producers_of_a_partition(
    tool: Tool, java: Client, topic: str
) -> None:
    java.create_topic(topic)
    java.produce(topic, records("producers", 10, partition=0), idempotent=True)
    arguments = ("describe-producers", "--topic", topic, "--partition", "0")
    (producer,) = tool(TRANSACTIONS, *arguments).table()[1:]
    assert (producer[1], producer[3], producer[-1]) == ("0", "9", "None")


def test_the_performance_tools_run(tool: Tool, java: Client, topic: str) -> None:
    java.create_topic(topic)
    size = ("--num-records", "5000", "--record-size", "100", "--throughput", "-1")
    produced = tool(PRODUCER_PERFORMANCE, "--topic", topic, *size)
    assert produced.lines[-1].startswith("5000 records sent")
    assert java.offsets(topic).end == 5000
    options = ("--num-records", "5000", "--timeout", "20000")
    consumed = tool(CONSUMER_PERFORMANCE, "--topic", topic, *options)
    assert int(float(consumed.lines[-1].split(", ")[4])) == 5000
    rounds = ("--num-records", "50", "--producer-acks", "all", "--record-size", "100")
    latency = tool(END_TO_END_LATENCY, "--topic", topic, *rounds)
    assert "Percentiles:" in latency.output


def test_kafka_dump_log_reads_our_segments(
    local_tool: Tool, java: Client, topic: str, broker: Target
) -> None:
    """Every batch valid, every record shown, while the broker writes on. (The index files belong
    to the running broker; ``test_directory`` has them checked after it stopped.)"""
    java.create_topic(topic)
    sent = records("dump", 400, partition=0)
    for start, codec in [(0, "none"), (100, "gzip"), (200, "lz4"), (300, "zstd")]:
        part = sent[start : start + 100]
        java.produce(topic, part, codec=codec, idempotent=codec == "gzip")  # type: ignore[arg-type] # literals in a tuple lose their kind
    folder = broker.data_directory / f"{topic}-0"
    log = folder / "00000000000000000000.log"
    dumped = local_tool(DUMP_LOG, "--files", str(log), "--print-data-log")
    assert dumped.status == 0, dumped
    batches = [line for line in dumped.lines if line.startswith("baseOffset:")]
    assert all(line.endswith("isvalid: true") for line in batches)
    offsets = [int(n) for n in re.findall(r"^\| offset: (\d+) ", dumped.output, re.MULTILINE)]
    assert offsets == list(range(400))
    assert {re.search(r"compresscodec: (\w+)", line)[1] for line in batches} == {  # type: ignore[index] # no match is a failure too
        *("none", "gzip", "lz4", "zstd"),
    }


def test_kafka_dump_log_decodes_our_offsets_topic(
    local_tool: Tool, java: Client, topic: str, group: str, broker: Target
) -> None:
    """Group metadata and committed offsets lie in __consumer_offsets in Kafka's own records."""
    java.create_topic(topic)
    java.produce(topic, records("committed", 7, partition=0))
    member = java.join(group, [topic])
    eventually(lambda: len(member.refresh().records) == 7)
    member.commit()
    member.leave()
    logs = sorted(broker.data_directory.glob("__consumer_offsets-*/*.log"))
    text = "".join(
        local_tool(DUMP_LOG, "--files", str(log), "--offsets-decoder").output
        for log in logs
        if log.stat().st_size
    )
    mine = [line for line in text.splitlines() if f'"group":"{group}"' in line]
    assert any('"type":"2"' in line and '"protocol":"range"' in line for line in mine)
    assert any(f'"topic":"{topic}","partition":0' in line and '"offset":7' in line for line in mine)


def _iso(timestamp_ms: int | None) -> str:
    """UTC as ``kafka-consumer-groups --to-datetime`` reads it."""
    assert timestamp_ms is not None
    moment = datetime.fromtimestamp(timestamp_ms / 1000, tz=UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{timestamp_ms % 1000:03d}Z"
