"""KAFKA-17754: the end of one transaction arrives late, when the next one has begun.

The client asks for the end of its first transaction; the request lies in a stalled connection. The
client gives up, asks again on a new connection, is answered, and writes to the first of the two
partitions of its next transaction. Now the old request arrives. If it were served, the second
transaction would end in the middle: its first record committed, its second never.

The schedule is written out here once for each transaction version and for each request that may be
late; ``test_transaction_swarm`` meets it by dice.
"""

import pytest

from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.testing import requests
from headwater.core_log.testing import transaction_requests as transactional
from headwater.core_log.transactions.guard import Guard

from .trace import GROUP, ID, TOPIC, Trace

VERSIONS = pytest.mark.parametrize("version", [1, 2])


@VERSIONS
@pytest.mark.parametrize("commit", [True, False])
def test_a_late_end_does_not_touch_the_next_transaction(version: int, *, commit: bool) -> None:
    """KAFKA-17754 itself: fenced, and both transactions whole."""
    trace = Trace(version)
    trace.add(0)
    assert trace.write(0, "first") == ErrorCode.NONE
    late = trace.ask_late(trace.ending(commit=commit))
    assert trace.end(commit=commit) == ErrorCode.NONE
    trace.add(0)
    assert trace.write(0, "second, here") == ErrorCode.NONE
    trace.arrive(late)
    first = ["first"] if commit else []
    assert trace.committed() == first, "the next transaction is not decided yet"
    trace.add(1)
    assert trace.write(1, "second, there") == ErrorCode.NONE
    assert trace.end(commit=not commit) == ErrorCode.NONE
    second = [] if commit else ["second, here", "second, there"]
    assert trace.committed() == [*first, *second]


@pytest.mark.patches_code
def test_without_the_guard_a_late_end_tears_a_transaction_of_version_1(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So the schedule is the one that it is about."""
    monkeypatch.setattr(Guard, "admits", lambda *_: True)
    trace = Trace(1)
    trace.add(0)
    trace.write(0, "first")
    late = trace.ask_late(trace.ending(commit=True))
    trace.end(commit=True)
    trace.add(0)
    trace.write(0, "second, here")
    trace.arrive(late)
    assert trace.committed() == ["first", "second, here"]
    trace.write(1, "second, there")
    assert trace.end(commit=False) == ErrorCode.INVALID_TXN_STATE


def test_a_late_partition_does_not_begin_a_transaction_that_nobody_ends() -> None:
    """Version 1 only; the partition would have to wait for the time-out, the client be fenced."""
    trace = Trace(1)
    late = trace.ask_late(transactional.add_partitions(ID, trace.sender, {TOPIC: [0]}))
    trace.add(0)
    assert trace.write(0, "first") == ErrorCode.NONE
    assert trace.end(commit=True) == ErrorCode.NONE
    trace.arrive(late)
    trace.network.advance(120_000)  # beyond the transaction's time-out
    trace.add(1)
    assert trace.write(1, "second") == ErrorCode.NONE
    assert trace.end(commit=True) == ErrorCode.NONE
    assert trace.committed() == ["first", "second"]


def test_late_offsets_do_not_begin_a_transaction_that_nobody_ends() -> None:
    trace = Trace(1)
    late = trace.ask_late(transactional.add_offsets(ID, trace.sender, GROUP))
    trace.ask(transactional.add_offsets(ID, trace.sender, GROUP))
    trace.ask(trace.commit_offset(5))
    assert trace.end(commit=True) == ErrorCode.NONE
    trace.arrive(late)
    trace.network.advance(120_000)
    trace.add(1)
    assert trace.write(1, "second") == ErrorCode.NONE
    assert trace.end(commit=True) == ErrorCode.NONE
    assert trace.position() == 5


@VERSIONS
def test_a_late_position_does_not_enter_the_next_transaction(version: int) -> None:
    """The first transaction's position, sent twice, would replace the second one's own."""
    trace = Trace(version)
    if version == 1:
        trace.ask(transactional.add_offsets(ID, trace.sender, GROUP))
    late = trace.ask_late(trace.commit_offset(10))
    trace.ask(trace.commit_offset(10))
    assert trace.end(commit=True) == ErrorCode.NONE
    assert trace.position() == 10
    if version == 1:
        trace.ask(transactional.add_offsets(ID, trace.sender, GROUP))
    trace.ask(trace.commit_offset(20))
    trace.arrive(late)
    assert trace.end(commit=True) == ErrorCode.NONE
    assert trace.position() == 20


@VERSIONS
def test_a_late_record_does_not_enter_the_next_transaction(version: int) -> None:
    """It was sent again and acknowledged, so its sequence numbers, or its epoch, are known."""
    trace = Trace(version)
    trace.add(0)
    batch = requests.batch_of(
        ["first"],
        now_ms=trace.network.broker.clock.now_ms(),
        producer_id=trace.sender.producer_id,
        producer_epoch=trace.sender.producer_epoch,
        is_transactional=True,
    )
    topic_id = trace.network.broker.running.image.topics[TOPIC].topic_id
    late = trace.ask_late(requests.produce(TOPIC, topic_id, {0: batch}, transactional_id=ID))
    assert trace.write(0, "first") == ErrorCode.NONE
    assert trace.end(commit=True) == ErrorCode.NONE
    trace.add(0)
    assert trace.write(0, "second") == ErrorCode.NONE
    trace.arrive(late)
    assert trace.end(commit=True) == ErrorCode.NONE
    assert trace.committed() == ["first", "second"]
