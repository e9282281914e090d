"""The state machine of one transactional id, on its own."""

import itertools

import pytest

from headwater.core_log.transactions.transaction import (
    AT_REST,
    ENDING,
    EPOCH_MAX,
    STORED,
    TRANSITIONS,
    Transaction,
    TransactionState,
    is_exhausted,
)

S = TransactionState


def a_transaction(state: S = S.EMPTY, *, epoch: int = 0) -> Transaction:
    one = Transaction("x", producer_id=5, timeout_ms=60_000, now_ms=10)
    one.producer_epoch, one.state = epoch, state
    if state in ENDING | {S.ONGOING}:
        one.partitions = {("t", 0): None}
    if state in ENDING:
        one.expect_markers()
    return one


@pytest.mark.parametrize(("before", "after"), list(itertools.product(S, S)))
def test_transitions_are_those_of_the_table(before: S, after: S) -> None:
    """Everything else is our bug, and says so."""
    one = a_transaction(before)
    if after in TRANSITIONS[before]:
        one.transition_to(after)
        assert one.state is after
    else:
        with pytest.raises(AssertionError, match=f"cannot become {after.value}"):
            one.transition_to(after)


def test_the_table_is_that_of_kafka() -> None:
    """From TransactionState.validPreviousStates of 4.3, the other way round."""
    rest = {S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT}
    previous = {
        S.EMPTY: rest,
        S.ONGOING: rest | {S.ONGOING},
        S.PREPARE_COMMIT: {S.ONGOING},
        S.PREPARE_ABORT: rest | {S.ONGOING, S.PREPARE_EPOCH_FENCE},
        S.COMPLETE_COMMIT: {S.PREPARE_COMMIT},
        S.COMPLETE_ABORT: {S.PREPARE_ABORT},
        S.DEAD: rest,
        S.PREPARE_EPOCH_FENCE: {S.ONGOING},
    }
    assert {
        after: {before for before in S if after in TRANSITIONS[before]} for after in S
    } == previous
    assert rest == AT_REST
    assert {s.number for s in STORED} == set(range(6))
    assert [S.DEAD.number, S.PREPARE_EPOCH_FENCE.number] == [6, 7]


def test_a_transaction_starts_with_its_first_partition() -> None:
    """Partitions that join later leave the start alone, or it would never time out."""
    one = a_transaction()
    one.add([("t", 0)], client_version=2, now_ms=20)
    one.add([("t", 1), ("t", 0)], client_version=2, now_ms=30)
    assert (one.start_ms, one.update_ms, list(one.partitions)) == (20, 30, [("t", 0), ("t", 1)])
    one.check()


@pytest.mark.parametrize("version", [0, 2])
@pytest.mark.parametrize("is_commit", [True, False])
def test_version_2_raises_the_epoch_at_the_end(version: int, is_commit: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """And version 1 leaves it; the markers carry what stands then."""
    one = a_transaction(S.ONGOING, epoch=3)
    one.last_producer_epoch = 1
    one.end(is_commit=is_commit, client_version=version, next_producer_id=-1, now_ms=20)
    raised = version == 2
    assert (one.producer_epoch, one.last_producer_epoch) == ((4, 3) if raised else (3, 1))
    assert one.identity_after_end() == (5, one.producer_epoch)
    assert one.is_commit is is_commit
    one.check()
    one.awaiting_markers.clear()
    one.complete(now_ms=30)
    assert one.state is (S.COMPLETE_COMMIT if is_commit else S.COMPLETE_ABORT)
    assert one.is_commit is is_commit
    assert (one.update_ms, one.partitions) == (30, {})
    one.check()


@pytest.mark.parametrize(("version", "last"), [(0, -1), (2, 3)])
def test_a_fence_raises_the_epoch_once(version: int, last: int) -> None:
    """Twice would run over at the last epoch (KAFKA-19367)."""
    one = a_transaction(S.ONGOING, epoch=3)
    one.last_producer_epoch = 2
    one.fence()
    one.end(is_commit=False, client_version=version, next_producer_id=-1, now_ms=20)
    assert (one.producer_epoch, one.last_producer_epoch) == (4, last)
    assert one.state is S.PREPARE_ABORT


def test_the_new_id_is_taken_when_the_markers_are_written() -> None:
    """Until then the old one is in force; it is remembered, and so is the last epoch."""
    one = a_transaction(S.ONGOING, epoch=EPOCH_MAX - 1)
    one.end(is_commit=True, client_version=2, next_producer_id=9, now_ms=20)
    assert (one.producer_id, one.producer_epoch, one.identity_after_end()) == (5, EPOCH_MAX, (9, 0))
    one.check()
    one.awaiting_markers.clear()
    one.complete(now_ms=30)
    assert (one.producer_id, one.producer_epoch, one.previous_producer_id) == (9, 0, 5)
    assert (one.next_producer_id, one.last_producer_epoch) == (-1, EPOCH_MAX - 1)
    one.check()


def test_every_change_notes_the_producer_id_before_it() -> None:
    """So a retry with the old id is known until the next change, and no longer."""
    one = a_transaction(epoch=EPOCH_MAX - 1)
    one.replace_producer_id(9, last_epoch=EPOCH_MAX - 1, timeout_ms=1, now_ms=20)
    assert (one.producer_id, one.producer_epoch, one.previous_producer_id) == (9, 0, 5)
    assert (one.timeout_ms, one.start_ms, one.update_ms) == (1, -1, 20)
    one.add([("t", 0)], client_version=2, now_ms=30)
    assert one.previous_producer_id == 9


def test_an_abort_of_nothing_starts_when_it_ends() -> None:
    """A complete record must have a start."""
    one = a_transaction()
    one.end(is_commit=False, client_version=2, next_producer_id=-1, now_ms=20)
    assert one.start_ms == 20


def test_the_last_epoch_but_one_is_the_last_that_is_given() -> None:
    """The coordinator needs one to fence it."""
    assert is_exhausted(EPOCH_MAX - 1)
    assert not is_exhausted(EPOCH_MAX - 2)
    assert EPOCH_MAX == 32767
    with pytest.raises(AssertionError):
        a_transaction(epoch=EPOCH_MAX - 1).raise_epoch(last_epoch=-1, timeout_ms=1, now_ms=1)
    with pytest.raises(AssertionError):
        a_transaction(epoch=EPOCH_MAX).keep_epoch(timeout_ms=1, now_ms=1)


def _break(one: Transaction, name: str, value: object) -> Transaction:
    setattr(one, name, value)
    return one


@pytest.mark.parametrize(
    "broken",
    [
        a_transaction(S.DEAD),
        a_transaction(epoch=-1),
        a_transaction(epoch=EPOCH_MAX),
        _break(a_transaction(S.ONGOING), "partitions", {}),
        _break(a_transaction(S.EMPTY), "partitions", {("t", 0): None}),
        _break(a_transaction(S.PREPARE_ABORT), "awaiting_markers", {}),
        _break(a_transaction(S.PREPARE_ABORT), "awaiting_markers", {("u", 0): None}),
        _break(a_transaction(S.ONGOING), "awaiting_markers", {("t", 0): None}),
        _break(a_transaction(S.COMPLETE_ABORT), "next_producer_id", 9),
        _break(a_transaction(S.PREPARE_ABORT), "next_producer_id", 9),
    ],
)
def test_check_sees_what_cannot_be(broken: Transaction) -> None:
    """Otherwise a simulation that calls it proves nothing."""
    with pytest.raises(AssertionError):
        broken.check()


def test_a_transaction_says_what_it_is() -> None:
    """In log lines and in failing tests."""
    assert repr(a_transaction(S.ONGOING, epoch=3)) == (
        "<Transaction 'x' Ongoing producer 5 epoch 3, 1 partitions>"
    )
