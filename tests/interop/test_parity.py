"""Raw requests at the edges of every API: the target must answer as Apache Kafka does.

Kafka and the target run side by side and are asked the same. Where we answer otherwise on purpose,
``DEVIATIONS`` says why; a case that differs no longer must leave that table. Each case is asked in
the lowest and the highest version that both serve, and in those where answers are known to change;
``HEADWATER_INTEROP_PARITY=all`` asks in all of them.
"""

import itertools
import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from .parity import API_BY_NAME, Context, RawClient, batch, converse
from .parity_cases import cases
from .target import TARGET_NAME, Target, kafka_server
from .toolchain import needed
from .waiting import eventually

pytestmark = pytest.mark.jvm

CASES = cases()
ALL_VERSIONS = os.environ.get("HEADWATER_INTEROP_PARITY") == "all"

TELLING_VERSIONS = {
    "Produce": {11, 12},  # 11 may be told to abort, 12 adds its partitions itself
    "InitProducerId": {3, 4},  # PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH
    "AddPartitionsToTxn": {1, 2, 3, 4},  # the same, and brokers' form from 4
    "AddOffsetsToTxn": {1, 2},
    "EndTxn": {1, 2, 4},  # 5 answers with the next epoch
    "OffsetFetch": {7, 8},  # from 7 stable ones can be asked for, from 8 several groups
    "TxnOffsetCommit": {3, 4},  # 5 adds the group's offsets itself
}
"""Beside the lowest and the highest: the versions at which answers change."""

DEVIATIONS: dict[str, str] = {
    # Meant: what Kafka answers would be worse, or costs what we do not want to pay.
    "Metadata: create": "it exists before we answer; Kafka says UNKNOWN and creates it later",
    "IncrementalAlterConfigs: unknown operation": "INVALID_REQUEST; Kafka fails inside (-1)",
    "Produce: null": "refused; Kafka fails inside and never answers",
    "Produce: codec 5": "refused by name; Kafka fails inside (-1)",
    "Produce: codec 7": "refused by name; Kafka fails inside (-1)",
    "Produce: gzip that is none": "we do not unpack what we need not look into",
    "Produce: snappy that is none": "we do not unpack what we need not look into",
    "Produce: lz4 that is none": "we do not unpack what we need not look into",
    "Produce: zstd that is none": "we do not unpack what we need not look into",
    "Produce: batch and rubbish": "refused; Kafka drops bytes behind the last whole batch",
    "Produce: acks 2 to unknown": "acks are checked first",
    "InitProducerId: in an open transaction": "waits for the abort; Kafka has the client ask again",
    "InitProducerId: in an empty open transaction": "the same",
    "InitProducerId: next epoch in an open transaction": "the same",
    "Produce: fenced in an open transaction": "the same",
    "InitProducerId: long name": "names are bounded; Kafka stores 20 kB with every change of state",
    "AddPartitionsToTxn: a transaction twice": "both count; Kafka forgets the first",
    "AddPartitionsToTxn: nothing": "nothing begins; Kafka begins a transaction without partitions",
    "AddPartitionsToTxn: no partitions": "nothing begins; Kafka begins one without partitions",
    "ListTransactions: by pattern": "patterns without groups, which are matched in linear time",
    "Produce: transactional batch without producer": "refused; Kafka appends what nobody can end",
    "Produce: to the transactions' own topic": "refused before the transaction is looked at",
    "WriteTxnMarkers: no producer": "INVALID_REQUEST; Kafka fails inside (-1)",
    "ListOffsets: open transaction, a later record": "the latest record that can be read",
    "DescribeConfigs: group": "there are no groups of the new protocol yet",
    # Open: small things in which Kafka's answer is as good, and somebody may rely on it.
    "DescribeTopicPartitions: known and unknown": "Kafka always gives authorized operations",
    "DescribeConfigs: topic": "no synonyms of retention.ms and flush.ms where nothing is set",
    "TxnOffsetCommit: everything, stable": "Kafka names no partition that has only pending offsets",
    "WriteTxnMarkers: no topics": "Kafka leaves a marker for nothing out of its answer",
    "Produce: same partition twice": "Kafka answers a partition once",
    "Produce: append time attribute": "accepted where the topic keeps the producer's time",
    "Produce: timestamp -2": "accepted",
    "Produce: producer without epoch": "accepted",
}
"""Cases in which we answer otherwise. The text is our reason, or what Kafka does."""

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    reference = needed(lambda: kafka_server(tmp_path_factory.mktemp("reference")))
    needed(reference.start)
    yield reference
    reference.stop()


@pytest.fixture(scope="module")
def ranges(kafka: Target, broker: Target) -> dict[int, tuple[int, int]]:
    """The versions that both serve, by API key; coordinators are awake behind it."""
    served = []
    for each in (kafka.bootstrap, broker.bootstrap):
        client = RawClient(each)
        served.append(client.ranges)
        eventually(partial(_awake, client))
        client.close()
    first, second = served
    return {
        key: (max(first[key][0], low), min(first[key][1], high))
        for key, (low, high) in second.items()
        if key in first
    }


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_kafkas(
    name: str, kafka: Target, broker: Target, ranges: dict[int, tuple[int, int]]
) -> None:
    """Error codes, defaults and shapes, version by version."""
    api = API_BY_NAME[name.partition(":")[0]]
    if api.key not in ranges:
        pytest.skip(f"{api.name} is not served")
    low, high = ranges[api.key]
    every = range(max(low, api.versions.first), min(high, api.versions.last) + 1)
    versions = every if ALL_VERSIONS else _telling(api.name, every)
    differences: list[tuple[int, Any, Any]] = []
    for version in versions:
        number = next(_numbers)
        answers = [
            converse(each.bootstrap, CASES[name], version, _prepared(each.bootstrap, number))
            for each in (kafka, broker)
        ]
        if answers[0] != answers[1]:
            differences.append((version, answers[0], answers[1]))
    if TARGET_NAME != "kafka" and name in DEVIATIONS:
        assert differences, f"{name} differs no longer: strike it off DEVIATIONS"
        return
    for version, expected, given in differences:
        assert given == expected, f"{name}, version {version}"


def _telling(api: str, every: range) -> list[int]:
    return sorted({every[0], every[-1], *(TELLING_VERSIONS.get(api, set()) & set(every))})


def _prepared(bootstrap: str, number: int) -> Context:
    """A topic of two partitions, three records in the first; names nobody used."""
    topic = f"parity-{number}"
    client = RawClient(bootstrap)
    wanted = {"name": topic, "num_partitions": 2, "replication_factor": 1}
    fields = {"topics": [wanted], "timeout_ms": 10_000}
    answer = client.ask(API_BY_NAME["CreateTopics"], 7, fields)
    assert answer is not None
    data = [{"index": 0, "records": batch([(b"a", b"1")] * 3)}]
    sent = {
        "acks": -1,
        "timeout_ms": 10_000,
        "topic_data": [{"name": topic, "partition_data": data}],
    }

    def produced() -> bool:
        placed = client.ask(API_BY_NAME["Produce"], 9, sent)
        assert placed is not None
        return bool(placed["responses"][0]["partition_responses"][0]["error_code"] == 0)

    eventually(produced)
    eventually(partial(_is_led, client, topic))
    client.close()
    return {
        "topic": topic,
        "topic_id": answer["topics"][0]["topic_id"],
        **{word: f"{word}-{topic}" for word in ("group", "new", "compacted", "stamped")},
        "tx": f"tx-{topic}",
        "other_tx": f"other-{topic}",
        "strange": f"a b/ü\x01{topic}",
        "long": "x" * 20_000 + topic,
        "dotted": f"d.{topic}",
        "underscored": f"d_{topic}",
    }


def _is_led(client: RawClient, topic: str) -> bool:
    """Whether the second partition is there as well."""
    wanted = {"name": topic, "partitions": [{"partition_index": 1, "timestamp": -1}]}
    answer = client.ask(API_BY_NAME["ListOffsets"], 5, {"replica_id": -1, "topics": [wanted]})
    assert answer is not None
    return bool(answer["topics"][0]["partitions"][0]["error_code"] == 0)


def _awake(client: RawClient) -> bool:
    """Whether the coordinators of groups and transactions answer without an error."""
    group = client.ask(API_BY_NAME["FindCoordinator"], 2, {"key": "some-group", "key_type": 0})
    client.ask(API_BY_NAME["FindCoordinator"], 2, {"key": "some-tx", "key_type": 1})
    wanted = {"transactional_id": "some-tx", "transaction_timeout_ms": 1000}
    producer = client.ask(API_BY_NAME["InitProducerId"], 2, wanted)
    assert group is not None
    assert producer is not None
    if group["error_code"] == 0:
        listed = client.ask(
            API_BY_NAME["OffsetFetch"], 5, {"group_id": "some-group", "topics": None}
        )
        assert listed is not None
        return bool(listed["error_code"] == 0 and producer["error_code"] == 0)
    return False
