"""Questions for the coordinator of transactions: ids, partitions, ends, time-outs, descriptions."""

from typing import Any

from .parity import Ref, Step
from .parity_steps import (
    COMPLETE,
    EPOCH,
    NEW_END,
    OLD_PRODUCE,
    OTHER,
    PID,
    STRANGE_PID,
    TX,
    T,
    abort,
    add,
    add_many,
    add_offsets,
    commit,
    commit_offset,
    described,
    fetch,
    init,
    newer,
    offset,
    older,
    positions,
    producers,
    settled,
    write,
)


def coordinator_cases() -> dict[str, list[Step]]:
    """Steps by the name of the case: ``Api: what``."""
    return {
        name: steps
        for part in (
            _init_producer_id,
            _add_partitions,
            _add_offsets,
            _end,
            _time_outs,
            _descriptions,
            _others,
        )
        for name, steps in part().items()
    }


def _init_producer_id() -> dict[str, list[Step]]:
    asked = init(None)
    return {
        "InitProducerId: transactional": [asked, described()],
        "InitProducerId: transactional, twice": [asked, asked, asked],
        "InitProducerId: timeout zero": [init(None, timeout_ms=0)],
        "InitProducerId: timeout negative": [init(None, timeout_ms=-1)],
        "InitProducerId: timeout at its bound": [init(None, timeout_ms=900_000), described()],
        "InitProducerId: timeout above its bound": [init(None, timeout_ms=900_001), described()],
        "InitProducerId: idempotent, timeout zero": [
            init(None, timeout_ms=0, transactional_id=None)
        ],
        "InitProducerId: timeout changes": [init(4), init(None, timeout_ms=5000), described()],
        "InitProducerId: strange name": [
            init(None, transactional_id=Ref("strange")),
            described(Ref("strange")),
        ],
        "InitProducerId: long name": [init(None, transactional_id=Ref("long"))],
        "InitProducerId: unknown id, with a producer id": [
            init(None, producer_id=STRANGE_PID, producer_epoch=3),
            described(),
        ],
        "InitProducerId: transactional, an epoch only": [init(None, producer_epoch=3)],
        "InitProducerId: transactional, a producer id only": [
            init(4),
            init(None, producer_id=PID, producer_epoch=-1),
        ],
        "InitProducerId: next epoch": [
            init(4),
            init(None, producer_id=PID, producer_epoch=EPOCH),
            init(None, producer_id=PID, producer_epoch=EPOCH),
            described(),
        ],
        "InitProducerId: next epoch, asked again": [
            init(4),
            init(None, epoch="second", producer_id=PID, producer_epoch=EPOCH),
            init(None, epoch="third", producer_id=PID, producer_epoch=EPOCH),
            described(),
        ],
        "InitProducerId: next epoch from two back": [
            init(4, epoch="first"),
            init(4),
            init(4),
            init(None, producer_id=PID, producer_epoch=Ref("first")),
        ],
        "InitProducerId: next epoch from an epoch ahead": [
            init(4),
            init(None, producer_id=PID, producer_epoch=Ref("epoch", 1)),
        ],
        "InitProducerId: next epoch of another producer": [
            init(4),
            init(None, producer_id=STRANGE_PID, producer_epoch=EPOCH),
        ],
        "InitProducerId: in an open transaction": [
            init(4, epoch="first"),
            add(epoch=Ref("first")),
            write(OLD_PRODUCE, epoch=Ref("first")),
            init(None, epoch="second"),
            settled(*COMPLETE, "Empty"),
            init(None, epoch="third"),
            fetch(),
            fetch(committed=False),
            producers(),
        ],
        "InitProducerId: in an empty open transaction": [
            init(4),
            add(),
            init(None),
            settled(*COMPLETE, "Empty"),
            init(None),
            fetch(committed=False),
        ],
        "InitProducerId: next epoch in an open transaction": [
            init(4),
            add(),
            init(4, producer_id=PID, producer_epoch=EPOCH),
            settled(*COMPLETE, "Empty"),
            init(4, producer_id=PID, producer_epoch=EPOCH),
            described(),
        ],
        "InitProducerId: after an older client's transaction": [*older(), init(None), described()],
        "InitProducerId: after a newer client's transaction": [*newer(), init(None), described()],
        "InitProducerId: two phases": [init(None, enable_2pc=True)],
        "InitProducerId: keep prepared": [init(None, keep_prepared_txn=True)],
    }


def _add_partitions() -> dict[str, list[Step]]:
    def asked(*partitions: int, **more: Any) -> list[Step]:
        """As a client, and as a broker: a version takes one of the two."""
        topic = more.pop("topic", T)
        topics = more.pop("topics", [{"name": topic, "partitions": list(partitions or (0,))}])
        batched = {
            key: more[name]
            for key, name in (
                ("transactional_id", "transactional_id"),
                ("producer_id", "pid"),
                ("producer_epoch", "epoch"),
            )
            if name in more
        }
        return [
            add(version=None, topics=topics, **more),
            add_many({"topics": topics, **batched}),
        ]

    def verify(**more: Any) -> Step:
        return add_many({"verify_only": True, **more})

    return {
        "AddPartitionsToTxn: first": [init(4), *asked(), described()],
        "AddPartitionsToTxn: again": [init(4), *asked(), *asked(), *asked(0, 1), described()],
        "AddPartitionsToTxn: twice in a request": [init(4), *asked(0, 0), described()],
        "AddPartitionsToTxn: unknown transactional id": asked(pid=5, epoch=0),
        "AddPartitionsToTxn: empty transactional id": asked(pid=5, epoch=0, transactional_id=""),
        "AddPartitionsToTxn: another producer": [init(4), *asked(pid=STRANGE_PID)],
        "AddPartitionsToTxn: no producer": [init(4), *asked(pid=-1)],
        "AddPartitionsToTxn: older epoch": [
            init(4, epoch="first"),
            init(4),
            *asked(epoch=Ref("first")),
        ],
        "AddPartitionsToTxn: epoch ahead": [init(4), *asked(epoch=Ref("epoch", 1))],
        "AddPartitionsToTxn: unknown topic": [init(4), *asked(topic="unknown"), described()],
        "AddPartitionsToTxn: bad topic": [init(4), *asked(topic="a/b"), described()],
        "AddPartitionsToTxn: empty topic": [init(4), *asked(topic=""), described()],
        "AddPartitionsToTxn: unknown partition": [init(4), *asked(9)],
        "AddPartitionsToTxn: one good, one unknown": [
            init(4),
            *asked(topics=[{"name": T, "partitions": [0, 9]}, {"name": "no", "partitions": [0]}]),
            described(),
        ],
        "AddPartitionsToTxn: unknown partition and unknown id": asked(9, pid=5, epoch=0),
        "AddPartitionsToTxn: internal topic": [
            init(4),
            *asked(topic="__transaction_state"),
            described(),
        ],
        "AddPartitionsToTxn: nothing": [init(4), *asked(topics=[]), described()],
        "AddPartitionsToTxn: no partitions": [
            init(4),
            *asked(topics=[{"name": T, "partitions": []}]),
            described(),
        ],
        "AddPartitionsToTxn: after a commit": [*older(), *asked(), described()],
        "AddPartitionsToTxn: after a commit, old epoch of a newer client": [
            init(),
            write(),
            commit(NEW_END, learn=False),
            settled(),
            *asked(),
        ],
        "AddPartitionsToTxn: verified": [init(4), add(), verify(), described()],
        "AddPartitionsToTxn: verified, not in": [init(4), verify(), described()],
        "AddPartitionsToTxn: verified, another one is in": [
            init(4),
            add(),
            verify(topics=[{"name": T, "partitions": [0, 1]}]),
        ],
        "AddPartitionsToTxn: verified, unknown id": [
            verify(transactional_id="unknown", producer_id=5, producer_epoch=0)
        ],
        "AddPartitionsToTxn: verified, another producer": [
            init(4),
            add(),
            verify(producer_id=STRANGE_PID),
        ],
        "AddPartitionsToTxn: verified, older epoch": [
            init(4, epoch="first"),
            init(4),
            add(),
            verify(producer_epoch=Ref("first")),
        ],
        "AddPartitionsToTxn: verified, epoch ahead": [
            init(4),
            add(),
            verify(producer_epoch=Ref("epoch", 1)),
        ],
        "AddPartitionsToTxn: verified, empty id": [
            verify(transactional_id="", producer_id=5, producer_epoch=0)
        ],
        "AddPartitionsToTxn: verified, unknown topic": [
            init(4),
            add(),
            verify(topics=[{"name": "unknown", "partitions": [0]}]),
        ],
        "AddPartitionsToTxn: verified after a commit": [*older(), verify()],
        "AddPartitionsToTxn: two transactions": [
            init(4),
            init(4, pid="other_pid", epoch="other_epoch", transactional_id=OTHER),
            add_many(
                {},
                {
                    "transactional_id": OTHER,
                    "producer_id": Ref("other_pid"),
                    "producer_epoch": Ref("other_epoch"),
                    "verify_only": True,
                },
                {"transactional_id": "unknown"},
            ),
            described(TX, OTHER),
        ],
        "AddPartitionsToTxn: a transaction twice": [
            init(4),
            add_many({}, {"topics": [{"name": T, "partitions": [1]}]}),
            described(),
        ],
    }


def _add_offsets() -> dict[str, list[Step]]:
    asked = add_offsets
    return {
        "AddOffsetsToTxn: first": [init(4), asked(None), described()],
        "AddOffsetsToTxn: again": [init(4), asked(None), asked(None), described()],
        "AddOffsetsToTxn: unknown transactional id": [asked(None, pid=5, epoch=0)],
        "AddOffsetsToTxn: empty transactional id": [
            asked(None, pid=5, epoch=0, transactional_id="")
        ],
        "AddOffsetsToTxn: another producer": [init(4), asked(None, pid=STRANGE_PID)],
        "AddOffsetsToTxn: older epoch": [
            init(4, epoch="first"),
            init(4),
            asked(None, epoch=Ref("first")),
        ],
        "AddOffsetsToTxn: epoch ahead": [init(4), asked(None, epoch=Ref("epoch", 1))],
        "AddOffsetsToTxn: empty group": [init(4), asked(None, group=""), described()],
        "AddOffsetsToTxn: after a commit": [*older(), asked(None), described()],
    }


def _end() -> dict[str, list[Step]]:
    def ongoing() -> list[Step]:
        return [init(4), add(), write(OLD_PRODUCE)]

    def tried(*, committed: bool = True, **more: Any) -> list[Step]:
        return [(commit if committed else abort)(None, learn=False, **more)]

    return {
        "EndTxn: commit": [*ongoing(), commit(None), settled(), producers(), fetch()],
        "EndTxn: abort": [*ongoing(), abort(None), settled(), producers(), fetch()],
        "EndTxn: commit before anything": [init(4), *tried(), described()],
        "EndTxn: abort before anything": [init(4), *tried(committed=False), described()],
        "EndTxn: commit twice": [*ongoing(), *tried(), settled(), *tried(), *tried(), described()],
        "EndTxn: abort twice": [
            *ongoing(),
            *tried(committed=False),
            settled(),
            *tried(committed=False),
            described(),
        ],
        "EndTxn: commit, then abort": [
            *ongoing(),
            *tried(),
            settled(),
            *tried(committed=False),
            described(),
        ],
        "EndTxn: abort, then commit": [
            *ongoing(),
            *tried(committed=False),
            settled(),
            *tried(),
            described(),
        ],
        "EndTxn: commit again with the new epoch": [
            *ongoing(),
            commit(None),
            settled(),
            commit(None),
            described(),
        ],
        "EndTxn: abort with the new epoch after a commit": [
            *ongoing(),
            commit(None),
            settled(),
            abort(None),
            described(),
        ],
        "EndTxn: abort with the new epoch after an abort": [
            *ongoing(),
            abort(None),
            settled(),
            abort(None),
            described(),
            abort(None),
            described(),
        ],
        "EndTxn: an epoch from two transactions ago": [
            init(epoch="first"),
            write(epoch=Ref("first")),
            commit(NEW_END, epoch=Ref("first")),
            settled(),
            write(),
            commit(NEW_END),
            settled(),
            *tried(epoch=Ref("first")),
        ],
        "EndTxn: unknown transactional id": tried(pid=5, epoch=0),
        "EndTxn: empty transactional id": tried(pid=5, epoch=0, transactional_id=""),
        "EndTxn: another producer": [*ongoing(), *tried(pid=STRANGE_PID), described()],
        "EndTxn: older epoch": [
            init(4, epoch="first"),
            init(4),
            add(),
            *tried(epoch=Ref("first")),
            *tried(committed=False, epoch=Ref("first")),
            described(),
        ],
        "EndTxn: epoch ahead": [*ongoing(), *tried(epoch=Ref("epoch", 1)), described()],
        "EndTxn: a new transaction of the older kind after one of the newer": [
            *newer(),
            add(),
            write(OLD_PRODUCE, sequence=0),
            commit(None),
            settled(),
            fetch(),
        ],
        "EndTxn: only offsets": [
            init(4),
            add_offsets(),
            commit_offset(3),
            commit(None),
            settled(),
            positions(),
        ],
        "EndTxn: partition added, nothing written": [
            init(4),
            add(1),
            commit(None),
            settled(),
            fetch(partition=1),
            offset(-1, partition=1),
        ],
        "EndTxn: partition added, nothing written, aborted": [
            init(4),
            add(1),
            abort(None),
            settled(),
            fetch(partition=1),
            producers(1),
        ],
        "EndTxn: topic deleted meanwhile": [
            *ongoing(),
            Step("DeleteTopics", {"topic_names": [T], "timeout_ms": 5000}, version=4),
            commit(None),
            settled(),
        ],
    }


def _time_outs() -> dict[str, list[Step]]:
    def expired() -> list[Step]:
        return [
            init(4, timeout_ms=100),
            add(),
            write(OLD_PRODUCE),
            settled(),
        ]

    return {
        "EndTxn: after the time-out": [*expired(), commit(None, learn=False), described()],
        "EndTxn: abort after the time-out": [
            *expired(),
            abort(None, learn=False),
            described(),
            producers(),
        ],
        "AddPartitionsToTxn: after the time-out": [*expired(), add(version=None), described()],
        "AddOffsetsToTxn: after the time-out": [*expired(), add_offsets(None), described()],
        "Produce: after the time-out": [*expired(), write(None, sequence=1), described()],
        "InitProducerId: after the time-out": [*expired(), init(None), described()],
        "InitProducerId: next epoch after the time-out": [
            *expired(),
            init(None, producer_id=PID, producer_epoch=EPOCH),
            described(),
        ],
    }


def _descriptions() -> dict[str, list[Step]]:
    def listed(**more: Any) -> Step:
        return Step("ListTransactions", {"producer_id_filters": [PID], **more})

    ongoing = [init(4), add(0, 1), write(OLD_PRODUCE)]
    return {
        "FindCoordinator: transaction": _coordinator("some-tx", 1),
        "FindCoordinator: empty transactional id": _coordinator("", 1),
        "DescribeTransactions: unknown": [described("unknown")],
        "DescribeTransactions: empty name": [described("")],
        "DescribeTransactions: nothing": [
            Step("DescribeTransactions", {"transactional_ids": []}, version=0)
        ],
        "DescribeTransactions: twice": [init(4), described(TX, TX)],
        "DescribeTransactions: some": [init(4), described(TX, "unknown")],
        "DescribeTransactions: ongoing": [*ongoing, described(), producers(0, 1)],
        "DescribeTransactions: with offsets": [init(4), add_offsets(), described()],
        "DescribeTransactions: committed": [*older(), described(), producers()],
        "DescribeTransactions: aborted": [*older(abort()), described(), producers()],
        "ListTransactions: empty": [init(4), listed()],
        "ListTransactions: ongoing": [*ongoing, listed()],
        "ListTransactions: complete": [*newer(), listed()],
        "ListTransactions: by state": [
            *ongoing,
            listed(state_filters=["Ongoing"]),
            listed(state_filters=["Empty"]),
            listed(state_filters=["Ongoing", "CompleteCommit"]),
            listed(state_filters=["ongoing"]),
            listed(state_filters=["Nonsense", "Ongoing"]),
            listed(state_filters=["Dead", "PrepareEpochFence"]),
            listed(state_filters=[""]),
        ],
        "ListTransactions: by duration": [
            *ongoing,
            listed(duration_filter=0),
            listed(duration_filter=-5),
            listed(duration_filter=3_600_000),
        ],
        "ListTransactions: by duration, not ongoing": [*older(), listed(duration_filter=0)],
        "ListTransactions: by pattern": [
            *ongoing,
            listed(transactional_id_pattern="tx-.*"),
            listed(transactional_id_pattern="tx"),
            listed(transactional_id_pattern=""),
            listed(transactional_id_pattern="["),
            listed(transactional_id_pattern="^(tx-parity-[0-9]+)$"),
        ],
        "ListTransactions: unknown producer": [
            Step("ListTransactions", {"producer_id_filters": [STRANGE_PID]})
        ],
        "DescribeProducers: idempotent": [
            init(4, transactional_id=None),
            write(OLD_PRODUCE, attributes=0, transactional_id=None),
            producers(),
        ],
        "DescribeProducers: open": [*ongoing, producers()],
    }


def _coordinator(key: str, kind: int) -> list[Step]:
    return [
        Step("FindCoordinator", {"key": key, "key_type": kind}),
        Step("FindCoordinator", {"coordinator_keys": [key], "key_type": kind}),
    ]


def _others() -> dict[str, list[Step]]:
    def update(level: int, kind: int = 1, **more: Any) -> Step:
        wanted = {"feature": "transaction.version", "max_version_level": level}
        return Step(
            "UpdateFeatures",
            {
                "feature_updates": [{**wanted, "upgrade_type": kind}],
                "validate_only": True,
                **more,
            },
        )

    return {
        "UpdateFeatures: transaction.version": [
            update(level, kind)
            for level, kind in ((2, 1), (3, 1), (1, 1), (1, 2), (1, 3), (0, 2), (0, 3), (-1, 1))
        ],
        "CreateTopics: the transactions' own topic": [
            Step(
                "CreateTopics",
                {
                    "topics": [
                        {
                            "name": "__transaction_state",
                            "num_partitions": 1,
                            "replication_factor": 1,
                        }
                    ],
                    "timeout_ms": 5000,
                },
            )
        ],
        "DescribeConfigs: the transactions' own topic": [
            Step(
                "DescribeConfigs",
                {
                    "resources": [
                        {
                            "resource_type": 2,
                            "resource_name": "__transaction_state",
                            "configuration_keys": [
                                "cleanup.policy",
                                "compression.type",
                                "segment.bytes",
                                "unclean.leader.election.enable",
                            ],
                        }
                    ]
                },
            )
        ],
        "Metadata: the transactions' own topic": [
            Step(
                "Metadata",
                {
                    "topics": [{"name": "__transaction_state"}],
                    "allow_auto_topic_creation": False,
                },
            )
        ],
        "DescribeConfigs: broker's transactions": [
            Step(
                "DescribeConfigs",
                {
                    "resources": [
                        {
                            "resource_type": 4,
                            "resource_name": "1",
                            "configuration_keys": [
                                "transactional.id.expiration.ms",
                                "transaction.max.timeout.ms",
                                "transaction.state.log.segment.bytes",
                                "log.cleaner.enable",
                                "log.cleaner.backoff.ms",
                                "log.cleaner.min.cleanable.ratio",
                                "log.cleaner.delete.retention.ms",
                            ],
                        }
                    ]
                },
            )
        ],
    }
