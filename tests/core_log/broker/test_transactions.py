"""Transactions through a whole broker: what readers see, who is let in, what a crash leaves."""

from collections.abc import Callable

import pytest

from headwater.core_log.broker.marker_orders import MARKER_RETRY_MS
from headwater.core_log.broker.transactions import (
    SESSIONS_SWEPT_AT_LEAST,
    TRANSACTIONS_TOPIC,
)
from headwater.core_log.kernel.effects import Sender
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.delete_topics import DeleteTopicsResponse
from headwater.core_log.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from headwater.core_log.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from headwater.core_log.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from headwater.core_log.protocol.messages.offset_commit import OffsetCommitResponse
from headwater.core_log.protocol.messages.offset_fetch import OffsetFetchResponse
from headwater.core_log.protocol.messages.produce import ProduceResponse
from headwater.core_log.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from headwater.core_log.protocol.schema import Message
from headwater.core_log.records.batch import read_batch
from headwater.core_log.records.record import NewRecord, build_batch
from headwater.core_log.testing import requests
from headwater.core_log.testing import transaction_requests as transactional
from headwater.core_log.testing.local_broker import LocalConnection

from .transacting import FEW, ID, Transactor, committed, produced
from .world import TOPIC, World

GROUP = "g"
FIND_GROUP = FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP])


def ready(version: int = 2, *, partitions: int = 1, **configs: str) -> tuple[World, Transactor]:
    """A world and a producer with an identity."""
    dotted = {key.replace("_", "."): value for key, value in configs.items()}
    world = World(configs={**FEW, **dotted}, topic=False)
    world.create(TOPIC, partitions=partitions)
    transactor = Transactor(world, version)
    assert transactor.initialize() == ErrorCode.NONE
    return world, transactor


def begin(transactor: Transactor, *indexes: int) -> None:
    """What a client of version 1 does before it produces."""
    if transactor.version == 1:
        assert transactor.add(*(indexes or (0,))) == ErrorCode.NONE


def state_of(world: World, transactional_id: str = ID) -> str:
    request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    answer = world.ask(request, DescribeTransactionsResponse, 0)
    return answer.transaction_states[0].transaction_state


def committed_offset(world: World, *, require_stable: bool = False) -> tuple[int, int]:
    """Offset and error code of the group's partition 0."""
    request = requests.fetch_offsets(GROUP, TOPIC, [0], version=8)
    request.require_stable = require_stable
    answer = world.ask(request, OffsetFetchResponse, 8).groups[0].topics[0].partitions[0]
    return answer.committed_offset, answer.error_code


def first_answer(world: World, answer: Callable[[], Message | None]) -> Message:
    """The answer, and nothing done beyond it."""
    while (message := answer()) is None:
        assert world.broker.step()
    return message


@pytest.mark.parametrize("version", [1, 2])
def test_a_transaction_is_seen_when_it_is_committed_and_never_when_it_is_aborted(
    version: int,
) -> None:
    world, transactor = ready(version)
    seen: list[str] = []
    for number, commit in enumerate([True, False, True]):
        begin(transactor)
        assert transactor.send(f"{number}a").error_code == ErrorCode.NONE
        assert transactor.send(f"{number}b").error_code == ErrorCode.NONE
        assert committed(world) == seen
        assert transactor.end(commit=commit) == ErrorCode.NONE
        if commit:
            seen += [f"{number}a", f"{number}b"]
        assert committed(world) == seen
    assert state_of(world) == "CompleteCommit"
    hosted = world.hosted()
    assert hosted.last_stable_offset == hosted.high_watermark == hosted.log.log_end_offset == 9


@pytest.mark.parametrize(("version", "code"), [(1, 0), (2, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)])
def test_a_transaction_whose_first_batch_is_missing(version: int, code: int) -> None:
    """Version 2 begins each transaction at 0, so that a lost first batch is noticed."""
    _, transactor = ready(version)
    begin(transactor)
    transactor.sequences[TOPIC, 0] = 3
    assert transactor.send("a").error_code == code


def test_the_coordinators_own_topic_joins_no_clients_transaction() -> None:
    _, transactor = ready(1)
    code = transactor.add(0, topic=TRANSACTIONS_TOPIC)
    assert code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert transactor.add(0, topic="nowhere") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_record_that_cannot_be_read_is_told_and_the_others_count() -> None:
    world, _ = ready()
    other = Transactor(world, transactional_id="other")
    state = world.hosted(TRANSACTIONS_TOPIC)
    nonsense = build_batch([NewRecord(timestamp_ms=0, key=b"\x00\x00\xff", value=b"?")])
    state.append(read_batch(nonsense), now_ms=world.now_ms)
    world.broker.running.partitions.touched(state)
    world.broker.settle()
    assert other.initialize() == ErrorCode.NONE
    world.broker.notes.clear()
    world.reopened(world.broker.stop)
    told = [
        facts for event, facts in world.broker.notes if event == "coordinator_record_unreadable"
    ]
    assert [(facts["offset"], facts["severe"]) for facts in told] == [(1, True)]
    assert (state_of(world), state_of(world, "other")) == ("Empty", "Empty")


def test_a_reader_who_gets_nothing_hears_of_no_aborted_transaction() -> None:
    """One aborted below an open one, and a reader who waits behind both."""
    world, aborted = ready()
    aborted.send("aborted")
    opened = Transactor(world, transactional_id="open")
    assert opened.initialize() == ErrorCode.NONE
    opened.send("open")
    assert aborted.end(commit=False) == ErrorCode.NONE
    (entry,) = world.fetch(0, read_committed=True).aborted_transactions or []
    assert entry.first_offset == 0
    assert world.fetch(2, read_committed=True).aborted_transactions == []


def test_readers_behind_an_open_transaction_are_woken_by_its_end() -> None:
    world, transactor = ready()
    transactor.send("a")
    request = requests.fetch(
        TOPIC, world.topic_id(), {0: 0}, read_committed=True, max_wait_ms=60_000
    )
    reader = world.broker.connect().send(request, version=18)
    world.broker.settle()
    assert reader() is None
    transactor.end()
    assert reader() is not None


@pytest.mark.parametrize(
    ("api_version", "code"),
    [(10, ErrorCode.INVALID_TXN_STATE), (11, ErrorCode.TRANSACTION_ABORTABLE)],
)
def test_a_batch_that_joined_no_transaction_is_refused(api_version: int, code: ErrorCode) -> None:
    world, transactor = ready(1)
    refused = transactor.send("a", api_version=api_version)
    assert (refused.error_code, refused.log_start_offset) == (code, -1)
    assert world.hosted().log.log_end_offset == 0


def test_a_batch_waits_until_its_partition_has_joined_on_disk() -> None:
    """Else a crash could leave it in the log while its coordinator knows of no transaction."""
    world, transactor = ready(1)
    adding = transactional.add_partitions(ID, transactor.sender, {TOPIC: [0]})
    added = transactor.client.send(adding, version=3)
    transactor.connection = world.broker.connect()
    answer = transactor.sending("a")
    while world.broker.step(disk=False):
        pass
    assert added() is None
    assert world.hosted().log.log_end_offset == 0
    world.broker.settle()
    assert added() is not None
    assert produced(answer()).error_code == ErrorCode.NONE


def test_a_transactional_batch_needs_a_transactional_id() -> None:
    world, transactor = ready()
    sender = transactor.sender
    batch = requests.batch_of(
        ["a"], now_ms=world.now_ms, producer_id=sender.producer_id, is_transactional=True
    )
    answer = world.produce_batch(batch)
    assert answer.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_batches_of_two_producers_are_not_taken_for_one_transaction() -> None:
    world, transactor = ready(partitions=2)
    batches = {
        index: requests.batch_of(
            ["a"],
            now_ms=world.now_ms,
            producer_id=transactor.sender.producer_id + index,
            is_transactional=True,
        )
        for index in range(2)
    }
    request = requests.produce(TOPIC, world.topic_id(), batches, transactional_id=ID)
    answer = world.ask(request, ProduceResponse, 13)
    codes = [partition.error_code for partition in answer.responses[0].partition_responses]
    assert codes == [ErrorCode.INVALID_PRODUCER_ID_MAPPING] * 2


def test_batches_sent_ahead_keep_their_order_while_the_first_joins() -> None:
    """The first waits for the coordinator's disk; the others must not overtake it."""
    world, transactor = ready()
    answers = [transactor.sending(value) for value in "abc"]
    assert world.hosted().log.log_end_offset == 0
    world.broker.settle()
    assert [produced(answer()).base_offset for answer in answers] == [0, 1, 2]


def test_a_producer_without_acknowledgements_is_not_answered_and_its_batch_is_there() -> None:
    world, transactor = ready()
    batch = requests.batch_of(
        ["a"],
        now_ms=world.now_ms,
        producer_id=transactor.sender.producer_id,
        is_transactional=True,
    )
    request = requests.produce(TOPIC, world.topic_id(), {0: batch}, acks=0, transactional_id=ID)
    transactor.client.send(request, version=13)
    world.broker.settle()
    assert transactor.client.receive_raw() is None
    assert transactor.end() == ErrorCode.NONE
    assert committed(world) == ["a"]


def test_an_error_without_acknowledgements_closes_the_connection() -> None:
    world, transactor = ready()
    stranger = Sender(producer_id=transactor.sender.producer_id + 1, producer_epoch=0)
    batch = requests.batch_of(
        ["a"], now_ms=world.now_ms, producer_id=stranger.producer_id, is_transactional=True
    )
    request = requests.produce(TOPIC, world.topic_id(), {0: batch}, acks=0, transactional_id=ID)
    transactor.client.send(request, version=13)
    world.broker.settle()
    assert transactor.client.closed is not None
    assert "INVALID_PRODUCER_ID_MAPPING" in transactor.client.closed


@pytest.mark.parametrize("version", [1, 2])
def test_the_next_transaction_waits_for_the_markers_of_the_last(version: int) -> None:
    """Nobody is told CONCURRENT_TRANSACTIONS for what is over in a moment."""
    world, transactor = ready(version)
    begin(transactor)
    transactor.send("a")
    assert transactor.ended(first_answer(world, transactor.ending(commit=True))) == ErrorCode.NONE
    assert state_of_now(world) == "PrepareCommit"
    begin(transactor)
    assert transactor.send("b").error_code == ErrorCode.NONE


def state_of_now(world: World) -> str:
    """The state without letting anything happen meanwhile."""
    request = DescribeTransactionsRequest(transactional_ids=[ID])
    answer = world.broker.connect().send(request, version=0)
    response = answer()
    assert isinstance(response, DescribeTransactionsResponse)
    return response.transaction_states[0].transaction_state


@pytest.mark.parametrize("end", ["kill", "crash"])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("steps", range(14))
def test_a_commit_is_whole_or_nothing_wherever_the_broker_ends(
    version: int, end: str, steps: int
) -> None:
    """And an acknowledged one is whole."""
    world, transactor = ready(version, partitions=2)
    begin(transactor, 0, 1)
    transactor.send("a", index=0)
    transactor.send("b", index=1)
    ending = transactor.ending(commit=True)
    for _ in range(steps):
        world.broker.step()
    acknowledged = ending() is not None
    world.reopened(getattr(world.broker, end))
    world.broker.advance(90_000)
    world.broker.settle()
    seen = committed(world, index=0) + committed(world, index=1)
    assert seen in ([], ["a", "b"])
    assert seen or not acknowledged
    assert state_of(world) == ("CompleteCommit" if seen else "CompleteAbort")
    for index in range(2):
        hosted = world.hosted(index=index)
        assert hosted.last_stable_offset == hosted.log.log_end_offset


def test_the_crash_points_reach_both_outcomes() -> None:
    """Else the test above would prove less than it says."""
    outcomes = set()
    for steps in range(14):
        world, transactor = ready()
        transactor.send("a")
        ending = transactor.ending(commit=True)
        for _ in range(steps):
            world.broker.step()
        outcomes.add(ending() is not None)
    assert outcomes == {True, False}


def test_a_transaction_that_takes_too_long_is_aborted_and_its_producer_fenced() -> None:
    world = World(configs=FEW)
    transactor = Transactor(world)
    assert transactor.initialize(timeout_ms=5_000) == ErrorCode.NONE
    transactor.send("a")
    world.broker.advance(30_000)
    world.broker.settle()
    assert state_of(world) == "CompleteAbort"
    assert world.hosted().last_stable_offset == world.hosted().log.log_end_offset
    assert transactor.send("b").error_code in (
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.PRODUCER_FENCED,
    )
    assert committed(world) == []


def test_an_open_transaction_without_records_for_long_is_late() -> None:
    world, transactor = ready()
    transactor.send("a")
    log = world.hosted().log
    assert log.late_transactions(since_ms=world.now_ms) == 0
    assert log.late_transactions(since_ms=world.now_ms + 1) == 1
    transactor.end()
    assert log.late_transactions(since_ms=world.now_ms + 1) == 0
    assert world.broker.running.transactions.ended == {True: 1, False: 0}
    assert world.broker.running.transactions.orders.unwritten == 0


def test_a_new_instance_fences_the_old_one_and_ends_what_it_left() -> None:
    world, old = ready()
    old.send("a")
    new = Transactor(world)
    assert new.initialize() == ErrorCode.NONE
    assert old.send("b").error_code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert old.end() == ErrorCode.PRODUCER_FENCED
    new.send("c")
    assert new.end() == ErrorCode.NONE
    assert committed(world) == ["c"]


def test_a_transaction_ends_without_the_topic_that_was_deleted_meanwhile() -> None:
    world, transactor = ready()
    world.create("gone")
    transactor.send("a")
    transactor.send("b", topic="gone")
    answer = world.ask(requests.delete_topic("gone", version=6), DeleteTopicsResponse, 6)
    assert answer.responses[0].error_code == ErrorCode.NONE
    assert transactor.end() == ErrorCode.NONE
    assert state_of(world) == "CompleteCommit"
    assert committed(world) == ["a"]


def test_markers_wait_for_a_disk_with_space() -> None:
    world, transactor = ready()
    transactor.send("a")
    first_answer(world, transactor.ending(commit=True))
    world.broker.fs.capacity_bytes = world.broker.fs.used_bytes + 10
    world.broker.settle()
    assert state_of(world) == "PrepareCommit"
    world.broker.fs.capacity_bytes = None
    for _ in range(3):
        world.broker.advance(MARKER_RETRY_MS)
        world.broker.settle()
    assert state_of(world) == "CompleteCommit"
    assert committed(world) == ["a"]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("commit", [True, False])
def test_offsets_of_a_transaction_count_when_it_is_committed(version: int, commit: bool) -> None:  # noqa: FBT001 - a parameter
    world, transactor = ready(version)
    before = requests.commit_offset(GROUP, TOPIC, world.topic_id(), {0: 3})
    world.ask(FIND_GROUP, FindCoordinatorResponse, 6)
    world.ask(before, OffsetCommitResponse, 9)
    if version == 1:
        assert transactor.add_offsets(GROUP) == ErrorCode.NONE
    assert transactor.commit_offset(GROUP, 7) == ErrorCode.NONE
    assert committed_offset(world) == (3, ErrorCode.NONE)
    assert committed_offset(world, require_stable=True)[1] == ErrorCode.UNSTABLE_OFFSET_COMMIT
    assert transactor.end(commit=commit) == ErrorCode.NONE
    after = committed_offset(world, require_stable=True)
    assert after == ((7 if commit else 3), ErrorCode.NONE)


@pytest.mark.parametrize("end", ["stop", "kill", "crash"])
def test_pending_offsets_outlive_the_broker(end: str) -> None:
    world, transactor = ready()
    world.ask(FIND_GROUP, FindCoordinatorResponse, 6)
    assert transactor.commit_offset(GROUP, 7) == ErrorCode.NONE
    world.reopened(getattr(world.broker, end))
    transactor.connection = None
    assert committed_offset(world, require_stable=True)[1] == ErrorCode.UNSTABLE_OFFSET_COMMIT
    assert transactor.end() == ErrorCode.NONE
    assert committed_offset(world, require_stable=True) == (7, ErrorCode.NONE)


def test_offsets_without_a_transaction_are_refused() -> None:
    world, transactor = ready(1)
    world.ask(FIND_GROUP, FindCoordinatorResponse, 6)
    world.ask(
        requests.commit_offset(GROUP, TOPIC, world.topic_id(), {0: 1}), OffsetCommitResponse, 9
    )
    assert transactor.commit_offset(GROUP, 7) == ErrorCode.INVALID_TXN_STATE


@pytest.mark.parametrize("version", [1, 2])
def test_offsets_of_a_nameless_group_are_refused_as_such(version: int) -> None:
    """Before anything is said about the transaction, in which they are not."""
    world, transactor = ready(version)
    world.ask(FIND_GROUP, FindCoordinatorResponse, 6)
    assert transactor.commit_offset("", 7) == ErrorCode.INVALID_GROUP_ID
    assert state_of(world) == "Empty"


def test_a_commit_of_the_past_is_refused_and_its_connection_closed() -> None:
    """KAFKA-17754 for a client of version 1: nothing but the connection tells old from new."""
    world, transactor = ready(1)
    begin(transactor)
    transactor.send("1")
    old = transactor.client
    transactor.connection = world.broker.connect()
    assert transactor.end() == ErrorCode.NONE
    begin(transactor)
    transactor.send("2a")
    current, transactor.connection = transactor.connection, old
    assert transactor.end() == ErrorCode.NOT_COORDINATOR
    world.broker.settle()
    assert old.closed is not None
    transactor.connection = current
    assert state_of(world) == "Ongoing"
    transactor.send("2b")
    assert transactor.end(commit=False) == ErrorCode.NONE
    assert committed(world) == ["1"]


def test_closed_connections_are_not_kept() -> None:
    world, transactor = ready()
    for _ in range(3 * SESSIONS_SWEPT_AT_LEAST):
        client = Transactor(world, transactional_id="other")
        assert client.initialize() == ErrorCode.NONE
        client.client.disconnect()
    assert len(world.broker.running.transactions._sessions) <= SESSIONS_SWEPT_AT_LEAST
    assert transactor.send("a").error_code == ErrorCode.NONE


def test_after_a_failed_append_no_connection_of_before_is_trusted() -> None:
    """The shard that is built anew does not know on which of them the newest request came."""
    world, transactor = ready(1)
    world.broker.fs.capacity_bytes = world.broker.fs.used_bytes + 10
    assert transactor.add(0) != ErrorCode.NONE
    world.broker.fs.capacity_bytes = None
    world.broker.settle()
    assert transactor.add(0) == ErrorCode.NOT_COORDINATOR
    world.broker.settle()
    assert transactor.client.closed is not None
    transactor.connection = None
    assert transactor.add(0) == ErrorCode.NONE


def test_offsets_of_the_past_are_refused_and_their_connection_closed() -> None:
    """Else a position that was passed would be committed again by the next transaction."""
    world, transactor = ready(1)
    world.ask(FIND_GROUP, FindCoordinatorResponse, 6)
    coordinator = transactor.client

    def commit_offset(offset: int, *, on: LocalConnection) -> int:
        transactor.connection = on
        code = transactor.commit_offset(GROUP, offset)
        transactor.connection = coordinator
        return code

    old, new = world.broker.connect(), world.broker.connect()
    assert transactor.add_offsets(GROUP) == ErrorCode.NONE
    assert commit_offset(5, on=old) == ErrorCode.NONE
    assert commit_offset(5, on=new) == ErrorCode.NONE
    assert transactor.end() == ErrorCode.NONE
    assert transactor.add_offsets(GROUP) == ErrorCode.NONE
    assert commit_offset(9, on=new) == ErrorCode.NONE
    assert commit_offset(5, on=old) == ErrorCode.NOT_COORDINATOR
    world.broker.settle()
    assert old.closed is not None
    assert transactor.end() == ErrorCode.NONE
    assert committed_offset(world) == (9, ErrorCode.NONE)


def test_a_hanging_transaction_is_ended_by_a_marker_from_outside() -> None:
    """As kafka-transactions does it: in one partition, past the coordinator."""
    world, transactor = ready()
    transactor.send("a")
    sender = transactor.sender

    def write(topic: str, epoch: int, producer_id: int = sender.producer_id) -> int:
        request = WriteTxnMarkersRequest(
            markers=[
                WritableTxnMarker(
                    producer_id=producer_id,
                    producer_epoch=epoch,
                    transaction_result=False,
                    topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[0])],
                )
            ]
        )
        answer = world.ask(request, WriteTxnMarkersResponse, 1)
        return answer.markers[0].topics[0].partitions[0].error_code

    assert write(TOPIC, sender.producer_epoch, producer_id=-1) == ErrorCode.INVALID_REQUEST
    assert write("nowhere", sender.producer_epoch) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert world.hosted().last_stable_offset == 0
    assert write(TOPIC, sender.producer_epoch) == ErrorCode.NONE
    assert world.hosted().last_stable_offset == 2
    assert committed(world) == []


def test_all_shards_are_listed() -> None:
    world = World(configs={"transaction.state.log.num.partitions": "7"})
    names = [f"id-{number}" for number in range(20)]
    for name in names:
        assert Transactor(world, transactional_id=name).initialize() == ErrorCode.NONE
    answer = world.ask(
        ListTransactionsRequest(state_filters=["Nonsense"]), ListTransactionsResponse, 2
    )
    assert (answer.transaction_states, answer.unknown_state_filters) == ([], ["Nonsense"])
    answer = world.ask(ListTransactionsRequest(), ListTransactionsResponse, 2)
    assert sorted(state.transactional_id for state in answer.transaction_states) == sorted(names)
    assert len(world.broker.running.image.topics[TRANSACTIONS_TOPIC].partitions) == 7
