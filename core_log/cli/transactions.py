"""``headwater transactions``: who has one open, since when, and how to end one nobody will end."""

import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

import click

from headwater.service.tables import Column, Shape, columns, show

from ..kernel.errors import ErrorCode
from ..protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    ProducerState,
    TopicRequest,
)
from ..protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from ..protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from ..protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from .cluster import Cluster, KafkaHabits, Refused, cluster_options, json_option
from .wire import Wire, described

MAX_TIMEOUT_MS_DEFAULT: Final = 900_000
"""Kafka's ``transaction.max.timeout.ms``: no coordinator leaves a transaction open for longer."""
NO_TRANSACTION: Final = -1
STATES: Final = (
    *("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort"),
    *("Dead", "PrepareEpochFence"),
)

_LISTED: Final = (
    Column(name="transactional_id", title="TRANSACTIONAL ID"),
    Column(name="coordinator"),
    Column(name="producer_id", title="PRODUCER ID"),
    Column(name="state"),
)
_DESCRIBED: Final = (
    *_LISTED,
    Column(name="producer_epoch", title="EPOCH"),
    Column(name="timeout_ms", title="TIMEOUT MS"),
    Column(name="start_time_ms", title="START", shape=Shape.TIME_MS),
    Column(name="duration_ms", title="OPEN MS", shape=Shape.COUNT),
    Column(name="partitions"),
)
_PRODUCERS: Final = (
    *columns("topic", "partition"),
    Column(name="producer_id", title="PRODUCER ID"),
    Column(name="producer_epoch", title="EPOCH"),
    Column(name="coordinator_epoch", title="COORDINATOR EPOCH"),
    Column(name="last_sequence", title="LAST SEQUENCE"),
    Column(name="last_timestamp_ms", title="LAST RECORD", shape=Shape.TIME_MS),
    Column(name="start_offset", title="OPEN SINCE OFFSET"),
)


@click.group(cls=KafkaHabits)
def transactions() -> None:
    """Transactions: list, describe, producers, find-hanging, abort.

    An open transaction holds back everybody who reads its partitions with isolation level
    read_committed. Its coordinator aborts it when its time is over. One that the coordinator does
    not know of is "hanging": find-hanging finds it, abort ends it.
    """


@transactions.command("list")
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice(STATES, case_sensitive=False),
    metavar="STATE",
    help=f"Only this one of {', '.join(STATES)}. May be repeated.",
)
@click.option("--open-for-ms", type=click.IntRange(min=0), help="Only those open for longer.")
@click.option("--producer-id", "producer_ids", multiple=True, type=int, help="May be repeated.")
@click.option("--pattern", help="Only transactional ids that this regular expression matches.")
@json_option
@cluster_options
def list_transactions(
    cluster: Cluster,
    states: tuple[str, ...],
    open_for_ms: int | None,
    producer_ids: tuple[int, ...],
    pattern: str | None,
    as_json: bool,  # noqa: FBT001 - a flag
) -> None:
    """Transactional ids of all coordinators, with their state."""
    request = ListTransactionsRequest(
        state_filters=list(states),
        producer_id_filters=list(producer_ids),
        duration_filter=-1 if open_for_ms is None else open_for_ms,
        transactional_id_pattern=pattern,
    )
    with Wire(cluster) as wire:
        rows = _listed(wire, request)
    show(rows, _LISTED, as_json=as_json, out=sys.stdout, empty="no transactional ids")


@transactions.command()
@click.argument("transactional_ids", metavar="ID…", nargs=-1, required=True)
@json_option
@cluster_options
def describe(cluster: Cluster, transactional_ids: tuple[str, ...], as_json: bool) -> None:  # noqa: FBT001 - a flag
    """State, epoch, time-out and partitions of transactional IDs."""
    now_ms = _now_ms()
    with Wire(cluster) as wire:
        rows = []
        for transactional_id in transactional_ids:
            coordinator, state = _described(wire, transactional_id)
            if state is None:
                raise Refused(
                    f"there is no transactional id {transactional_id}; "
                    "'headwater transactions list' shows what there is"
                )
            rows.append(_description(coordinator, state, now_ms=now_ms))
    show(rows, _DESCRIBED, as_json=as_json, out=sys.stdout)


@transactions.command()
@click.argument("topic")
@click.option("-p", "--partition", type=click.IntRange(min=0), help="Only this partition.")
@click.option("--open", "open_only", is_flag=True, help="Only those with a transaction open here.")
@json_option
@cluster_options
def producers(
    cluster: Cluster,
    topic: str,
    partition: int | None,
    open_only: bool,  # noqa: FBT001 - a flag
    as_json: bool,  # noqa: FBT001 - a flag
) -> None:
    """Producers that TOPIC remembers, and their open transactions."""
    with Wire(cluster) as wire:
        found = _producers(wire, _places(wire, [topic], partition))
    rows = [row for row in found if not open_only or row["start_offset"] is not None]
    show(rows, _PRODUCERS, as_json=as_json, out=sys.stdout, empty="no producers")


@transactions.command("find-hanging")
@click.option("--topic", "topics", multiple=True, help="Only this topic; default: all of them.")
@click.option(
    "--max-timeout-ms",
    type=click.IntRange(min=0),
    default=MAX_TIMEOUT_MS_DEFAULT,
    show_default=True,
    help="The cluster's transaction.max.timeout.ms. Younger ones may yet be ended by their owner.",
)
@json_option
@cluster_options
def find_hanging(
    cluster: Cluster,
    topics: tuple[str, ...],
    max_timeout_ms: int,
    as_json: bool,  # noqa: FBT001 - a flag
) -> None:
    """Transactions that no coordinator will ever end.

    They are open in a partition and unknown to their coordinator, and hold back readers with
    isolation level read_committed for ever. Exit code 1 when there are some.
    """
    now_ms = _now_ms()
    with Wire(cluster) as wire:
        found = _producers(wire, _places(wire, topics or sorted(wire.leaders), None))
        old = [
            row
            for row in found
            if row["start_offset"] is not None
            and now_ms - row["last_timestamp_ms"] > max_timeout_ms
        ]
        rows = [row for row in old if _owner(wire, row) is None]
    show(rows, _PRODUCERS, as_json=as_json, out=sys.stdout, empty="no transaction is hanging")
    for row in rows:
        where = f"{row['topic']} --partition {row['partition']}"
        click.echo(
            f"'headwater transactions abort {where} --start-offset {row['start_offset']}' ends it",
            err=True,
        )
    if rows:
        raise SystemExit(1)


@transactions.command()
@click.argument("topic")
@click.option("-p", "--partition", type=click.IntRange(min=0), required=True)
@click.option(
    "--start-offset",
    type=click.IntRange(min=0),
    required=True,
    help="Where the transaction begins, as find-hanging and producers show it.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@cluster_options
def abort(cluster: Cluster, topic: str, partition: int, start_offset: int, yes: bool) -> None:  # noqa: FBT001 - a flag
    """End a hanging transaction in one partition of TOPIC.

    For what find-hanging has found. One that its coordinator knows is refused: its other
    partitions could commit what this one has aborted.
    """
    with Wire(cluster) as wire:
        rows = _producers(wire, _places(wire, [topic], partition))
        row = next((row for row in rows if row["start_offset"] == start_offset), None)
        if row is None:
            raise Refused(
                f"no open transaction begins at offset {start_offset} of {topic}-{partition}; "
                f"'headwater transactions producers {topic} --open' shows where they begin"
            )
        if (owner := _owner(wire, row)) is not None:
            raise Refused(
                f"this transaction belongs to {owner}, and its coordinator will end it; aborted "
                f"here, it could still commit elsewhere. 'headwater produce {topic} "
                f"--transactional-id {owner} < /dev/null' ends it as a whole, and its producer"
            )
        if not yes:
            if not sys.stdin.isatty():
                raise click.UsageError("nobody can be asked here: --yes aborts without asking")
            producer = f"producer {row['producer_id']} epoch {row['producer_epoch']}"
            click.confirm(f"abort the transaction of {producer}?", abort=True)
        _write_abort_marker(wire, row)
    click.echo(f"aborted the transaction at offset {start_offset} of {topic}-{partition}")


def _listed(wire: Wire, request: ListTransactionsRequest) -> list[dict[str, Any]]:
    rows = []
    for node in wire.nodes:
        answer = wire.ask(node, request, ListTransactionsResponse)
        if answer.error_code:
            raise Refused(f"listing transactions of broker {node}: {described(answer.error_code)}")
        rows += [
            {
                "transactional_id": state.transactional_id,
                "coordinator": node,
                "producer_id": state.producer_id,
                "state": state.transaction_state,
            }
            for state in answer.transaction_states
        ]
    return sorted(rows, key=lambda row: str(row["transactional_id"]))


def _described(wire: Wire, transactional_id: str) -> tuple[int, TransactionState | None]:
    """Its coordinator and its state; None when there is no such id."""
    coordinator = wire.coordinator(transactional_id)
    request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    [state] = wire.ask(coordinator, request, DescribeTransactionsResponse).transaction_states
    if state.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
        return coordinator, None
    if state.error_code:
        raise Refused(f"describing {transactional_id}: {described(state.error_code)}")
    return coordinator, state


def _description(coordinator: int, state: TransactionState, *, now_ms: int) -> dict[str, Any]:
    start_ms = state.transaction_start_time_ms
    is_open = bool(state.topics) and start_ms >= 0
    return {
        "transactional_id": state.transactional_id,
        "coordinator": coordinator,
        "producer_id": state.producer_id,
        "state": state.transaction_state,
        "producer_epoch": state.producer_epoch,
        "timeout_ms": state.transaction_timeout_ms,
        "start_time_ms": start_ms if is_open else None,
        "duration_ms": max(0, now_ms - start_ms) if is_open else None,
        "partitions": [f"{topic}-{index}" for topic, index in sorted(_open_places(state))],
    }


def _open_places(state: TransactionState) -> set[tuple[str, int]]:
    return {(data.topic, index) for data in state.topics for index in data.partitions}


def _places(
    wire: Wire, topics: Iterable[str], partition: int | None
) -> dict[int, list[TopicRequest]]:
    """The partitions by the node that leads them. Raises Refused for what is not there."""
    places: dict[int, list[TopicRequest]] = defaultdict(list)
    for topic in topics:
        leaders = wire.leaders.get(topic)
        if leaders is None:
            raise Refused(f"there is no topic {topic}; 'headwater topics list' shows what there is")
        if partition is not None and partition not in leaders:
            raise Refused(f"{topic} has no partition {partition}; it has {len(leaders)}, from 0")
        by_leader: dict[int, list[int]] = defaultdict(list)
        for index in leaders if partition is None else [partition]:
            by_leader[leaders[index]].append(index)
        for leader, indexes in by_leader.items():
            places[leader].append(TopicRequest(name=topic, partition_indexes=sorted(indexes)))
    return places


def _producers(wire: Wire, places: dict[int, list[TopicRequest]]) -> list[dict[str, Any]]:
    rows = []
    for leader, topics in places.items():
        answer = wire.ask(
            leader, DescribeProducersRequest(topics=topics), DescribeProducersResponse
        )
        for topic in answer.topics:
            for partition in topic.partitions:
                place = f"{topic.name}-{partition.partition_index}"
                if partition.error_code:
                    why = described(partition.error_code, partition.error_message)
                    raise Refused(f"producers of {place}: {why}")
                rows += [
                    _producer(topic.name, partition.partition_index, producer)
                    for producer in partition.active_producers
                ]
    return sorted(rows, key=lambda row: (row["topic"], row["partition"], row["producer_id"]))


def _producer(topic: str, partition: int, state: ProducerState) -> dict[str, Any]:
    start_offset = state.current_txn_start_offset
    return {
        "topic": topic,
        "partition": partition,
        "producer_id": state.producer_id,
        "producer_epoch": state.producer_epoch,
        "coordinator_epoch": state.coordinator_epoch,
        "last_sequence": state.last_sequence,
        "last_timestamp_ms": state.last_timestamp,
        "start_offset": None if start_offset == NO_TRANSACTION else start_offset,
    }


def _owner(wire: Wire, row: dict[str, Any]) -> str | None:
    """The transactional id whose coordinator has *row*'s transaction open in that partition."""
    producer_id = row["producer_id"]
    for listed in _listed(wire, ListTransactionsRequest(producer_id_filters=[producer_id])):
        _, state = _described(wire, listed["transactional_id"])
        if (
            state is not None
            and state.producer_id == producer_id
            and (row["topic"], row["partition"]) in _open_places(state)
        ):
            return state.transactional_id
    return None


def _write_abort_marker(wire: Wire, row: dict[str, Any]) -> None:
    topic, partition = str(row["topic"]), int(row["partition"])
    marker = WritableTxnMarker(
        producer_id=row["producer_id"],
        producer_epoch=row["producer_epoch"],
        transaction_result=False,
        # -1: no coordinator has ended a transaction of this producer here yet.
        coordinator_epoch=max(row["coordinator_epoch"], 0),
        topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[partition])],
    )
    leader = wire.leaders[topic][partition]
    answer = wire.ask(leader, WriteTxnMarkersRequest(markers=[marker]), WriteTxnMarkersResponse)
    for result in answer.markers:
        for found in result.topics:
            for outcome in found.partitions:
                if outcome.error_code:
                    why = described(outcome.error_code)
                    raise Refused(f"aborting in {found.name}-{outcome.partition_index}: {why}")


def _now_ms() -> int:
    return int(time.time() * 1000)
