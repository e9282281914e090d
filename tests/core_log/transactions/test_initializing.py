"""InitProducerId: a producer begins, and whoever was before it is fenced."""

import pytest

from headwater.core_log.transactions.transaction import EPOCH_MAX

from .conversation import Conversation


def test_each_start_gets_the_next_epoch() -> None:
    """The producer before is fenced by it, whatever it asks."""
    Conversation().check("""
        a init
            log x Empty 1/0
            a NONE 1/0
        b init
            log x Empty 1/1
            b NONE 1/1
        b init id=y
            log y Empty 2/0
            b NONE 2/0
        a add t-0
            a PRODUCER_FENCED
        a verify t-0
            a PRODUCER_FENCED
        a offsets g
            a PRODUCER_FENCED
        a commit
            a PRODUCER_FENCED
        a keep
            a PRODUCER_FENCED
    """)


def test_clients_that_do_not_know_the_word_are_told_that_their_epoch_is_wrong() -> None:
    """KIP-588 brought PRODUCER_FENCED, each request in its own version."""
    talk = Conversation()
    talk.run("old init\nb init")
    talk.check("""
        old keep v=3
            old INVALID_PRODUCER_EPOCH
        old keep v=4
            old PRODUCER_FENCED
        old add t-0 v=1
            old INVALID_PRODUCER_EPOCH
        old add t-0 v=2
            old PRODUCER_FENCED
        old offsets g v=1
            old INVALID_PRODUCER_EPOCH
        old offsets g v=2
            old PRODUCER_FENCED
        old commit v=1
            old INVALID_PRODUCER_EPOCH
        old commit v=2
            old PRODUCER_FENCED
    """)


def test_an_ongoing_transaction_is_aborted_first() -> None:
    """The raised epoch is nobody's; the one after it is the new producer's."""
    Conversation().check("""
        a init
            log x Empty 1/0
            a NONE 1/0
        a add t-0
            log x Ongoing 1/0 t-0 v2
            a NONE
        b init
            log x PrepareAbort 1/1 t-0 v2
            b CONCURRENT_TRANSACTIONS
            order x 1/1 abort v2 epoch 7: t-0
        b init
            b CONCURRENT_TRANSACTIONS
        a add t-0
            a PRODUCER_FENCED
        markers
            log x CompleteAbort 1/1 v2
        b init
            log x Empty 1/2 v2
            b NONE 1/2
        a commit
            a PRODUCER_FENCED
    """)


def test_below_level_2_a_fence_is_of_version_1() -> None:
    """Whatever the client was."""
    talk = Conversation()
    talk.run("level 1\na init\na add t-0 v=3")
    talk.check("""
        b init
            log x PrepareAbort 1/1 t-0
            b CONCURRENT_TRANSACTIONS
            order x 1/1 abort v0 epoch 7: t-0
    """)


def test_a_producer_goes_on_with_its_next_epoch() -> None:
    """KIP-360; the retry of a request whose answer was lost gets the same epoch again."""
    Conversation().check("""
        a init
            log x Empty 1/0
            a NONE 1/0
        a keep
            log x Empty 1/1
            a NONE 1/1
        a keep as=1/0
            log x Empty 1/1
            a NONE 1/1
        a keep as=1/1
            log x Empty 1/2
            a NONE 1/2
        a keep as=1/0
            a PRODUCER_FENCED
        a keep as=1/3
            a PRODUCER_FENCED
        a keep as=9/2
            a PRODUCER_FENCED
    """)


def test_another_start_ends_all_retries() -> None:
    """Or a fenced producer would be let in again as one that retries."""
    Conversation().check("""
        a init
            log x Empty 1/0
            a NONE 1/0
        b init
            log x Empty 1/1
            b NONE 1/1
        a keep as=1/0
            a PRODUCER_FENCED
        b keep
            log x Empty 1/2
            b NONE 1/2
        b init
            log x Empty 1/3
            b NONE 1/3
        b keep as=1/1
            b PRODUCER_FENCED
    """)


def test_the_retry_of_a_commit_may_be_an_init() -> None:
    """Version 2 raised the epoch for the producer that does not know it yet."""
    talk = Conversation()
    talk.run("a init\na add t-0\na commit\nmarkers")
    talk.check("""
        a keep as=1/0
            log x Empty 1/1 v2
            a NONE 1/1
    """)


def test_a_start_is_not_the_start_of_a_transaction() -> None:
    """Lists by duration would show one that never was."""
    talk = Conversation()
    talk.run("a init\na add t-0\na commit\nmarkers\na init")
    assert talk.transaction().start_ms == -1


def test_a_known_producer_whose_id_expired_gets_a_new_one() -> None:
    """It recovers from UNKNOWN_PRODUCER_ID; nobody can be fenced by it."""
    Conversation().check("""
        a keep as=77/5
            log x Empty 1/0
            a NONE 1/0
    """)


def test_when_the_epochs_are_used_up_a_new_id_comes() -> None:
    """For a new start, and for the producer that goes on, which may retry with its old id."""
    talk = Conversation()
    talk.run(f"a init\nepoch {EPOCH_MAX - 2}")
    talk.check("""
        a keep as=1/32765
            log x Empty 1/32766
            a NONE 1/32766
        a keep as=1/32765
            log x Empty 1/32766
            a NONE 1/32766
        a keep as=1/32766
            log x Empty 2/0
            a NONE 2/0
        a keep as=1/32766
            log x Empty 2/0
            a NONE 2/0
        a keep as=1/32765
            a PRODUCER_FENCED
        a keep as=1/0
            a PRODUCER_FENCED
    """)
    talk.run(f"epoch {EPOCH_MAX - 1}")
    talk.check("""
        b init
            log x Empty 3/0
            b NONE 3/0
        a keep as=2/32766
            a PRODUCER_FENCED
    """)


def test_the_epoch_of_fences_is_given_to_nobody() -> None:
    """A version 1 fence may use it up; then only a start gets on, with a new id."""
    talk = Conversation()
    talk.run(f"level 1\nold init\nepoch {EPOCH_MAX - 1}\nold add t-0 as=1/32766")
    talk.check("""
        b init
            log x PrepareAbort 1/32767 t-0
            b CONCURRENT_TRANSACTIONS
            order x 1/32767 abort v0 epoch 7: t-0
        markers
            log x CompleteAbort 1/32767
        old keep as=1/32766
            old PRODUCER_FENCED
        old add t-0 as=1/32767
            old PRODUCER_FENCED
        old verify t-0 as=1/32767 v=5
            old PRODUCER_FENCED
        old commit as=1/32767
            old PRODUCER_FENCED
        old abort as=1/32767 v=5
            old PRODUCER_FENCED
        old abort as=1/32766 v=5
            old PRODUCER_FENCED
        b init
            log x Empty 2/0
            b NONE 2/0
    """)


def test_a_fence_at_the_last_epoch_gives_a_new_id() -> None:
    """The epoch is raised once, or it would run over; the aborted producer learns its new id."""
    talk = Conversation()
    talk.run(f"a init\nepoch {EPOCH_MAX - 1}\na add t-0 as=1/32766")
    talk.check("""
        b init
            log x PrepareAbort 1/32767 t-0 then 2/0 v2
            b CONCURRENT_TRANSACTIONS
            order x 1/32767 abort v2 epoch 7: t-0
        b keep as=2/0
            b CONCURRENT_TRANSACTIONS
        b keep as=2/1
            b PRODUCER_FENCED
        markers
            log x CompleteAbort 2/0 v2
        a abort as=1/32766
            a NONE 2/0
        b init
            log x Empty 2/1 v2
            b NONE 2/1
    """)


def test_without_a_producer_id_at_hand_clients_wait() -> None:
    """Nothing is changed and nothing is kept meanwhile."""
    talk = Conversation()
    talk.check("""
        no-ids
        a init
            a COORDINATOR_LOAD_IN_PROGRESS
        a add t-0 as=1/0
            a INVALID_PRODUCER_ID_MAPPING
        ids
        a init
            log x Empty 1/0
            a NONE 1/0
        no-ids
        a init
            log x Empty 1/1
            a NONE 1/1
        epoch 32766
        a init
            a COORDINATOR_LOAD_IN_PROGRESS
        a add t-0 as=1/32766
            log x Ongoing 1/32766 t-0 v2
            a NONE
        a init
            a COORDINATOR_LOAD_IN_PROGRESS
        a add t-0 as=1/32766
            a NONE
    """)


@pytest.mark.parametrize("timeout", [-1, 0, 900_001, 2**31 - 1])
def test_the_time_out_has_bounds(timeout: int) -> None:
    """One that never ends would hold up all who read committed."""
    assert "INVALID_TRANSACTION_TIMEOUT" in Conversation().run(f"a init timeout={timeout}")


@pytest.mark.parametrize("timeout", [1, 900_000])
def test_the_bounds_belong_to_the_time_out(timeout: int) -> None:
    """And each start may choose anew."""
    talk = Conversation()
    talk.run("a init timeout=5")
    assert "NONE" in talk.run(f"a init timeout={timeout}")
    assert talk.transaction().timeout_ms == timeout


def test_broken_requests_are_refused() -> None:
    """An id without its epoch, and the reverse; names that are too short or too long."""
    talk = Conversation(transactional_id_bytes_max=8)
    talk.check("""
        a keep as=1/-1
            a INVALID_REQUEST
        a keep as=-1/1
            a INVALID_REQUEST
        a init id=
            a INVALID_REQUEST
        a init id=123456789
            a INVALID_REQUEST
        a init id=üüüüü
            a INVALID_REQUEST
        a init id=12345678
            log 12345678 Empty 1/0
            a NONE 1/0
    """)


def test_a_shard_keeps_so_many_ids_and_no_more() -> None:
    """Those that are there are served on."""
    talk = Conversation(transactional_ids_max=2)
    talk.run("a init id=x\na init id=y")
    talk.check("""
        a init id=z
            a POLICY_VIOLATION
            note transactional_ids_full
        a init id=y
            log y Empty 2/1
            a NONE 2/1
    """)
