"""Questions at the edges of every API, for Kafka and for us: each must get the same answer.

``T`` is a topic of two partitions with three records in partition 0, ``G`` a group name of the
case's own. Fields that a version lacks and must not be ignored leave the step out for it.
"""

from typing import Any

from .parity import FIRST_TIMESTAMP_MS, Json, Ref, Step, batch
from .parity_coordinator import coordinator_cases
from .parity_txn_data import txn_data_cases
from .parity_txn_offsets import txn_offset_cases

T = Ref("topic")
T_ID = Ref("topic_id")
G = Ref("group")
NEW = Ref("new")
NO_ID = bytes(16)
STRANGE_ID = b"\x09" * 16


def cases() -> dict[str, list[Step]]:
    """Steps by the name of the case: ``Api: what``."""
    found: dict[str, list[Step]] = {}
    plain = (_topics, _configs, _offsets, _produce, _fetch, _groups, _others)
    for part in (*plain, coordinator_cases, txn_offset_cases, txn_data_cases):
        for name, steps in part().items():
            assert name not in found, name
            found[name] = steps
    return found


def _topics() -> dict[str, list[Step]]:
    def create(*topics: Json, **more: Any) -> list[Step]:
        full = [{"num_partitions": 1, "replication_factor": 1, **each} for each in topics]
        return [Step("CreateTopics", {"topics": full, "timeout_ms": 5000, **more})]

    def metadata(*topics: Any, **more: Any) -> list[Step]:
        listed = [{"name": each} for each in topics]
        return [Step("Metadata", {"topics": listed, "allow_auto_topic_creation": False, **more})]

    def delete(*names: Any) -> list[Step]:
        return [
            Step("DeleteTopics", {"topic_names": list(names), "timeout_ms": 5000}),
            Step(
                "DeleteTopics",
                {"topics": [{"name": each} for each in names], "timeout_ms": 5000},
            ),
        ]

    def grow(**topic: Any) -> list[Step]:
        full = {"name": T, "count": 4, "assignments": None, **topic}
        return [Step("CreatePartitions", {"topics": [full], "timeout_ms": 5000})]

    a = {"name": NEW}
    return {
        "Metadata: of a topic": metadata(T),
        "Metadata: of an unknown topic": metadata("unknown"),
        "Metadata: of a topic twice": metadata(T, T),
        "Metadata: of a bad name": metadata("a/b"),
        "Metadata: of an empty name": metadata(""),
        "Metadata: of no topic": metadata(),
        "Metadata: by id": [Step("Metadata", {"topics": [{"topic_id": T_ID, "name": None}]})],
        "Metadata: by a strange id": [
            Step("Metadata", {"topics": [{"topic_id": STRANGE_ID, "name": None}]})
        ],
        "Metadata: bad name to be created": metadata("a/b", allow_auto_topic_creation=True),
        "Metadata: create": metadata(NEW, allow_auto_topic_creation=True),
        "Metadata: operations": metadata(
            T, include_topic_authorized_operations=True, include_cluster_authorized_operations=True
        ),
        "CreateTopics: new": create({**a, "num_partitions": 3}),
        "CreateTopics: defaults": create({**a, "num_partitions": -1, "replication_factor": -1}),
        "CreateTopics: exists": create({"name": T}),
        "CreateTopics: validate only": [
            *create({**a, "configs": [{"name": "retention.ms", "value": "5"}]}, validate_only=True),
            *metadata(NEW),
        ],
        "CreateTopics: validate existing": create({"name": T}, validate_only=True),
        "CreateTopics: no partitions": create({**a, "num_partitions": 0}),
        "CreateTopics: minus two partitions": create({**a, "num_partitions": -2}),
        "CreateTopics: too many partitions": create({**a, "num_partitions": 2_000_000}),
        "CreateTopics: no replicas": create({**a, "replication_factor": 0}),
        "CreateTopics: three replicas": create({**a, "replication_factor": 3}),
        "CreateTopics: twice in a request": create(a, a),
        "CreateTopics: slash": create({"name": "a/b"}),
        "CreateTopics: empty name": create({"name": ""}),
        "CreateTopics: dot": create({"name": "."}),
        "CreateTopics: long name": create({"name": "x" * 250}),
        "CreateTopics: internal name": create({"name": "__cluster_metadata"}),
        "CreateTopics: collision": [
            *create({"name": Ref("dotted")}),
            *create({"name": Ref("underscored")}),
        ],
        "CreateTopics: assignment": create(
            {
                **a,
                "num_partitions": -1,
                "replication_factor": -1,
                "assignments": [{"partition_index": n, "broker_ids": [1]} for n in (0, 1)],
            }
        ),
        "CreateTopics: assignment and count": create(
            {**a, "assignments": [{"partition_index": 0, "broker_ids": [1]}]}
        ),
        "CreateTopics: assignment with a gap": create(
            {
                **a,
                "num_partitions": -1,
                "replication_factor": -1,
                "assignments": [{"partition_index": 1, "broker_ids": [1]}],
            }
        ),
        "CreateTopics: assignment to nobody": create(
            {
                **a,
                "num_partitions": -1,
                "replication_factor": -1,
                "assignments": [{"partition_index": 0, "broker_ids": [7]}],
            }
        ),
        "CreateTopics: assignment empty": create(
            {
                **a,
                "num_partitions": -1,
                "replication_factor": -1,
                "assignments": [{"partition_index": 0, "broker_ids": []}],
            }
        ),
        "CreateTopics: assignment twice": create(
            {
                **a,
                "num_partitions": -1,
                "replication_factor": -1,
                "assignments": [{"partition_index": 0, "broker_ids": [1, 1]}],
            }
        ),
        "CreateTopics: unknown config": create(
            {**a, "configs": [{"name": "no.such", "value": "1"}]}
        ),
        "CreateTopics: bad config": create(
            {**a, "configs": [{"name": "retention.ms", "value": "soon"}]}
        ),
        "CreateTopics: null config": create(
            {**a, "configs": [{"name": "retention.ms", "value": None}]}
        ),
        "CreateTopics: config out of bounds": create(
            {**a, "configs": [{"name": "segment.bytes", "value": "1"}]}
        ),
        "CreateTopics: bad policy": create(
            {**a, "configs": [{"name": "cleanup.policy", "value": "burn"}]}
        ),
        "CreateTopics: configs shown": create(
            {
                **a,
                "configs": [
                    {"name": "cleanup.policy", "value": "compact"},
                    {"name": "retention.ms", "value": "77"},
                ],
            }
        ),
        "DeleteTopics: unknown": delete("unknown"),
        "DeleteTopics: twice": delete("unknown", "unknown"),
        "DeleteTopics: bad name": delete("a/b"),
        "DeleteTopics: one of two": delete("unknown", T),
        "DeleteTopics: by strange id": [
            Step(
                "DeleteTopics",
                {"topics": [{"name": None, "topic_id": STRANGE_ID}], "timeout_ms": 5000},
            )
        ],
        "DeleteTopics: by id": [
            Step("DeleteTopics", {"topics": [{"name": None, "topic_id": T_ID}], "timeout_ms": 5000})
        ],
        "DeleteTopics: by nothing": [
            Step("DeleteTopics", {"topics": [{"name": None}], "timeout_ms": 5000})
        ],
        "CreatePartitions: more": grow(),
        "CreatePartitions: as many": grow(count=2),
        "CreatePartitions: fewer": grow(count=1),
        "CreatePartitions: none": grow(count=0),
        "CreatePartitions: unknown": grow(name="unknown"),
        "CreatePartitions: assignment": grow(
            assignments=[{"broker_ids": [1]}, {"broker_ids": [1]}]
        ),
        "CreatePartitions: assignment too short": grow(assignments=[{"broker_ids": [1]}]),
        "CreatePartitions: assignment to nobody": grow(
            assignments=[{"broker_ids": [1]}, {"broker_ids": [9]}]
        ),
        "CreatePartitions: twice": [
            Step(
                "CreatePartitions",
                {
                    "topics": [
                        {"name": T, "count": 4, "assignments": None},
                        {"name": T, "count": 5, "assignments": None},
                    ],
                    "timeout_ms": 5000,
                },
            )
        ],
        "DescribeTopicPartitions: known and unknown": [
            Step(
                "DescribeTopicPartitions",
                {"topics": [{"name": T}, {"name": "unknown"}, {"name": "a/b"}]},
            )
        ],
        "DescribeTopicPartitions: in pages": [
            Step(
                "DescribeTopicPartitions",
                {"topics": [{"name": T}], "response_partition_limit": 1},
            ),
            Step(
                "DescribeTopicPartitions",
                {
                    "topics": [{"name": T}],
                    "cursor": {"topic_name": T, "partition_index": 1},
                },
            ),
        ],
    }


def _configs() -> dict[str, list[Step]]:
    def describe(kind: int, name: Any, keys: list[str] | None, **more: Any) -> list[Step]:
        resource = {"resource_type": kind, "resource_name": name, "configuration_keys": keys}
        return [Step("DescribeConfigs", {"resources": [resource], **more})]

    def alter(kind: int, name: Any, *configs: Json) -> list[Step]:
        resource = {"resource_type": kind, "resource_name": name, "configs": list(configs)}
        return [
            Step("IncrementalAlterConfigs", {"resources": [resource]}),
            *(
                describe(2, T, ["retention.ms", "cleanup.policy", "compression.type"])
                if kind == 2
                else []
            ),
        ]

    def replace(kind: int, name: Any, *configs: Json) -> list[Step]:
        resource = {"resource_type": kind, "resource_name": name, "configs": list(configs)}
        return [
            Step("AlterConfigs", {"resources": [resource]}),
            Step(
                "DescribeConfigs",
                {
                    "resources": [
                        {
                            "resource_type": 2,
                            "resource_name": T,
                            "configuration_keys": ["retention.ms", "segment.ms"],
                        }
                    ]
                },
                version=1,
            ),
        ]

    def later(steps: list[Step]) -> list[Step]:
        """The first step carries the version under test, the look at the result does not."""
        return [steps[0], *(Step(s.api, s.fields, version=1) for s in steps[1:])]

    ms = "retention.ms"
    some = [ms, "cleanup.policy", "max.message.bytes", "flush.ms", "min.insync.replicas"]
    return {
        "DescribeConfigs: topic": describe(2, T, some, include_synonyms=True),
        "DescribeConfigs: unknown key": describe(2, T, ["no.such"]),
        "DescribeConfigs: no keys": describe(2, T, []),
        "DescribeConfigs: unknown topic": describe(2, "unknown", [ms]),
        "DescribeConfigs: bad topic": describe(2, "a/b", [ms]),
        "DescribeConfigs: empty topic": describe(2, "", [ms]),
        "DescribeConfigs: broker": describe(
            4, "1", ["num.partitions", "log.retention.hours", "node.id"], include_synonyms=True
        ),
        "DescribeConfigs: other broker": describe(4, "9", ["num.partitions"]),
        "DescribeConfigs: broker by word": describe(4, "one", ["num.partitions"]),
        "DescribeConfigs: brokers' default": describe(4, "", None),
        "DescribeConfigs: unknown kind": describe(99, "x", None),
        "DescribeConfigs: kind zero": describe(0, "x", None),
        "DescribeConfigs: group": describe(32, "some-group", None),
        "IncrementalAlterConfigs: set": later(
            alter(2, T, {"name": ms, "config_operation": 0, "value": "123456"})
        ),
        "IncrementalAlterConfigs: delete": later(
            alter(2, T, {"name": ms, "config_operation": 1, "value": None})
        ),
        "IncrementalAlterConfigs: append": later(
            alter(2, T, {"name": "cleanup.policy", "config_operation": 2, "value": "compact"})
        ),
        "IncrementalAlterConfigs: subtract": later(
            alter(2, T, {"name": "cleanup.policy", "config_operation": 3, "value": "delete"})
        ),
        "IncrementalAlterConfigs: append to a number": later(
            alter(2, T, {"name": ms, "config_operation": 2, "value": "1"})
        ),
        "IncrementalAlterConfigs: null": later(
            alter(2, T, {"name": ms, "config_operation": 0, "value": None})
        ),
        "IncrementalAlterConfigs: twice": later(
            alter(
                2,
                T,
                {"name": ms, "config_operation": 0, "value": "1"},
                {"name": ms, "config_operation": 0, "value": "2"},
            )
        ),
        "IncrementalAlterConfigs: unknown operation": later(
            alter(2, T, {"name": ms, "config_operation": 9, "value": "1"})
        ),
        "IncrementalAlterConfigs: unknown config": later(
            alter(2, T, {"name": "no.such", "config_operation": 0, "value": "1"})
        ),
        "IncrementalAlterConfigs: bad value": later(
            alter(2, T, {"name": ms, "config_operation": 0, "value": "-5"})
        ),
        "IncrementalAlterConfigs: unknown topic": later(
            alter(2, "unknown", {"name": ms, "config_operation": 0, "value": "1"})
        ),
        "IncrementalAlterConfigs: bad topic": later(
            alter(2, "a/b", {"name": ms, "config_operation": 0, "value": "1"})
        ),
        "IncrementalAlterConfigs: unknown kind": alter(
            99, "x", {"name": ms, "config_operation": 0, "value": "1"}
        ),
        "IncrementalAlterConfigs: other broker": alter(
            4, "9", {"name": "log.retention.ms", "config_operation": 0, "value": "1"}
        ),
        "IncrementalAlterConfigs: broker by word": alter(
            4, "one", {"name": "log.retention.ms", "config_operation": 0, "value": "1"}
        ),
        "IncrementalAlterConfigs: fixed broker config": alter(
            4, "1", {"name": "node.id", "config_operation": 0, "value": "7"}
        ),
        "IncrementalAlterConfigs: same resource twice": [
            Step(
                "IncrementalAlterConfigs",
                {
                    "resources": [
                        {
                            "resource_type": 2,
                            "resource_name": T,
                            "configs": [{"name": ms, "config_operation": 0, "value": v}],
                        }
                        for v in ("1", "2")
                    ]
                },
            )
        ],
        "AlterConfigs: replace": replace(2, T, {"name": "segment.ms", "value": "5000"}),
        "AlterConfigs: null": replace(2, T, {"name": ms, "value": None}),
        "AlterConfigs: unknown": replace(2, T, {"name": "no.such", "value": "1"}),
        "AlterConfigs: unknown topic": replace(2, "unknown", {"name": ms, "value": "1"}),
        "ListConfigResources: topics": [
            Step("ListConfigResources", {"resource_types": [16]}),
            Step("ListConfigResources", {"resource_types": [99]}),
            Step("ListConfigResources", {"resource_types": [4]}),
        ],
    }


def _offsets() -> dict[str, list[Step]]:
    def listed(topic: Any = T, partition: int = 0, when: int = -1, **more: Any) -> list[Step]:
        part = {"partition_index": partition, "timestamp": when, **more}
        topics = [{"name": topic, "partitions": [part]}]
        return [Step("ListOffsets", {"replica_id": -1, "topics": topics})]

    def epoch(
        topic: Any = T, partition: int = 0, leader_epoch: int = 0, now: int = -1
    ) -> list[Step]:
        part = {
            "partition": partition,
            "leader_epoch": leader_epoch,
            "current_leader_epoch": now,
        }
        topics = [{"topic": topic, "partitions": [part]}]
        return [Step("OffsetForLeaderEpoch", {"replica_id": -1, "topics": topics})]

    def delete(topic: Any = T, partition: int = 0, offset: int = 1) -> list[Step]:
        part = {"partition_index": partition, "offset": offset}
        topics = [{"name": topic, "partitions": [part]}]
        return [
            Step("DeleteRecords", {"topics": topics, "timeout_ms": 5000}),
            *(Step(s.api, s.fields, version=5) for s in listed(when=-2)),
        ]

    first = FIRST_TIMESTAMP_MS
    return {
        **{f"ListOffsets: {when}": listed(when=when) for when in (-1, -2, -3, -4, -5, -6, -7, 0)},
        **{
            f"ListOffsets: first timestamp and {more}": listed(when=first + more)
            for more in (0, 1, 99)
        },
        "ListOffsets: empty partition": [
            step for when in (-1, -2, -3, 5) for step in listed(partition=1, when=when)
        ],
        "ListOffsets: unknown topic": listed("unknown"),
        "ListOffsets: bad topic": listed("a/b"),
        "ListOffsets: unknown partition": listed(partition=9),
        "ListOffsets: negative partition": listed(partition=-1),
        "ListOffsets: epoch of now": listed(current_leader_epoch=0),
        "ListOffsets: epoch ahead": listed(current_leader_epoch=9),
        "ListOffsets: as replica": [
            Step(
                "ListOffsets",
                {
                    "replica_id": 5,
                    "topics": [
                        {"name": T, "partitions": [{"partition_index": 0, "timestamp": -1}]}
                    ],
                },
            )
        ],
        "ListOffsets: twice": [
            Step(
                "ListOffsets",
                {
                    "replica_id": -1,
                    "topics": [
                        {
                            "name": T,
                            "partitions": [
                                {"partition_index": 0, "timestamp": t} for t in (-1, -2)
                            ],
                        }
                    ],
                },
            )
        ],
        "ListOffsets: read committed": [
            Step(
                "ListOffsets",
                {
                    "replica_id": -1,
                    "isolation_level": 1,
                    "topics": [
                        {"name": T, "partitions": [{"partition_index": 0, "timestamp": -1}]}
                    ],
                },
            )
        ],
        "OffsetForLeaderEpoch: first": epoch(),
        "OffsetForLeaderEpoch: later": epoch(leader_epoch=3),
        "OffsetForLeaderEpoch: negative": epoch(leader_epoch=-1),
        "OffsetForLeaderEpoch: epoch ahead": epoch(now=9),
        "OffsetForLeaderEpoch: unknown topic": epoch("unknown"),
        "OffsetForLeaderEpoch: unknown partition": epoch(partition=9),
        "DeleteRecords: one": delete(),
        "DeleteRecords: all": delete(offset=-1),
        "DeleteRecords: too far": delete(offset=99),
        "DeleteRecords: negative": delete(offset=-2),
        "DeleteRecords: none": delete(offset=0),
        "DeleteRecords: unknown topic": delete("unknown"),
        "DeleteRecords: unknown partition": delete(partition=9),
        "DeleteRecords: bad topic": delete("a/b"),
    }


def _produce() -> dict[str, list[Step]]:
    def produce(
        records: bytes | None,
        *,
        partition: int = 0,
        acks: int = -1,
        topic: Any = T,
        topic_id: Any = T_ID,
        **more: Any,
    ) -> list[Step]:
        data = {
            "name": topic,
            "topic_id": topic_id,
            "partition_data": [{"index": partition, "records": records}],
        }
        fields = {"acks": acks, "timeout_ms": 5000, "topic_data": [data], **more}
        return [Step("Produce", fields)]

    def idempotent(
        sequence: int, *, epoch: int = 0, producer: int = 4000, count: int = 1
    ) -> list[Step]:
        values = [(b"k", b"v")] * count
        return produce(
            batch(values, producer_id=producer, producer_epoch=epoch, base_sequence=sequence),
            partition=1,
        )

    hour_ms = 3_600_000
    return {
        "Produce: one": produce(batch()),
        "Produce: many": produce(batch([(b"k", b"v")] * 5)),
        "Produce: acks 1": produce(batch(), acks=1),
        "Produce: acks 2": produce(batch(), acks=2),
        "Produce: acks -2": produce(batch(), acks=-2),
        "Produce: acks 2 to unknown": produce(
            batch(), acks=2, topic="unknown", topic_id=STRANGE_ID
        ),
        "Produce: unknown topic": produce(batch(), topic="unknown", topic_id=STRANGE_ID),
        "Produce: bad topic": produce(batch(), topic="a/b", topic_id=NO_ID),
        "Produce: unknown partition": produce(batch(), partition=9),
        "Produce: negative partition": produce(batch(), partition=-1),
        "Produce: nothing": produce(b""),
        "Produce: null": produce(None),
        "Produce: half a batch": produce(batch()[:40]),
        "Produce: two batches": produce(batch() + batch()),
        "Produce: batch and rubbish": produce(batch() + b"rubbish"),
        "Produce: wrong crc": produce(batch(crc_off_by=1)),
        "Produce: magic 1": produce(batch(magic=1)),
        "Produce: magic 3": produce(batch(magic=3)),
        "Produce: base offset 5": produce(batch(base_offset=5)),
        "Produce: count too high": produce(batch(count=2)),
        "Produce: count too low": produce(batch([(b"k", b"v")] * 2, count=1)),
        "Produce: count zero": produce(batch([], count=0)),
        "Produce: count negative": produce(batch(count=-1)),
        "Produce: last offset too high": produce(batch(last_offset_delta=7)),
        "Produce: no records but a delta": produce(batch([], count=0, last_offset_delta=0)),
        "Produce: control batch": produce(batch(attributes=0x20)),
        "Produce: transactional without id": produce(
            batch(attributes=0x10, producer_id=7, producer_epoch=0, base_sequence=0)
        ),
        "Produce: codec 5": produce(batch(attributes=5)),
        "Produce: codec 7": produce(batch(attributes=7)),
        "Produce: gzip that is none": produce(batch(attributes=1)),
        "Produce: snappy that is none": produce(batch(attributes=2)),
        "Produce: lz4 that is none": produce(batch(attributes=3)),
        "Produce: zstd that is none": produce(batch(attributes=4)),
        "Produce: append time attribute": produce(batch(attributes=8)),
        "Produce: timestamp -1": produce(batch(first_timestamp_ms=-1)),
        "Produce: timestamp -2": produce(batch(first_timestamp_ms=-2)),
        "Produce: timestamp ahead": produce(batch(first_timestamp_ms=2_000_000_000_000 + hour_ms)),
        "Produce: max timestamp lies low": produce(batch(last_timestamp_ms=5)),
        "Produce: max timestamp lies high": produce(
            batch(last_timestamp_ms=FIRST_TIMESTAMP_MS + 99)
        ),
        "Produce: producer without sequence": produce(
            batch(producer_id=5, producer_epoch=0, base_sequence=-1)
        ),
        "Produce: producer without epoch": produce(
            batch(producer_id=5, producer_epoch=-1, base_sequence=0)
        ),
        "Produce: sequence without producer": produce(batch(base_sequence=0)),
        "Produce: sequences": [*idempotent(0), *idempotent(1), *idempotent(2, count=3)],
        "Produce: duplicate": [*idempotent(0), *idempotent(1), *idempotent(0), *idempotent(1)],
        "Produce: old duplicate": [
            step for n in (0, 1, 2, 3, 4, 5, 6, 0, 1, 2) for step in idempotent(n)
        ],
        "Produce: gap": [*idempotent(0), *idempotent(5)],
        "Produce: starts late": idempotent(3),
        "Produce: overlapping duplicate": [*idempotent(0, count=2), *idempotent(1, count=2)],
        "Produce: newer epoch": [*idempotent(0), *idempotent(0, epoch=1), *idempotent(1, epoch=1)],
        "Produce: newer epoch late": [*idempotent(0), *idempotent(4, epoch=1)],
        "Produce: older epoch": [*idempotent(0, epoch=3), *idempotent(1, epoch=2)],
        "Produce: highest sequence": [
            *idempotent(2_147_483_646, producer=4001),
            *idempotent(2_147_483_647, producer=4001),
            *idempotent(0, producer=4001),
        ],
        "Produce: transactional id without batch": produce(batch(), transactional_id="tx"),
        "Produce: same partition twice": [
            Step(
                "Produce",
                {
                    "acks": -1,
                    "timeout_ms": 5000,
                    "topic_data": [
                        {
                            "name": T,
                            "topic_id": T_ID,
                            "partition_data": [
                                {"index": 0, "records": batch()},
                                {"index": 0, "records": batch()},
                            ],
                        }
                    ],
                },
            )
        ],
        "Produce: no topics": [Step("Produce", {"acks": -1, "timeout_ms": 5000, "topic_data": []})],
        "Produce: compacted without key": [
            Step(
                "CreateTopics",
                {
                    "topics": [
                        {
                            "name": Ref("compacted"),
                            "num_partitions": 1,
                            "replication_factor": 1,
                            "configs": [{"name": "cleanup.policy", "value": "compact"}],
                        }
                    ],
                    "timeout_ms": 5000,
                },
                version=7,
                learn=lambda answer: {"compacted_id": answer["topics"][0]["topic_id"]},
            ),
            *produce(
                batch([(b"k", b"v"), (None, b"v"), (None, b"w")]),
                topic=Ref("compacted"),
                topic_id=Ref("compacted_id"),
            ),
        ],
        "Produce: stamped by the broker": [
            Step(
                "CreateTopics",
                {
                    "topics": [
                        {
                            "name": Ref("stamped"),
                            "num_partitions": 1,
                            "replication_factor": 1,
                            "configs": [
                                {"name": "message.timestamp.type", "value": "LogAppendTime"}
                            ],
                        }
                    ],
                    "timeout_ms": 5000,
                },
                version=7,
                learn=lambda answer: {"stamped_id": answer["topics"][0]["topic_id"]},
            ),
            *produce(batch(), topic=Ref("stamped"), topic_id=Ref("stamped_id")),
        ],
        "Produce: too large": produce(batch([(b"k", b"v" * 1_100_000)])),
        "Produce: two that are too large together": produce(
            batch([(b"k", b"v" * 600_000)]) + batch([(b"k", b"v" * 600_000)])
        ),
    }


def _fetch() -> dict[str, list[Step]]:
    def fetch(
        *,
        topic: Any = T,
        topic_id: Any = T_ID,
        partition: int = 0,
        offset: int = 0,
        **more: Any,
    ) -> list[Step]:
        outer: Json = {
            name: more.pop(name)
            for name in ("max_bytes", "min_bytes", "isolation_level", "session_id", "session_epoch")
            if name in more
        }
        part = {
            "partition": partition,
            "fetch_offset": offset,
            "partition_max_bytes": 1_000_000,
            **more,
        }
        wanted = {"topic": topic, "topic_id": topic_id, "partitions": [part]}
        return [Step("Fetch", {"max_wait_ms": 50, "min_bytes": 1, "topics": [wanted], **outer})]

    return {
        "Fetch: start": fetch(),
        "Fetch: middle": fetch(offset=1),
        "Fetch: end": fetch(offset=3),
        "Fetch: beyond": fetch(offset=4),
        "Fetch: negative": fetch(offset=-1),
        "Fetch: unknown topic": fetch(topic="unknown", topic_id=STRANGE_ID),
        "Fetch: no id": fetch(topic="unknown", topic_id=NO_ID),
        "Fetch: bad topic": fetch(topic="a/b", topic_id=NO_ID),
        "Fetch: unknown partition": fetch(partition=9),
        "Fetch: epoch of now": fetch(current_leader_epoch=0),
        "Fetch: epoch ahead": fetch(current_leader_epoch=7),
        "Fetch: last epoch ahead": fetch(last_fetched_epoch=7, current_leader_epoch=0),
        "Fetch: one byte": fetch(partition_max_bytes=1),
        "Fetch: one byte in all": fetch(max_bytes=1),
        "Fetch: no bytes": fetch(partition_max_bytes=0),
        "Fetch: committed": fetch(isolation_level=1),
        "Fetch: unknown session": fetch(session_id=77, session_epoch=3),
        "Fetch: new session": fetch(session_id=0, session_epoch=0),
        "Fetch: epoch without session": fetch(session_id=0, session_epoch=4),
        "Fetch: nothing": [Step("Fetch", {"max_wait_ms": 50, "min_bytes": 1, "topics": []})],
    }


def _groups() -> dict[str, list[Step]]:  # noqa: C901 - many short makers of steps
    range_protocol = [{"name": "range", "metadata": b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"}]

    def join(**more: Any) -> Step:
        fields = {
            "group_id": G,
            "session_timeout_ms": 10_000,
            "rebalance_timeout_ms": 10_000,
            "member_id": "",
            "protocol_type": "consumer",
            "protocols": range_protocol,
            **more,
        }
        return Step(
            "JoinGroup",
            fields,
            learn=lambda answer: {
                "member": answer["member_id"],
                "generation": answer["generation_id"],
            },
        )

    def joined(**more: Any) -> list[Step]:
        """A member in: twice, for the first answer may only name it."""
        return [join(**more), join(member_id=Ref("member"), **more)]

    def at(version: int, step: Step) -> Step:
        return Step(step.api, step.fields, version=version, learn=step.learn)

    def member(version: int = 5) -> list[Step]:
        return [at(version, step) for step in joined()]

    def sync(**more: Any) -> Step:
        fields = {
            "group_id": G,
            "generation_id": 1,
            "member_id": Ref("member"),
            "protocol_type": "consumer",
            "protocol_name": "range",
            "assignments": [{"member_id": Ref("member"), "assignment": b"mine"}],
            **more,
        }
        return Step("SyncGroup", fields)

    def synced() -> list[Step]:
        return [*member(), at(3, sync(protocol_type=None, protocol_name=None))]

    def beat(**more: Any) -> Step:
        fields = {"group_id": G, "generation_id": 1, "member_id": Ref("member"), **more}
        return Step("Heartbeat", fields)

    def leave(*members: Json, member_id: Any = None, group: Any = G) -> list[Step]:
        listed = list(members) or [{"member_id": Ref("member")}]
        single = Ref("member") if member_id is None else member_id
        return [
            Step("LeaveGroup", {"group_id": group, "member_id": single}),
            Step("LeaveGroup", {"group_id": group, "members": listed}),
        ]

    def commit(
        *,
        topic: Any = T,
        topic_id: Any = T_ID,
        partition: int = 0,
        metadata: str | None = "note",
        offset: int = 2,
        **more: Any,
    ) -> Step:
        part = {
            "partition_index": partition,
            "committed_offset": offset,
            "committed_metadata": metadata,
        }
        return Step(
            "OffsetCommit",
            {
                "group_id": G,
                "generation_id_or_member_epoch": -1,
                "member_id": "",
                "topics": [{"name": topic, "topic_id": topic_id, "partitions": [part]}],
                **more,
            },
        )

    def fetched(partitions: list[int] | None = None, group: Any = G) -> list[Step]:
        wanted = [0, 1, 9] if partitions is None else partitions
        by_name = [{"name": T, "partition_indexes": wanted}]
        by_id = [{"name": T, "topic_id": T_ID, "partition_indexes": wanted}]
        return [
            Step("OffsetFetch", {"group_id": group, "topics": by_name}),
            Step("OffsetFetch", {"groups": [{"group_id": group, "topics": by_id}]}),
        ]

    def everything(group: Any = G) -> list[Step]:
        return [
            Step("OffsetFetch", {"group_id": group, "topics": None}),
            Step("OffsetFetch", {"groups": [{"group_id": group, "topics": None}]}),
        ]

    def coordinator(key: str, kind: int) -> list[Step]:
        return [
            Step("FindCoordinator", {"key": key, "key_type": kind}),
            Step("FindCoordinator", {"coordinator_keys": [key], "key_type": kind}),
        ]

    def described(group: Any = G) -> list[Step]:
        return [Step("DescribeGroups", {"groups": [group]})]

    def deleted(*groups: Any) -> list[Step]:
        return [Step("DeleteGroups", {"groups_names": list(groups)})]

    return {
        "FindCoordinator: group": coordinator("some-group", 0),
        "FindCoordinator: empty group": coordinator("", 0),
        "FindCoordinator: unknown kind": coordinator("x", 9),
        "JoinGroup: first": joined(),
        "JoinGroup: empty group": [join(group_id="")],
        "JoinGroup: short session": [join(session_timeout_ms=10)],
        "JoinGroup: long session": [join(session_timeout_ms=9_000_000)],
        "JoinGroup: no protocols": [join(protocols=[])],
        "JoinGroup: no protocol type": [join(protocol_type="")],
        "JoinGroup: unknown member": [join(member_id="nobody")],
        "JoinGroup: unknown member of a group": [*member(), join(member_id="nobody")],
        "JoinGroup: other protocol type": [*synced(), join(protocol_type="connect")],
        "JoinGroup: other protocol": [
            *synced(),
            join(protocols=[{"name": "other", "metadata": b""}]),
        ],
        "JoinGroup: static": joined(group_instance_id="static-1"),
        "JoinGroup: static with bad name": [join(group_instance_id="a/b")],
        "JoinGroup: static with empty name": [join(group_instance_id="")],
        "JoinGroup: static, fenced": [
            at(5, join(group_instance_id="static-1")),
            join(group_instance_id="static-1", member_id="another"),
        ],
        "SyncGroup: leader": [*member(), sync()],
        "SyncGroup: unknown group": [sync(group_id="unknown", member_id="m")],
        "SyncGroup: unknown member": [*synced(), sync(member_id="nobody")],
        "SyncGroup: old generation": [*synced(), sync(generation_id=0)],
        "SyncGroup: other protocol type": [*member(), sync(protocol_type="connect")],
        "SyncGroup: other protocol": [*member(), sync(protocol_name="other")],
        "SyncGroup: empty group": [sync(group_id="", member_id="m")],
        "SyncGroup: nobody assigned": [*member(), sync(assignments=[])],
        "Heartbeat: fine": [*synced(), beat()],
        "Heartbeat: before sync": [*member(), beat()],
        "Heartbeat: unknown group": [beat(group_id="unknown", member_id="m")],
        "Heartbeat: unknown member": [*synced(), beat(member_id="nobody")],
        "Heartbeat: old generation": [*synced(), beat(generation_id=0)],
        "Heartbeat: empty group": [beat(group_id="", member_id="m")],
        "Heartbeat: unknown instance": [*synced(), beat(group_instance_id="nobody")],
        "LeaveGroup: fine": [*synced(), *leave(), *described()[:0]],
        "LeaveGroup: unknown group": leave(member_id="m", group="unknown"),
        "LeaveGroup: unknown member": [
            *synced(),
            *leave({"member_id": "nobody"}, member_id="nobody"),
        ],
        "LeaveGroup: one of two": [
            *synced(),
            *leave({"member_id": Ref("member")}, {"member_id": "nobody"}),
        ],
        "LeaveGroup: unknown instance": [
            *synced(),
            *leave({"member_id": "", "group_instance_id": "nobody"}, member_id="nobody"),
        ],
        "OffsetCommit: and fetch": [commit(), *(at(7, s) for s in fetched()[:1])],
        "OffsetCommit: unknown topic": [commit(topic="unknown", topic_id=STRANGE_ID)],
        "OffsetCommit: unknown partition": [commit(partition=9)],
        "OffsetCommit: long note": [commit(metadata="x" * 5000)],
        "OffsetCommit: null note": [commit(metadata=None), *(at(7, s) for s in fetched()[:1])],
        "OffsetCommit: negative": [commit(offset=-1), *(at(7, s) for s in fetched()[:1])],
        "OffsetCommit: empty group": [commit(group_id="")],
        "OffsetCommit: unknown member": [
            commit(member_id="nobody", generation_id_or_member_epoch=1)
        ],
        "OffsetCommit: outside while members are in": [*synced(), commit()],
        "OffsetCommit: of a member": [
            *synced(),
            commit(member_id=Ref("member"), generation_id_or_member_epoch=1),
        ],
        "OffsetCommit: old generation": [
            *synced(),
            commit(member_id=Ref("member"), generation_id_or_member_epoch=0),
        ],
        "OffsetCommit: before sync": [
            *member(),
            commit(member_id=Ref("member"), generation_id_or_member_epoch=1),
        ],
        "OffsetCommit: nothing": [
            Step(
                "OffsetCommit",
                {
                    "group_id": G,
                    "generation_id_or_member_epoch": -1,
                    "member_id": "",
                    "topics": [],
                },
            )
        ],
        "OffsetFetch: unknown group": fetched(),
        "OffsetFetch: all of an unknown group": everything(),
        "OffsetFetch: committed": [at(8, commit()), *fetched()],
        "OffsetFetch: everything": [at(8, commit()), *everything()],
        "OffsetFetch: empty group": fetched(group=""),
        "DescribeGroups: unknown": described("unknown"),
        "DescribeGroups: empty name": described(""),
        "DescribeGroups: member": [*synced(), *described()],
        "DescribeGroups: joining": [*member(), *described()],
        "DescribeGroups: empty group": [at(8, commit()), *described()],
        "DeleteGroups: unknown": deleted("unknown"),
        "DeleteGroups: empty name": deleted(""),
        "DeleteGroups: with members": [*synced(), *deleted(G)],
        "DeleteGroups: empty": [at(8, commit()), *deleted(G, G)],
        "OffsetDelete: some": [
            at(8, commit()),
            Step(
                "OffsetDelete",
                {
                    "group_id": G,
                    "topics": [
                        {
                            "name": T,
                            "partitions": [{"partition_index": 0}, {"partition_index": 9}],
                        }
                    ],
                },
            ),
            *(at(7, s) for s in fetched()[:1]),
        ],
        "OffsetDelete: unknown group": [
            Step(
                "OffsetDelete",
                {
                    "group_id": "unknown",
                    "topics": [{"name": T, "partitions": [{"partition_index": 0}]}],
                },
            )
        ],
        "ListGroups: filters": [
            Step("ListGroups", {"states_filter": ["Nonsense"]}),
            Step("ListGroups", {"types_filter": ["nonsense"]}),
            Step("ListGroups", {"types_filter": ["share"]}),
        ],
    }


def _others() -> dict[str, list[Step]]:
    part = {"partition_index": 0}
    return {
        "InitProducerId: idempotent": [
            Step("InitProducerId", {"transactional_id": None, "transaction_timeout_ms": 1000})
        ],
        "InitProducerId: empty transactional id": [
            Step("InitProducerId", {"transactional_id": "", "transaction_timeout_ms": 1000})
        ],
        "InitProducerId: with a producer id": [
            Step(
                "InitProducerId",
                {
                    "transactional_id": None,
                    "transaction_timeout_ms": 1000,
                    "producer_id": 5,
                    "producer_epoch": 2,
                },
            )
        ],
        "InitProducerId: with an epoch only": [
            Step(
                "InitProducerId",
                {
                    "transactional_id": None,
                    "transaction_timeout_ms": 1000,
                    "producer_epoch": 2,
                },
            )
        ],
        "DescribeCluster: brokers": [Step("DescribeCluster", {})],
        "DescribeCluster: operations": [
            Step("DescribeCluster", {"include_cluster_authorized_operations": True})
        ],
        "DescribeCluster: controllers": [Step("DescribeCluster", {"endpoint_type": 2})],
        "DescribeCluster: unknown kind": [Step("DescribeCluster", {"endpoint_type": 9})],
        "DescribeProducers: known and unknown": [
            Step(
                "DescribeProducers",
                {
                    "topics": [
                        {"name": T, "partition_indexes": [0, 9]},
                        {"name": "unknown", "partition_indexes": [0]},
                        {"name": "a/b", "partition_indexes": [0]},
                    ]
                },
            )
        ],
        "DescribeLogDirs: known and unknown": [
            Step(
                "DescribeLogDirs",
                {
                    "topics": [
                        {"topic": T, "partitions": [0, 9]},
                        {"topic": "unknown", "partitions": [0]},
                    ]
                },
            )
        ],
        "DescribeLogDirs: nothing": [Step("DescribeLogDirs", {"topics": []})],
        "ElectLeaders: known and unknown": [
            Step(
                "ElectLeaders",
                {
                    "topic_partitions": [
                        {"topic": T, "partitions": [0, 9]},
                        {"topic": "unknown", "partitions": [0]},
                    ],
                    "timeout_ms": 5000,
                },
            )
        ],
        "ElectLeaders: unclean": [
            Step(
                "ElectLeaders",
                {
                    "election_type": 1,
                    "topic_partitions": [{"topic": T, "partitions": [0]}],
                    "timeout_ms": 5000,
                },
            )
        ],
        "ElectLeaders: unknown kind": [
            Step(
                "ElectLeaders",
                {
                    "election_type": 7,
                    "topic_partitions": [{"topic": T, "partitions": [0]}],
                    "timeout_ms": 5000,
                },
            )
        ],
        "ListPartitionReassignments: all": [Step("ListPartitionReassignments", {"topics": None})],
        "AlterPartitionReassignments: known and unknown": [
            Step(
                "AlterPartitionReassignments",
                {
                    "topics": [
                        {"name": T, "partitions": [{**part, "replicas": [1]}]},
                        {"name": T, "partitions": [{"partition_index": 9, "replicas": [1]}]},
                        {"name": "unknown", "partitions": [{**part, "replicas": [1]}]},
                    ],
                    "timeout_ms": 5000,
                },
            )
        ],
        "AlterPartitionReassignments: to nobody": [
            Step(
                "AlterPartitionReassignments",
                {
                    "topics": [{"name": T, "partitions": [{**part, "replicas": [9]}]}],
                    "timeout_ms": 5000,
                },
            )
        ],
        "AlterPartitionReassignments: cancel nothing": [
            Step(
                "AlterPartitionReassignments",
                {
                    "topics": [{"name": T, "partitions": [{**part, "replicas": None}]}],
                    "timeout_ms": 5000,
                },
            )
        ],
        "AlterReplicaLogDirs: to nowhere": [
            Step(
                "AlterReplicaLogDirs",
                {
                    "dirs": [
                        {"path": "/no/such/place", "topics": [{"name": T, "partitions": [0, 9]}]}
                    ]
                },
            )
        ],
        "UpdateFeatures: unknown": [
            Step(
                "UpdateFeatures",
                {"feature_updates": [{"feature": "no.such", "max_version_level": 1}]},
            )
        ],
        "DescribeQuorum: another": [
            Step("DescribeQuorum", {"topics": [{"topic_name": T, "partitions": [part]}]})
        ],
    }
