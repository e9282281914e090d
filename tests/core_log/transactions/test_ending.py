"""EndTxn, and what follows until every partition has its marker."""

import pytest

from headwater.core_log.kernel.effects import NO_EFFECTS, ReplyAfterCommit
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse

from .conversation import Conversation

BEFORE = {
    "Empty": "a init\na keep",
    "Ongoing": "a init\na keep\na add t-0",
    "PrepareCommit": "a init\na add t-0\na commit",
    "PrepareAbort": "a init\na add t-0\na abort",
    "CompleteCommit": "a init\na add t-0\na commit\nmarkers",
    "CompleteAbort": "a init\na add t-0\na abort\nmarkers",
}
"""How a client of version 2 gets there, with epoch 1."""
RAISED = "NONE 1/2"
SAME = "NONE 1/1"
WAIT = "CONCURRENT_TRANSACTIONS"
STATE = "INVALID_TXN_STATE"
FENCED = "PRODUCER_FENCED"
VERSION_2 = {
    # state: abort with epochs 0, 1, 2; commit with epochs 0, 1, 2
    "Empty": (FENCED, RAISED, FENCED, FENCED, STATE, FENCED),
    "Ongoing": (FENCED, RAISED, FENCED, FENCED, RAISED, FENCED),
    "PrepareCommit": (STATE, WAIT, FENCED, WAIT, WAIT, FENCED),
    "PrepareAbort": (WAIT, WAIT, FENCED, STATE, WAIT, FENCED),
    "CompleteCommit": (STATE, RAISED, FENCED, SAME, STATE, FENCED),
    "CompleteAbort": (SAME, RAISED, FENCED, STATE, STATE, FENCED),
}
"""Kafka's table in TransactionCoordinator, with WAIT where it says FENCED for an early request."""
REQUESTS = [f"{verb} as=1/{epoch}" for verb in ("abort", "commit") for epoch in (0, 1, 2)]


@pytest.mark.parametrize("state", list(VERSION_2))
@pytest.mark.parametrize("column", range(6))
def test_version_2_in_every_state(state: str, column: int) -> None:
    """What was decided at an epoch is retried with it, and stands at the next one by then."""
    talk = Conversation()
    talk.run(BEFORE[state])
    assert talk.transaction().state.value == state
    assert talk.transaction().producer_epoch == 1
    answers = [w for w in talk.run(f"a {REQUESTS[column]}").splitlines() if w.startswith("    a ")]
    assert answers == [f"    a {VERSION_2[state][column]}"]


VERSION_1 = {
    "Empty": (STATE, STATE),
    "Ongoing": ("NONE", "NONE"),
    "PrepareCommit": (STATE, WAIT),
    "PrepareAbort": (WAIT, STATE),
    "CompleteCommit": (STATE, "NONE"),
    "CompleteAbort": ("NONE", STATE),
}


@pytest.mark.parametrize("state", list(VERSION_1))
@pytest.mark.parametrize("version", range(5))
def test_version_1_in_every_state(state: str, version: int) -> None:
    """The epoch stays, and only the state tells a retry."""
    for column, verb in enumerate(("abort", "commit")):
        talk = Conversation()
        script = BEFORE[state].replace("a ", "old ").replace("\nold keep", "")
        talk.run(script)
        assert talk.transaction().state.value == state
        said = talk.run(f"old {verb} v={version}").splitlines()
        assert [w for w in said if w.startswith("    old ")] == [
            f"    old {VERSION_1[state][column]}"
        ]
        for wrong in ("1/1", "1/-1"):
            assert FENCED in talk.run(f"old {verb} as={wrong} v=4")


def test_the_way_of_a_commit() -> None:
    """The record, then the answer and the order, then the markers, then the record of the end."""
    Conversation().check("""
        a init
            log x Empty 1/0
            a NONE 1/0
        a add u-1 t-0 t-1
            log x Ongoing 1/0 u-1 t-0 t-1 v2
            a NONE
        a commit
            log x PrepareCommit 1/1 u-1 t-0 t-1 v2
            a NONE 1/1
            order x 1/1 commit v2 epoch 7: t-0,t-1,u-1
        a commit as=1/0
            a CONCURRENT_TRANSACTIONS
        markers t-0 t-1
        a describe x
            a x NONE PrepareCommit 1/1 timeout 60000 start 0 u-1
        markers t-0 u-1
            log x CompleteCommit 1/1 v2
        a commit as=1/0
            a NONE 1/1
    """)


def test_the_answer_waits_for_the_record() -> None:
    """A decision that may be lost is none."""
    talk = Conversation()
    talk.run("a init\na add t-0")
    request = EndTxnRequest(transactional_id="x", producer_id=1, producer_epoch=0, committed=True)
    effects = talk.shard.step(request, version=5, connection=1, reply_to=1, now_ms=talk.now_ms)
    assert effects.records
    assert not effects.replies
    (reply,) = effects.replies_after_commit
    assert isinstance(reply, ReplyAfterCommit)
    failed = reply.on_failure(ErrorCode.KAFKA_STORAGE_ERROR)
    assert isinstance(failed, EndTxnResponse)
    assert failed.error_code == ErrorCode.NOT_COORDINATOR
    assert failed.producer_id == -1


def test_an_abort_of_nothing_is_completed_at_once() -> None:
    """A client of version 2 that does not know whether a record arrived aborts to be sure."""
    Conversation().check("""
        a init
            log x Empty 1/0
            a NONE 1/0
        a abort
            log x PrepareAbort 1/1 v2
            log x CompleteAbort 1/1 v2
            a NONE 1/1
        a abort as=1/0
            a NONE 1/1
        a abort
            log x PrepareAbort 1/2 v2
            log x CompleteAbort 1/2 v2
            a NONE 1/2
    """)


def test_at_the_last_epoch_a_new_id_comes_with_the_answer() -> None:
    """Retries name the old id, before and after the markers are written."""
    talk = Conversation()
    talk.run("a init\nepoch 32766\na add t-0 as=1/32766")
    talk.check("""
        a commit as=1/32766
            log x PrepareCommit 1/32767 t-0 then 2/0 v2
            a NONE 2/0
            order x 1/32767 commit v2 epoch 7: t-0
        a commit as=1/32766
            a CONCURRENT_TRANSACTIONS
        a abort as=1/32766
            a INVALID_TXN_STATE
        markers
            log x CompleteCommit 2/0 v2
        a commit as=1/32766
            a NONE 2/0
        a abort as=1/32766
            a INVALID_TXN_STATE
        a commit as=1/32765
            a INVALID_PRODUCER_ID_MAPPING
        a commit as=2/-1
            a PRODUCER_FENCED
        a add t-0
            log x Ongoing 2/0 t-0 v2
            a NONE
        a commit as=1/32766
            a INVALID_PRODUCER_ID_MAPPING
    """)


def test_an_abort_of_nothing_at_the_last_epoch() -> None:
    """The way through both records at once."""
    talk = Conversation()
    talk.run("a init\nepoch 32766")
    talk.check("""
        a abort as=1/32766
            log x PrepareAbort 1/32767 then 2/0 v2
            log x CompleteAbort 2/0 v2
            a NONE 2/0
        a abort as=1/32766
            a NONE 2/0
    """)


def test_at_the_last_epoch_without_an_id_the_client_waits() -> None:
    """And its transaction stays as it is."""
    talk = Conversation()
    talk.run("a init\nepoch 32766\na add t-0 as=1/32766\nno-ids")
    talk.check("""
        a commit as=1/32766
            a COORDINATOR_LOAD_IN_PROGRESS
        ids
        a abort as=1/32766
            log x PrepareAbort 1/32767 t-0 then 2/0 v2
            a NONE 2/0
            order x 1/32767 abort v2 epoch 7: t-0
    """)


def test_who_is_nobody_ends_nothing() -> None:
    """Unknown names and ids, for both versions."""
    talk = Conversation()
    talk.run("a init")
    talk.check("""
        a commit id=y
            a INVALID_PRODUCER_ID_MAPPING
        a commit as=2/0 v=4
            a INVALID_PRODUCER_ID_MAPPING
        a commit id=
            a INVALID_REQUEST
        a abort as=-1/-1
            a INVALID_PRODUCER_ID_MAPPING
        a abort as=1/-1
            a PRODUCER_FENCED
    """)


def test_a_fenced_producer_is_no_retry_of_its_successor() -> None:
    """Successor and fenced one are an epoch apart, as commit and retry are; versions tell them."""
    talk = Conversation()
    talk.run("a init\nold init\nold add t-0\nold commit\nmarkers")
    talk.check("""
        a commit
            a PRODUCER_FENCED
    """)


def test_who_was_replaced_at_the_last_epoch_has_not_missed_its_new_id() -> None:
    """The new id came with another producer's start."""
    talk = Conversation()
    talk.run("a init\nepoch 32766\nb init")
    talk.check("""
        a abort as=1/32766
            a INVALID_PRODUCER_ID_MAPPING
        a commit as=1/32766
            a INVALID_PRODUCER_ID_MAPPING
    """)


def test_nobody_is_told_the_epoch_of_fences() -> None:
    """Kafka before 4.2 left a transaction that it fenced at the last epoch there."""
    talk = Conversation()
    talk.run("a init\na add t-0\na abort\nmarkers\nepoch 32767\ncrash")
    talk.check("""
        a abort as=1/32766
            a PRODUCER_FENCED
    """)


def test_only_the_last_end_has_a_retry() -> None:
    """One from before is a producer's that slept through a transaction of its successor."""
    talk = Conversation()
    talk.run("a init\na add t-0\na commit\nmarkers\na add t-0\na commit")
    talk.check("""
        a commit as=1/0
            a PRODUCER_FENCED
        a commit as=1/1
            a CONCURRENT_TRANSACTIONS
        markers
            log x CompleteCommit 1/2 v2
        a commit as=1/0
            a PRODUCER_FENCED
        a commit as=1/1
            a NONE 1/2
    """)


def test_markers_of_an_order_that_is_over_change_nothing() -> None:
    """The runtime may have written some twice."""
    talk = Conversation()
    talk.run("a init\na add t-0\na commit\nmarkers\na add t-0\na commit")
    for identity in (("x", 1, 1), ("x", 2, 2), ("y", 1, 2)):
        assert talk.shard.markers_written(*identity, [("t", 0)], talk.now_ms) == NO_EFFECTS
    assert talk.shard.markers_written("x", 1, 2, [("u", 0)], talk.now_ms) == NO_EFFECTS
    talk.check("""
        markers
            log x CompleteCommit 1/2 v2
    """)
    assert talk.shard.markers_written("x", 1, 2, [("t", 0)], talk.now_ms) == NO_EFFECTS


def test_after_a_load_markers_are_ordered_again() -> None:
    """With the new coordinator's epoch, in every partition; what is complete stays so."""
    talk = Conversation()
    talk.run("a init\na add t-0 t-1\na commit\nmarkers t-0\nb init id=y\nb abort id=y")
    talk.check("""
        crash
            order x 1/1 commit v2 epoch 8: t-0,t-1
        crash
            order x 1/1 commit v2 epoch 9: t-0,t-1
        markers
            log x CompleteCommit 1/1 v2
        crash
        a commit as=1/0
            a NONE 1/1
    """)


def test_an_empty_abort_whose_second_record_was_lost_is_completed_by_the_load() -> None:
    """Nobody would write a marker for it."""
    talk = Conversation()
    talk.run("a init\na abort")
    talk.log.pop()
    talk.check("""
        crash
            log x CompleteAbort 1/1 v2
    """)
