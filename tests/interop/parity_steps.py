"""The requests of a transactional producer, as steps of a raw conversation.

Two generations of clients live side by side (KIP-890): the older ones add every partition before
they write to it, the newer ones just write, and their epoch grows with every transaction. A step
without a version is asked in the version under test.
"""

from collections.abc import Callable
from typing import Any, Final

from .parity import Batch, Context, Json, Ref, Step

T: Final = Ref("topic")
T_ID: Final = Ref("topic_id")
G: Final = Ref("group")
TX: Final = Ref("tx")
PID: Final = Ref("pid")
EPOCH: Final = Ref("epoch")

OLD_PRODUCE: Final = 11
NEW_PRODUCE: Final = 12
OLD_END: Final = 4
NEW_END: Final = 5

STRANGE_PID: Final = 987_654_321
OTHER: Final = Ref("other_tx")

COMPLETE: Final = ("CompleteCommit", "CompleteAbort")


def init(
    version: int | None = 5,
    *,
    pid: str = "pid",
    epoch: str = "epoch",
    transactional_id: Any = TX,
    timeout_ms: int = 60_000,
    until: Callable[[Json], bool] | None = None,
    **more: Any,
) -> Step:
    """A producer id for the transactional id; later steps know it and its epoch by these names."""

    def learn(answer: Json) -> Context:
        if answer["error_code"]:
            return {}
        return {pid: answer["producer_id"], epoch: answer["producer_epoch"]}

    fields = {
        "transactional_id": transactional_id,
        "transaction_timeout_ms": timeout_ms,
        **more,
    }
    return Step("InitProducerId", fields, version=version, learn=learn, until=until)


def add(
    *partitions: int,
    topic: Any = T,
    version: int | None = 3,
    transactional_id: Any = TX,
    pid: Any = PID,
    epoch: Any = EPOCH,
    topics: list[Json] | None = None,
) -> Step:
    """Partitions to the transaction, as a client asks."""
    listed = [{"name": topic, "partitions": list(partitions or (0,))}]
    return Step(
        "AddPartitionsToTxn",
        {
            "v3_and_below_transactional_id": transactional_id,
            "v3_and_below_producer_id": pid,
            "v3_and_below_producer_epoch": epoch,
            "v3_and_below_topics": listed if topics is None else topics,
        },
        version=version,
    )


def add_many(*transactions: Json, version: int | None = None) -> Step:
    """Partitions to transactions, or a look whether they are in, as a broker asks."""
    full = [
        {
            "transactional_id": TX,
            "producer_id": PID,
            "producer_epoch": EPOCH,
            "topics": [{"name": T, "partitions": [0]}],
            **each,
        }
        for each in transactions
    ]
    return Step("AddPartitionsToTxn", {"transactions": full}, version=version)


def add_offsets(
    version: int | None = 3,
    *,
    group: Any = G,
    transactional_id: Any = TX,
    pid: Any = PID,
    epoch: Any = EPOCH,
) -> Step:
    """A group's offsets to the transaction."""
    return Step(
        "AddOffsetsToTxn",
        {
            "transactional_id": transactional_id,
            "producer_id": pid,
            "producer_epoch": epoch,
            "group_id": group,
        },
        version=version,
    )


def commit_offset(
    version: int | None = None,
    *,
    offset: int = 2,
    partition: int = 0,
    topic: Any = T,
    group: Any = G,
    transactional_id: Any = TX,
    pid: Any = PID,
    epoch: Any = EPOCH,
    metadata: str | None = "note",
    **more: Any,
) -> Step:
    """A position of the group, inside the transaction."""
    part = {
        "partition_index": partition,
        "committed_offset": offset,
        "committed_metadata": metadata,
    }
    return Step(
        "TxnOffsetCommit",
        {
            "transactional_id": transactional_id,
            "group_id": group,
            "producer_id": pid,
            "producer_epoch": epoch,
            "topics": [{"name": topic, "partitions": [part]}],
            **more,
        },
        version=version,
    )


def positions(version: int = 7, *, stable: bool = False, group: Any = G) -> Step:
    """What of the group can be read."""
    return Step(
        "OffsetFetch",
        {
            "group_id": group,
            "topics": [{"name": T, "partition_indexes": [0, 1]}],
            "require_stable": stable,
        },
        version=version,
    )


def write(
    version: int | None = NEW_PRODUCE,
    *,
    sequence: int = 0,
    count: int = 1,
    partition: int = 0,
    pid: Any = PID,
    epoch: Any = EPOCH,
    transactional_id: Any = TX,
    attributes: int = 0x10,
    topic: Any = T,
    topic_id: Any = T_ID,
    values: list[tuple[bytes | None, bytes | None]] | None = None,
    records: Any = None,
    until: Callable[[Json], bool] | None = None,
    **more: Any,
) -> Step:
    """A transactional batch."""
    arguments = {
        "values": [(b"k", b"v")] * count if values is None else values,
        "attributes": attributes,
        "producer_id": pid,
        "producer_epoch": epoch,
        "base_sequence": sequence,
        **more,
    }
    data = {
        "name": topic,
        "topic_id": topic_id,
        "partition_data": [
            {"index": partition, "records": Batch(arguments) if records is None else records}
        ],
    }
    fields = {
        "acks": -1,
        "timeout_ms": 5000,
        "topic_data": [data],
        "transactional_id": transactional_id,
    }
    return Step("Produce", fields, version=version, until=until)


def commit(version: int | None = OLD_END, **more: Any) -> Step:
    """The transaction committed; the newer version's answer brings the next epoch."""
    return _end(version, committed=True, **more)


def abort(version: int | None = OLD_END, **more: Any) -> Step:
    """The transaction aborted."""
    return _end(version, committed=False, **more)


def _end(
    version: int | None,
    *,
    committed: bool,
    transactional_id: Any = TX,
    pid: Any = PID,
    epoch: Any = EPOCH,
    learn: bool = True,
) -> Step:
    def learnt(answer: Json) -> Context:
        if answer["error_code"] or answer["producer_epoch"] < 0:
            return {}
        return {"pid": answer["producer_id"], "epoch": answer["producer_epoch"]}

    fields = {
        "transactional_id": transactional_id,
        "producer_id": pid,
        "producer_epoch": epoch,
        "committed": committed,
    }
    return Step("EndTxn", fields, version=version, learn=learnt if learn else None)


def described(*transactional_ids: Any) -> Step:
    """What the coordinator knows, once it is not about to write markers."""

    def is_quiet(answer: Json) -> bool:
        states = [each["transaction_state"] for each in answer["transaction_states"]]
        return not any(state.startswith("Prepare") for state in states)

    return Step(
        "DescribeTransactions",
        {"transactional_ids": list(transactional_ids or (TX,))},
        version=0,
        until=is_quiet,
    )


def settled(*states: str) -> Step:
    """The same, as soon as every marker is written."""
    wanted = states or COMPLETE
    return Step(
        "DescribeTransactions",
        {"transactional_ids": [TX]},
        version=0,
        until=lambda answer: answer["transaction_states"][0]["transaction_state"] in wanted,
    )


def producers(*partitions: int, topic: Any = T) -> Step:
    """What a partition knows."""
    listed = [{"name": topic, "partition_indexes": list(partitions or (0,))}]
    return Step("DescribeProducers", {"topics": listed}, version=0)


def fetch(
    *, committed: bool = True, offset: int = 0, partition: int = 0, version: int | None = 12
) -> Step:
    """Records, aborted transactions and the last stable offset."""
    part = {"partition": partition, "fetch_offset": offset, "partition_max_bytes": 1_000_000}
    return Step(
        "Fetch",
        {
            "max_wait_ms": 10,
            "min_bytes": 0,
            "isolation_level": int(committed),
            "topics": [{"topic": T, "topic_id": T_ID, "partitions": [part]}],
        },
        version=version,
    )


def offset(
    when: int,
    *,
    committed: bool = True,
    partition: int = 0,
    topic: Any = T,
    version: int | None = 11,
) -> Step:
    """The offset behind a timestamp or a special one."""
    part = {"partition_index": partition, "timestamp": when}
    return Step(
        "ListOffsets",
        {
            "replica_id": -1,
            "isolation_level": int(committed),
            "topics": [{"name": topic, "partitions": [part]}],
        },
        version=version,
    )


def markers(
    *,
    version: int | None = None,
    commit: bool = True,
    topic: Any = T,
    partition: int = 0,
    pid: Any = PID,
    epoch: Any = EPOCH,
    coordinator_epoch: int = 0,
    transaction_version: int = 0,
) -> Step:
    """A marker, as a transaction coordinator has it written."""
    marker = {
        "producer_id": pid,
        "producer_epoch": epoch,
        "transaction_result": commit,
        "topics": [{"name": topic, "partition_indexes": [partition]}],
        "coordinator_epoch": coordinator_epoch,
        "transaction_version": transaction_version,
    }
    return Step("WriteTxnMarkers", {"markers": [marker]}, version=version)


def older(end: Step | None = None) -> list[Step]:
    """A whole transaction of an older client, committed unless said otherwise."""
    return [init(4), add(), write(OLD_PRODUCE), commit() if end is None else end, settled()]


def newer() -> list[Step]:
    """A whole committed transaction of a newer client."""
    return [init(), write(), commit(NEW_END), settled()]


def compacted(policy: str) -> Step:
    """A new topic of one partition with this clean-up policy."""
    wanted = {
        "name": Ref("compacted"),
        "num_partitions": 1,
        "replication_factor": 1,
        "configs": [{"name": "cleanup.policy", "value": policy}],
    }
    return Step(
        "CreateTopics",
        {"topics": [wanted], "timeout_ms": 5000},
        version=7,
        learn=lambda answer: {"compacted_id": answer["topics"][0]["topic_id"]},
    )
