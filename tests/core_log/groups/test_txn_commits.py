"""Where a group will stand when a transaction commits."""

import pytest

from headwater.core_log.kernel.effects import Caller, Sender
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

from .conversation import START_MS, Conversation
from .test_commits import pair


def test_offsets_count_when_the_transaction_commits() -> None:
    """Until then the group stands where it stood, and who asks for stability has to wait."""
    pair().check("""
        a commit t/0=1
            log g t/0=1
            a t/0=ok
        a txn-commit t/0=5 t/1=6 epoch=4 note=3
            log 7: g t/0=5
            log 7: g t/1=6
            a t/0=ok t/1=ok
        b fetch t/0 t/1 t/2
            b fetched t/0=1 t/1=-1 t/2=-1
        b fetch t/0 t/1 t/2 stable
            b fetched t/0=UNSTABLE_OFFSET_COMMIT t/1=UNSTABLE_OFFSET_COMMIT t/2=-1
        end 7 commit
        b fetch t/0 t/1 t/2 stable
            b fetched t/0=5@4+3 t/1=6@4+3 t/2=-1
    """)


def test_an_abort_drops_them() -> None:
    """The transaction's own last word counts for nothing."""
    pair().check("""
        a commit t/0=1
            log g t/0=1
            a t/0=ok
        a txn-commit t/0=5 t/1=6
            log 7: g t/0=5
            log 7: g t/1=6
            a t/0=ok t/1=ok
        end 7 abort
        b fetch stable
            b fetched t/0=1
        end 7 commit
        b fetch stable
            b fetched t/0=1
    """)


@pytest.mark.parametrize("version", range(6))
def test_every_version_commits_for_a_group_without_members(version: int) -> None:
    """The first commit makes the group; it outlives an abort."""
    Conversation().check(f"""
        x txn-commit nobody t/0=5 v={version}
            log 7: g t/0=5
            x t/0=ok
        x list
            x lists g::Empty:classic
        end 7 abort
        x list
            x lists g::Empty:classic
        x fetch
            x fetched nothing
        x txn-commit nobody t/0=6 v={version}
            log 7: g t/0=6
            x t/0=ok
        end 7 commit
        x fetch
            x fetched t/0=6
    """)


def test_a_transaction_says_the_same_partition_twice() -> None:
    """Its last word counts."""
    Conversation().check("""
        x txn-commit nobody t/0=5
            log 7: g t/0=5
            x t/0=ok
        x txn-commit nobody t/0=4
            log 7: g t/0=4
            x t/0=ok
        end 7 commit
        x fetch stable
            x fetched t/0=4
    """)


def test_the_next_transaction_of_a_producer_is_another_one() -> None:
    """The marker between them belongs to the first."""
    Conversation().check("""
        x txn-commit nobody t/0=5 producer-epoch=1
            log 7.1: g t/0=5
            x t/0=ok
        end 7 commit
        x txn-commit nobody t/0=9 producer-epoch=2
            log 7.2: g t/0=9
            x t/0=ok
        x fetch t/0
            x fetched t/0=5
        x fetch t/0 stable
            x fetched t/0=UNSTABLE_OFFSET_COMMIT
        end 7 abort
        x fetch t/0 stable
            x fetched t/0=5
    """)


@pytest.mark.parametrize("first", [7, 8])
def test_several_producers_at_one_partition(first: int) -> None:
    """It is unstable while any of them is open; the younger record stands, whoever ends last."""
    conversation = Conversation()
    conversation.run("x txn-commit nobody t/0=5\nx txn-commit nobody t/0=3 as-producer=8")
    conversation.check(f"""
        end {first} commit
        x fetch t/0
            x fetched t/0={5 if first == 7 else 3}
        x fetch t/0 stable
            x fetched t/0=UNSTABLE_OFFSET_COMMIT
        end {15 - first} commit
        x fetch t/0 stable
            x fetched t/0=3
    """)


def test_a_plain_commit_behind_the_record_is_younger() -> None:
    """The transaction's offset is overtaken; the partition stays unstable until it ends."""
    Conversation().check("""
        x txn-commit nobody t/0=5
            log 7: g t/0=5
            x t/0=ok
        x commit nobody t/0=2
            log g t/0=2
            x t/0=ok
        x fetch t/0 stable
            x fetched t/0=UNSTABLE_OFFSET_COMMIT
        end 7 commit
        x fetch t/0 stable
            x fetched t/0=2
        crash
        x fetch t/0 stable
            x fetched t/0=2
    """)


def test_a_record_behind_a_plain_commit_is_younger() -> None:
    """Even when the transaction began before the commit."""
    Conversation().check("""
        x txn-commit nobody t/0=5
            log 7: g t/0=5
            x t/0=ok
        x commit nobody t/0=2
            log g t/0=2
            x t/0=ok
        x txn-commit nobody t/0=6
            log 7: g t/0=6
            x t/0=ok
        end 7 commit
        x fetch t/0 stable
            x fetched t/0=6
    """)


def test_one_transaction_and_two_groups() -> None:
    """Each marker ends it for all groups of the shard."""
    Conversation().check("""
        x txn-commit nobody t/0=5
            log 7: g t/0=5
            x t/0=ok
        x txn-commit nobody t/0=6 group=h
            log 7: h t/0=6
            x t/0=ok
        end 7 commit
        x fetch stable
            x fetched t/0=5
        x fetch group=h stable
            x fetched t/0=6
    """)


# Fencing by what the group knows


def test_a_member_of_another_generation_is_fenced() -> None:
    """Nobody commits what its successor has read."""
    conversation = pair()
    conversation.check("""
        a txn-commit t/0=5 gen=0
            a t/0=ILLEGAL_GENERATION
        a txn-commit t/0=5 gen=-1
            a t/0=ILLEGAL_GENERATION
        a txn-commit t/0=5 as=a9
            a t/0=UNKNOWN_MEMBER_ID
        a txn-commit t/0=5 as=-
            a t/0=UNKNOWN_MEMBER_ID
        a txn-commit t/0=5 instance=i
            a t/0=UNKNOWN_MEMBER_ID
        a txn-commit t/0=5 gen=-1 as=- instance=i
            a t/0=UNKNOWN_MEMBER_ID
        a fetch stable
            a fetched nothing
    """)


def test_a_static_member_that_was_replaced_is_fenced() -> None:
    """Its instance belongs to another member id by now."""
    conversation = Conversation()
    conversation.run("a join instance=i\n+ 3000\na sync i1=0\nb join instance=i\nb sync")
    conversation.check("""
        a txn-commit t/0=5
            a t/0=FENCED_INSTANCE_ID
        b txn-commit t/0=5
            log 7: g t/0=5
            b t/0=ok
    """)


def test_a_producer_that_names_no_member_is_believed() -> None:
    """As in Kafka, in every state: producers before 2.5 cannot name one."""
    pair().check("""
        x txn-commit nobody t/0=5
            log 7: g t/0=5
            x t/0=ok
        x txn-commit t/0=5 v=2
            log 7: g t/0=5
            x t/0=ok
    """)


def test_a_member_commits_while_the_group_rebalances() -> None:
    """In the old generation while others join, and in the new one before its assignment."""
    pair().check("""
        c join v=3
        a txn-commit t/0=1
            log 7: g t/0=1
            a t/0=ok
        a join
        b join
            a joined 2 range as a1 leads a1 b1 c1
            b joined 2 range as b1 follows a1
            c joined 2 range as c1 follows a1
        a txn-commit t/0=2
            log 7: g t/0=2
            a t/0=ok
        a txn-commit t/0=2 gen=1
            a t/0=ILLEGAL_GENERATION
    """)


def test_a_member_of_a_group_that_has_none_any_more() -> None:
    """It has left or was removed; who names no generation may commit, as in Kafka."""
    conversation = pair()
    conversation.run("a leave\nb leave")
    conversation.check("""
        a txn-commit t/0=5 as=a1 gen=2
            a t/0=UNKNOWN_MEMBER_ID
        a txn-commit t/0=5 as=a1 gen=-1
            log 7: g t/0=5
            a t/0=ok
        x txn-commit nobody t/0=5
            log 7: g t/0=5
            x t/0=ok
    """)


@pytest.mark.parametrize("version", [3, 4, 5])
def test_a_generation_of_a_group_that_is_not_there(version: int) -> None:
    """No version knows GROUP_ID_NOT_FOUND here."""
    Conversation().check(f"""
        a txn-commit as=a1 gen=3 t/0=1 v={version}
            a t/0=ILLEGAL_GENERATION
        x list
            x lists
    """)


def test_a_commit_is_no_sign_of_life() -> None:
    """It is the producer's, not the member's."""
    conversation = pair()
    conversation.run("+ 9999\na txn-commit t/0=5\nb beat")
    conversation.check("""
        + 1
        b beat
            b REBALANCE_IN_PROGRESS
    """)


def test_a_group_has_a_name_and_a_producer_an_id() -> None:
    """Nothing under an empty one could ever be asked for or end."""
    Conversation().check("""
        x txn-commit nobody group= t/0=5
            x t/0=INVALID_GROUP_ID
        x txn-commit nobody as-producer=-1 t/0=5
            x t/0=INVALID_PRODUCER_ID_MAPPING
    """)


# Bounds


def test_unknown_topics_and_partitions_are_refused_one_by_one() -> None:
    """What is known is kept, and unknown ones are unknown whoever asks."""
    pair().check("""
        a txn-commit t/0=1 t/4=1 w/0=1
            log 7: g t/0=1
            a t/0=ok t/4=UNKNOWN_TOPIC_OR_PARTITION w/0=UNKNOWN_TOPIC_OR_PARTITION
        a txn-commit w/0=1 gen=7
            a w/0=UNKNOWN_TOPIC_OR_PARTITION
        a txn-commit t/0=1 w/0=1 gen=7
            a t/0=ILLEGAL_GENERATION w/0=UNKNOWN_TOPIC_OR_PARTITION
    """)


def test_notes_and_batches_have_bounds() -> None:
    """One commit is one batch: all of it is stored or nothing."""
    pair(offset_metadata_chars_max=10, batch_bytes_max=210).check("""
        a txn-commit t/0=1 note=10
            log 7: g t/0=1
            a t/0=ok
        a txn-commit t/0=1 note=11
            a t/0=OFFSET_METADATA_TOO_LARGE
        a txn-commit t/0=2 t/1=2
            a t/0=INVALID_COMMIT_OFFSET_SIZE t/1=INVALID_COMMIT_OFFSET_SIZE
        end 7 commit
        a fetch
            a fetched t/0=1+10
    """)


def test_an_offset_remembers_the_topic_it_was_sent_for() -> None:
    """A topic that was deleted and made anew has no offsets."""
    conversation = Conversation()
    conversation.run("x txn-commit nobody t/0=5\nend 7 commit")
    (committed,) = conversation.shard._state.offsets.topics("g")["t"].values()
    assert committed.topic_id == b"t" * 16
    assert committed.commit_timestamp_ms == START_MS
    assert committed.expire_timestamp_ms is None


@pytest.mark.parametrize(
    ("version", "failed", "told"),
    [
        (5, ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (5, ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR),
        (5, ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_PRODUCER_EPOCH),
        (2, ErrorCode.NETWORK_EXCEPTION, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        (1, ErrorCode.NETWORK_EXCEPTION, ErrorCode.COORDINATOR_NOT_AVAILABLE),
    ],
)
def test_a_commit_is_a_batch_of_the_transaction(
    version: int, failed: ErrorCode, told: ErrorCode
) -> None:
    """Answered after its records, and with what the producer understands when that fails."""
    partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=5)
    request = TxnOffsetCommitRequest(
        group_id="g",
        producer_id=7,
        producer_epoch=3,
        topics=[TxnOffsetCommitRequestTopic(name="t", partitions=[partition])],
    )
    effects = Conversation().shard.step(
        request, version=version, caller=Caller(), reply_to="x", now_ms=START_MS
    )
    assert len(effects.records) == 1
    assert effects.atomic
    assert effects.sender == Sender(producer_id=7, producer_epoch=3)
    assert not effects.replies
    (reply,) = effects.replies_after_commit
    response = reply.on_failure(failed)
    assert isinstance(response, TxnOffsetCommitResponse)
    assert response.topics[0].partitions[0].error_code == told


# What else deletes


def test_deleting_a_group_deletes_what_is_pending() -> None:
    """The tombstone is younger: the commit brings nothing back, before and after a crash."""
    conversation = Conversation()
    conversation.run("x commit nobody t/0=1\nx txn-commit nobody t/0=5 t/1=6")
    conversation.check("""
        x delete
            log g t/0 deleted
            log g t/1 deleted
            log g deleted
            x g=ok
        end 7 commit
        x list
            x lists
        crash
        x list
            x lists
    """)


def test_deleting_an_offset_deletes_what_is_pending() -> None:
    """Where only a transaction has sent something, too."""
    conversation = Conversation()
    conversation.run("x commit nobody t/0=1\nx txn-commit nobody t/0=5 t/1=6 t/2=7")
    conversation.check("""
        x forget t/0 t/1 t/3
            log g t/0 deleted
            log g t/1 deleted
            x t/0=ok t/1=ok t/3=ok
        x fetch stable
            x fetched t/2=UNSTABLE_OFFSET_COMMIT
        end 7 commit
        x fetch stable
            x fetched t/2=7
    """)


def test_deleting_a_topic_deletes_what_is_pending() -> None:
    """In all groups, those of open transactions only too."""
    conversation = Conversation()
    conversation.run(
        "x commit nobody t/0=1\nx txn-commit nobody t/0=5 u/1=6\nx txn-commit nobody group=h t/2=7"
    )
    conversation.check("""
        delete-topic t
            log g t/0 deleted
            log h t/2 deleted
        end 7 commit
        x fetch
            x fetched u/1=6
        x fetch group=h
            x fetched nothing
    """)


def test_nothing_expires_where_a_transaction_is_open() -> None:
    """Neither the offset nor a group that has nothing else; both do when it is over."""
    conversation = Conversation(offsets_retention_ms=60_000, offsets_retention_check_ms=10_000)
    conversation.run("x commit nobody t/0=1 u/0=1\nx txn-commit nobody t/0=5")
    conversation.run("x txn-commit nobody group=h t/0=5")
    conversation.check("""
        + 60000
            60000 log g u/0 deleted
        end 7 abort
        + 10000
            70000 log g t/0 deleted
            70000 log g deleted
            70000 log h deleted
    """)


def test_what_a_transaction_commits_ages_from_its_record() -> None:
    """As in Kafka: the offset says when it was sent, not when it came to count."""
    conversation = Conversation(offsets_retention_ms=60_000, offsets_retention_check_ms=10_000)
    conversation.run("x txn-commit nobody t/0=5\n+ 50000\nend 7 commit")
    conversation.check("""
        + 10000
            60000 log g t/0 deleted
            60000 log g deleted
    """)


# Loading


def test_open_transactions_survive_a_load() -> None:
    """Their offsets are pending as before, and count when the marker comes."""
    conversation = pair()
    conversation.run("a txn-commit t/0=5\nb txn-commit t/1=6 as-producer=8\nend 8 abort")
    conversation.check("""
        crash
        a fetch t/0 t/1 stable
            a fetched t/0=UNSTABLE_OFFSET_COMMIT t/1=-1
        end 7 commit
        a fetch t/0 t/1 stable
            a fetched t/0=5 t/1=-1
        crash
        a fetch t/0 t/1 stable
            a fetched t/0=5 t/1=-1
    """)


def test_a_group_of_an_open_transaction_is_there_after_a_load() -> None:
    """Though it has neither members nor offsets."""
    conversation = Conversation()
    conversation.run("x txn-commit nobody t/0=5")
    conversation.check("""
        crash
        x list
            x lists g::Empty:classic
        x fetch stable
            x fetched t/0=UNSTABLE_OFFSET_COMMIT
    """)


def test_a_marker_for_nothing_is_fine() -> None:
    """The producer's transaction was in other groups' shards, or the log was cleaned."""
    Conversation().check("""
        end 9 commit
        crash
        x list
            x lists
    """)
