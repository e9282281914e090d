"""Questions about transactional records: writing, ending and reading them."""

from typing import Any, Final

from .parity import FIRST_TIMESTAMP_MS, Batch, Batches, Json, Ref, Step
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
    commit,
    compacted,
    described,
    fetch,
    init,
    markers,
    newer,
    offset,
    older,
    producers,
    settled,
    write,
)

UNKNOWN_TOPIC_OR_PARTITION: Final = 3
NOT_LEADER_OR_FOLLOWER: Final = 6


def txn_data_cases() -> dict[str, list[Step]]:
    """Steps by the name of the case: ``Api: what``."""
    return {name: steps for part in (_produce, _markers, _reads) for name, steps in part().items()}


def _produce() -> dict[str, list[Step]]:
    put = write
    return {
        "Produce: in a transaction": [
            init(4),
            add(),
            put(None),
            put(None, sequence=1),
            described(),
        ],
        "Produce: in a transaction, not added": [init(), put(None), described(), producers()],
        "Produce: in a transaction, two partitions": [
            init(),
            put(),
            put(partition=1),
            described(),
            commit(NEW_END),
            settled(),
            fetch(),
            fetch(partition=1),
        ],
        "Produce: in a transaction, another partition is in": [
            init(4),
            add(1),
            put(None),
            described(),
        ],
        "Produce: unknown transactional id": [put(None, pid=5, epoch=0)],
        "Produce: empty transactional id": [put(None, pid=5, epoch=0, transactional_id="")],
        "Produce: transactional without its id": [init(4), add(), put(None, transactional_id=None)],
        "Produce: another transactional id": [
            init(4),
            init(4, pid="other_pid", epoch="other_epoch", transactional_id=OTHER),
            add(),
            put(None, transactional_id=OTHER),
        ],
        "Produce: transactional id, plain batch": [
            init(4),
            add(),
            put(None, attributes=0, pid=-1, epoch=-1, sequence=-1),
        ],
        "Produce: transactional id, idempotent batch": [init(4), add(), put(None, attributes=0)],
        "Produce: transactional batch without sequence": [init(4), add(), put(None, sequence=-1)],
        "Produce: transactional batch without producer": [
            init(4),
            add(),
            put(None, pid=-1, epoch=-1, sequence=-1),
        ],
        "Produce: transactional, unknown topic": [
            init(4),
            put(None, topic="unknown", topic_id=b"\x09" * 16),
            described(),
        ],
        "Produce: transactional, unknown partition": [init(4), put(None, partition=9), described()],
        "Produce: another producer": [init(4), add(), put(None, pid=STRANGE_PID)],
        "Produce: transactional, older epoch": [
            init(4, epoch="first"),
            init(4),
            add(),
            put(None, epoch=Ref("first")),
        ],
        "Produce: transactional, older epoch after a write": [
            init(4, epoch="first"),
            init(4),
            add(),
            put(None),
            put(None, epoch=Ref("first"), sequence=1),
        ],
        "Produce: transactional, epoch ahead": [init(4), add(), put(None, epoch=Ref("epoch", 1))],
        "Produce: fenced in an open transaction": [
            init(4, epoch="first"),
            add(epoch=Ref("first")),
            put(OLD_PRODUCE, epoch=Ref("first")),
            init(4),
            settled(*COMPLETE, "Empty"),
            put(None, epoch=Ref("first"), sequence=1),
            producers(),
        ],
        "Produce: transactional, late start": [init(4), add(), put(None, sequence=4)],
        "Produce: transactional, gap": [init(4), add(), put(None), put(None, sequence=4)],
        "Produce: transactional, duplicate": [init(4), add(), put(None), put(None), fetch()],
        "Produce: older client after its commit": [
            *older(),
            put(None, sequence=1),
            fetch(),
            producers(),
        ],
        "Produce: older client after its commit, duplicate": [*older(), put(None)],
        "Produce: newer client after its commit": [*newer(), put(None), described(), producers()],
        "Produce: newer client after its commit, sequence goes on": [
            *newer(),
            put(None, sequence=1),
        ],
        "Produce: newer client after its commit, old epoch": [
            init(),
            put(),
            commit(NEW_END, learn=False),
            settled(),
            put(None, sequence=1),
            put(None),
        ],
        "Produce: newer client after its abort, old epoch": [
            init(),
            put(),
            abort(NEW_END, learn=False),
            settled(),
            put(None, sequence=1),
        ],
        "Produce: older client, idempotent batch in the open transaction": [
            init(4),
            add(),
            put(OLD_PRODUCE),
            put(None, attributes=0, sequence=1, transactional_id=None),
        ],
        "Produce: control batch in a transaction": [init(4), add(), put(None, attributes=0x30)],
        "Produce: two transactional batches": [
            init(4),
            add(),
            put(None, records=Batches((_batch(), _batch(base_sequence=1)))),
            fetch(),
        ],
        "Produce: transactional with acks 1": [
            init(4),
            add(),
            Step(
                "Produce",
                {
                    "acks": 1,
                    "timeout_ms": 5000,
                    "transactional_id": TX,
                    "topic_data": [
                        {
                            "name": T,
                            "topic_id": Ref("topic_id"),
                            "partition_data": [{"index": 0, "records": Batch(_batch())}],
                        }
                    ],
                },
            ),
        ],
        "Produce: two producers in a request": [
            init(4),
            init(4, pid="other_pid", epoch="other_epoch", transactional_id=OTHER),
            add(0, 1),
            Step(
                "Produce",
                {
                    "acks": -1,
                    "timeout_ms": 5000,
                    "transactional_id": TX,
                    "topic_data": [
                        {
                            "name": T,
                            "topic_id": Ref("topic_id"),
                            "partition_data": [
                                {"index": 0, "records": Batch(_batch())},
                                {
                                    "index": 1,
                                    "records": Batch(
                                        _batch(
                                            producer_id=Ref("other_pid"),
                                            producer_epoch=Ref("other_epoch"),
                                        )
                                    ),
                                },
                            ],
                        }
                    ],
                },
            ),
        ],
        "Produce: to the transactions' own topic": [
            init(4),
            put(None, topic="__transaction_state", topic_id=b"\x09" * 16),
        ],
        "Produce: compacted, null key in a transaction": [
            compacted("compact"),
            init(4),
            add(topic=Ref("compacted")),
            put(
                None,
                topic=Ref("compacted"),
                topic_id=Ref("compacted_id"),
                values=[(b"k", b"v"), (None, b"v")],
                until=_is_led,
            ),
            commit(),
            described(),
        ],
    }


def _is_led(answer: Json) -> bool:
    """Whether the new topic's partition has reached its leader."""
    code: int = answer["responses"][0]["partition_responses"][0]["error_code"]
    return code not in (UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER)


def _batch(**more: Any) -> Json:
    return {
        "attributes": 0x10,
        "producer_id": PID,
        "producer_epoch": EPOCH,
        "base_sequence": 0,
        **more,
    }


def _markers() -> dict[str, list[Step]]:
    opened = [init(4), add(), write(OLD_PRODUCE)]
    return {
        "WriteTxnMarkers: commit of an open transaction": [
            *opened,
            markers(),
            fetch(),
            producers(),
            described(),
        ],
        "WriteTxnMarkers: abort of an open transaction": [
            *opened,
            markers(commit=False),
            fetch(),
            producers(),
        ],
        "WriteTxnMarkers: next epoch": [
            *opened,
            markers(epoch=Ref("epoch", 1)),
            fetch(),
            producers(),
        ],
        "WriteTxnMarkers: next epoch, newer transactions": [
            *opened,
            markers(epoch=Ref("epoch", 1), transaction_version=2),
            fetch(),
        ],
        "WriteTxnMarkers: same epoch, newer transactions": [
            *opened,
            markers(transaction_version=2),
            fetch(),
        ],
        "WriteTxnMarkers: unknown producer": [markers(pid=STRANGE_PID, epoch=0), fetch()],
        "WriteTxnMarkers: nothing open": [*older(), markers(), fetch(), producers()],
        "WriteTxnMarkers: nothing open, newer transactions": [
            *newer(),
            markers(transaction_version=2),
            fetch(),
        ],
        "WriteTxnMarkers: older epoch": [
            init(4, epoch="first"),
            init(4),
            add(),
            write(OLD_PRODUCE),
            markers(epoch=Ref("first")),
            producers(),
        ],
        "WriteTxnMarkers: coordinator epochs": [
            *opened,
            markers(coordinator_epoch=5),
            markers(coordinator_epoch=4),
            markers(coordinator_epoch=5),
            producers(),
        ],
        "WriteTxnMarkers: unknown topic": [markers(topic="unknown", pid=5, epoch=0)],
        "WriteTxnMarkers: unknown partition": [markers(partition=9, pid=5, epoch=0)],
        "WriteTxnMarkers: bad topic": [markers(topic="a/b", pid=5, epoch=0)],
        "WriteTxnMarkers: no producer": [markers(pid=-1, epoch=-1)],
        "WriteTxnMarkers: nothing": [Step("WriteTxnMarkers", {"markers": []})],
        "WriteTxnMarkers: no topics": [
            Step("WriteTxnMarkers", {"markers": [{"producer_id": 5, "topics": []}]})
        ],
    }


def _reads() -> dict[str, list[Step]]:
    def look(start: int = 0) -> list[Step]:
        return [
            fetch(version=None, offset=start),
            fetch(version=None, offset=start, committed=False),
        ]

    def listed(*times: int) -> list[Step]:
        return [
            offset(when, committed=committed, version=None)
            for when in times
            for committed in (True, False)
        ]

    first = FIRST_TIMESTAMP_MS
    times = (-1, -2, -3, -4, -5, -6, first, first + 1)
    late: Json = {"first_timestamp_ms": first + 500}
    opened = [init(4), add(), write(OLD_PRODUCE)]
    other = [
        init(4, pid="other_pid", epoch="other_epoch", transactional_id=OTHER),
        add(transactional_id=OTHER, pid=Ref("other_pid"), epoch=Ref("other_epoch")),
        write(OLD_PRODUCE, transactional_id=OTHER, pid=Ref("other_pid"), epoch=Ref("other_epoch")),
    ]
    return {
        "Fetch: open transaction": [*opened, *look(), *look(3), *look(4), *look(5)],
        "Fetch: committed transaction": [*opened, commit(), settled(), *look(), *look(4)],
        "Fetch: aborted transaction": [*opened, abort(), settled(), *look(), *look(4), *look(5)],
        "Fetch: two open, one ends": [
            *opened,
            *other,
            write(OLD_PRODUCE, sequence=1),
            abort(),
            settled(),
            *look(),
            *look(6),
            commit(
                transactional_id=OTHER,
                pid=Ref("other_pid"),
                epoch=Ref("other_epoch"),
                learn=False,
            ),
            Step(
                "DescribeTransactions",
                {"transactional_ids": [OTHER]},
                version=0,
                until=lambda answer: (
                    answer["transaction_states"][0]["transaction_state"] in COMPLETE
                ),
            ),
            *look(),
            *look(4),
        ],
        "Fetch: aborted by a newer client, twice": [
            init(),
            write(),
            abort(NEW_END),
            settled(),
            write(),
            abort(NEW_END),
            settled(),
            *look(),
            *look(6),
        ],
        "Fetch: a marker much later than its records": [
            init(4),
            add(1),
            write(OLD_PRODUCE, partition=1, first_timestamp_ms=first - 8 * 86_400_000),
            commit(),
            settled(),
            fetch(partition=1),
            fetch(partition=1, offset=1),
        ],
        "ListOffsets: open transaction": [*opened, *listed(*times)],
        "ListOffsets: open transaction, a later record": [
            init(4),
            add(),
            write(OLD_PRODUCE, **late),
            *listed(-3, first + 1, first + 500, first + 501),
        ],
        "ListOffsets: committed transaction": [
            init(4),
            add(),
            write(OLD_PRODUCE, **late),
            commit(),
            settled(),
            *listed(-1, -2, -4, -5, -6, first + 1, first + 500),
        ],
        "ListOffsets: aborted transaction": [
            init(4),
            add(),
            write(OLD_PRODUCE, **late),
            abort(),
            settled(),
            *listed(-1, first + 1, first + 500),
        ],
        "ListOffsets: transaction in an empty partition": [
            init(4),
            add(1),
            write(OLD_PRODUCE, partition=1),
            *(
                offset(when, partition=1, committed=committed, version=None)
                for when in (-1, -2, -3, first)
                for committed in (True, False)
            ),
        ],
        "DeleteRecords: to an open transaction's middle": [
            *opened,
            write(OLD_PRODUCE, sequence=1),
            Step("DeleteRecords", _deleted(T, 4)),
            fetch(),
            producers(),
            commit(),
            settled(),
            fetch(offset=4),
        ],
        "DeleteRecords: all, in an open transaction": [
            *opened,
            Step("DeleteRecords", _deleted(T, -1)),
            offset(-1),
            offset(-2),
        ],
        "DeleteRecords: compacted": [
            compacted("compact"),
            Step("DeleteRecords", _deleted(Ref("compacted"), 0), until=_is_known),
        ],
        "DeleteRecords: compacted and deleted": [
            compacted("compact,delete"),
            Step("DeleteRecords", _deleted(Ref("compacted"), 0), until=_is_known),
        ],
        "DeleteRecords: the groups' own topic": [
            Step("DeleteRecords", _deleted("__consumer_offsets", 0)),
            Step("DeleteRecords", _deleted("__transaction_state", 0)),
        ],
    }


def _is_known(answer: Json) -> bool:
    code: int = answer["topics"][0]["partitions"][0]["error_code"]
    return code not in (UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER)


def _deleted(topic: Any, offset_: int) -> Json:
    part = {"partition_index": 0, "offset": offset_}
    return {"topics": [{"name": topic, "partitions": [part]}], "timeout_ms": 5000}
