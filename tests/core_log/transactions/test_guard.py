"""Which connection may speak for a transactional id."""

import random

from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.transactions.guard import Guard

from .conversation import Conversation


def test_the_newest_connection_speaks() -> None:
    """An older one does not any more, whatever it asked before."""
    guard = Guard()
    assert guard.admits("x", 5)
    assert guard.admits("x", 5)
    assert not guard.admits("x", 4)
    assert guard.admits("x", 6)
    assert not guard.admits("x", 5)
    assert guard.admits("y", 5)


def test_a_refused_connection_does_not_become_the_newest() -> None:
    """Or each would shut the other one out."""
    guard = Guard()
    assert guard.admits("x", 5)
    assert not guard.admits("x", 4)
    assert guard.admits("x", 5)


def test_a_new_producer_counts_and_an_old_one_does_not_go_back() -> None:
    """Its connection is the newest; one that initializes late does not become it."""
    guard = Guard()
    guard.saw_producer("x", 5)
    guard.saw_producer("x", 3)
    assert not guard.admits("x", 4)
    assert guard.admits("x", 5)


def test_connections_from_before_the_load_are_refused() -> None:
    """They may carry what an earlier shard has seen the successor of."""
    guard = Guard()
    guard.begin(connections_before=5)
    assert not guard.admits("x", 4)
    assert guard.admits("x", 5)
    guard.saw_producer("y", 3)
    assert not guard.admits("y", 3)


def test_an_id_that_is_gone_takes_no_room() -> None:
    """And begins anew."""
    guard = Guard()
    assert guard.admits("x", 5)
    guard.forget("x")
    guard.forget("x")
    assert guard.admits("x", 4)


def test_a_delayed_commit_of_version_1_does_not_tear_the_next_transaction() -> None:
    """KAFKA-17754: the client gave connection 1 up and went on; what it had sent there arrives."""
    Conversation().check("""
        old init
            log x Empty 1/0
            old NONE 1/0
        old add t-0
            log x Ongoing 1/0 t-0
            old NONE
        old commit on=2
            log x PrepareCommit 1/0 t-0
            old NONE
            order x 1/0 commit v0 epoch 7: t-0
        markers
            log x CompleteCommit 1/0
        old add t-0 on=2
            log x Ongoing 1/0 t-0
            old NONE
        old commit on=1
            old NOT_COORDINATOR
            close 1
            note stale_connection_fenced
        old add t-1 on=1
            old NOT_COORDINATOR
            close 1
            note stale_connection_fenced
        old offsets g on=1
            old NOT_COORDINATOR
            close 1
            note stale_connection_fenced
        old add t-1 on=2
            log x Ongoing 1/0 t-0 t-1
            old NONE
    """)


def test_a_delayed_request_of_version_1_starts_no_transaction() -> None:
    """It would hang until it times out, and hold up all who read committed."""
    talk = Conversation()
    talk.run("old init\nold add t-0\nold commit on=2\nmarkers")
    talk.check("""
        old add t-0 on=1
            old NOT_COORDINATOR
            close 1
            note stale_connection_fenced
        old offsets g on=1
            old NOT_COORDINATOR
            close 1
            note stale_connection_fenced
        old commit on=1
            old NOT_COORDINATOR
            close 1
            note stale_connection_fenced
    """)


def test_a_delayed_commit_of_version_2_is_fenced_by_its_epoch() -> None:
    """Wherever it comes from: the epoch was raised when the transaction ended."""
    talk = Conversation()
    talk.run("a init\na add t-0\na commit on=2\nmarkers\na add t-0 on=2")
    talk.check("""
        a commit as=1/0 on=1
            a PRODUCER_FENCED
        a add t-1 as=1/0 on=1
            a PRODUCER_FENCED
        a commit on=1
            log x PrepareCommit 1/2 t-0 v2
            a NONE 1/2
            order x 1/2 commit v2 epoch 7: t-0
    """)


def test_version_2_may_use_any_connection() -> None:
    """Partitions join with what is produced, on whatever connection that comes."""
    talk = Conversation()
    talk.run("a init on=5\na add t-0 on=7")
    talk.check("""
        a add t-1 on=2
            log x Ongoing 1/0 t-0 t-1 v2
            a NONE
        a commit on=1
            log x PrepareCommit 1/1 t-0 t-1 v2
            a NONE 1/1
            order x 1/1 commit v2 epoch 7: t-0,t-1
    """)


def test_the_connection_of_a_start_counts() -> None:
    """What is older than the producer cannot be its."""
    talk = Conversation()
    talk.run("old init on=5")
    talk.check("""
        old add t-0 on=4
            old NOT_COORDINATOR
            close 4
            note stale_connection_fenced
        old add t-0 on=5
            log x Ongoing 1/0 t-0
            old NONE
    """)


def test_a_client_that_alternates_connects_anew_and_is_served() -> None:
    """Each refusal closes the older connection, and the retry comes on the newest."""
    Conversation().check("""
        old init on=1
            log x Empty 1/0
            old NONE 1/0
        old add t-0 on=2
            log x Ongoing 1/0 t-0
            old NONE
        old add t-1 on=1
            old NOT_COORDINATOR
            close 1
            note stale_connection_fenced
        old add t-1 on=3
            log x Ongoing 1/0 t-0 t-1
            old NONE
        old commit on=2
            old NOT_COORDINATOR
            close 2
            note stale_connection_fenced
        old commit on=4
            log x PrepareCommit 1/0 t-0 t-1
            old NONE
            order x 1/0 commit v0 epoch 7: t-0,t-1
    """)


def test_a_fenced_producer_does_not_shut_the_live_one_out() -> None:
    """Its epoch is wrong, so its younger connection counts for nothing."""
    talk = Conversation()
    talk.run("old init\nold2 init\nold2 add t-0")
    talk.check("""
        old commit on=9
            old PRODUCER_FENCED
        old add t-0 on=9
            old PRODUCER_FENCED
        old2 commit
            log x PrepareCommit 1/1 t-0
            old2 NONE
            order x 1/1 commit v0 epoch 7: t-0
    """)


def test_after_a_load_each_client_connects_anew_once() -> None:
    """The shard has forgotten the numbers, and an old request may still be under way."""
    talk = Conversation()
    talk.run("old init\nold add t-0\ncrash")
    talk.check("""
        old commit
            old NOT_COORDINATOR
            close 1
            note stale_connection_fenced
        old commit on=2
            log x PrepareCommit 1/0 t-0
            old NONE
            order x 1/0 commit v0 epoch 8: t-0
    """)


def test_delayed_requests_never_tear_a_transaction_in_any_order() -> None:
    """A client of version 1 gives connections up; the network delivers what it sent there later.

    The model: each transaction writes one number to t-0 and to t-1. A commit must meet both.
    """
    for seed in range(15):
        dice = random.Random(seed)
        talk = Conversation()
        talk.run("old init on=1")
        connection, delayed = 1, list[str]()

        def say(line: str, delayed: list[str] = delayed, dice: random.Random = dice) -> str:
            nonlocal connection
            if dice.random() < 0.4:  # no answer in time: the client gives the connection up
                delayed.append(f"{line} on={connection}")
                connection += 1
            return f"{line} on={connection}"

        for _ in range(6):
            for line in ("old add t-0", "old add t-1", "old commit"):
                talk.run(say(line))
                while delayed and dice.random() < 0.5:
                    late = delayed.pop(dice.randrange(len(delayed)))
                    before = talk.log.copy()
                    answer = talk.run(late)
                    served = "NOT_COORDINATOR" not in answer
                    assert talk.log == before, late
                    assert not served, late
            assert list(talk.transaction().partitions) == [("t", 0), ("t", 1)]
            talk.run("markers")
            assert talk.transaction().state.value == "CompleteCommit"


def test_offsets_have_a_guard_of_their_own_and_it_asks_for_the_producer_first() -> None:
    """A producer's offsets go to another coordinator, on other connections than its commits."""
    talk = Conversation()
    talk.run("old init on=9\nold add t-0 on=9")
    producer_id = 1  # the first that the conversation hands out

    def admit(connection: int, *, producer_epoch: int = 0) -> ErrorCode:
        return talk.shard.admit_offsets("x", producer_id, producer_epoch, connection=connection)

    assert admit(4) is ErrorCode.NONE
    assert admit(3) is ErrorCode.NOT_COORDINATOR
    assert admit(5, producer_epoch=1) is ErrorCode.PRODUCER_FENCED
    assert admit(4) is ErrorCode.NONE
    unknown = talk.shard.admit_offsets("y", producer_id, 0, connection=5)
    assert unknown is ErrorCode.INVALID_PRODUCER_ID_MAPPING
