"""Where a group stands, written down."""

import pytest

from .conversation import START_MS, Conversation


def pair(**settings: int) -> Conversation:
    """Members a (leads) and b, stable in generation 1, six seconds after the start."""
    conversation = Conversation(**settings)
    conversation.run("a join v=3\nb join v=3\n+ 6000\na sync a1=0 b1=1\nb sync")
    return conversation


def test_a_member_commits_for_its_generation() -> None:
    """With the epoch of the leader it read from, and a note of its own."""
    pair().check("""
        a commit t/0=5 t/1=0 u/3=9 epoch=4 note=3
            log g t/0=5
            log g t/1=0
            log g u/3=9
            a t/0=ok t/1=ok u/3=ok
        a commit t/0=2
            log g t/0=2
            a t/0=ok
        b fetch t/0 t/1 u/3
            b fetched t/0=2 t/1=0@4+3 u/3=9@4+3
    """)


def test_commits_that_do_not_fit_the_group() -> None:
    """Nothing of them is stored."""
    pair().check("""
        a commit group= t/0=1
            a t/0=GROUP_ID_NOT_FOUND
        a commit t/0=1 gen=0
            a t/0=ILLEGAL_GENERATION
        a commit t/0=1 gen=-1
            a t/0=ILLEGAL_GENERATION
        a commit t/0=1 instance=i
            a t/0=UNKNOWN_MEMBER_ID
        x commit t/0=1 as=x1 gen=1
            x t/0=UNKNOWN_MEMBER_ID
        x commit nobody t/0=1
            x t/0=UNKNOWN_MEMBER_ID
        x commit nobody t/0=1 gen=1
            x t/0=UNKNOWN_MEMBER_ID
        a fetch
            a fetched nothing
    """)


def test_a_commit_during_a_rebalance() -> None:
    """While members join the old generation may still be committed; then nothing, until the
    member knows what it owns in the new one."""
    pair().check("""
        c join v=3
        a commit t/0=1
            log g t/0=1
            a t/0=ok
        a join
        b join
            a joined 2 range as a1 leads a1 b1 c1
            b joined 2 range as b1 follows a1
            c joined 2 range as c1 follows a1
        a commit t/0=2
            a t/0=REBALANCE_IN_PROGRESS
        a commit t/0=2 gen=1
            a t/0=ILLEGAL_GENERATION
        a sync a1=0 b1=1 c1=2
            log g 2 range leads a1: a1=0 b1=1 c1=2
            a assigned 0
        a commit t/0=2
            log g t/0=2
            a t/0=ok
    """)


def test_consumers_that_choose_their_partitions_commit_without_a_member() -> None:
    """Their first commit makes the group, which is a store of offsets and nothing else."""
    Conversation().check("""
        x commit nobody t/0=5
            log g t/0=5
            x t/0=ok
        x describe
            x g Empty
        x list
            x lists g::Empty:classic
        x commit nobody t/0=6
            log g t/0=6
            x t/0=ok
        a join v=3
        x commit nobody t/0=7
            x t/0=UNKNOWN_MEMBER_ID
        + 3000
            3000 a joined 1 range as a1 leads a1
        a leave
            log g 2 empty
            a left a1=ok
        x commit nobody t/0=7
            log g t/0=7
            x t/0=ok
    """)


def test_an_empty_group_id_keeps_offsets() -> None:
    """Old consumers without a group commit under it; no member can ever join it."""
    Conversation().check("""
        x commit group= nobody t/0=5
            log  t/0=5
            x t/0=ok
        x fetch group= t/0
            x fetched t/0=5
        a join group=
            a INVALID_GROUP_ID
    """)


def test_a_generation_of_a_group_that_is_not_there() -> None:
    """The error has changed with version 9."""
    Conversation().check("""
        a commit as=a1 gen=3 t/0=1 v=8
            a t/0=ILLEGAL_GENERATION
        a commit as=a1 gen=3 t/0=1 v=9
            a t/0=GROUP_ID_NOT_FOUND
        a commit as=a1 gen=3 t/0=1 v=10
            a t/0=GROUP_ID_NOT_FOUND
        x list
            x lists
    """)


def test_unknown_topics_and_partitions_are_refused_one_by_one() -> None:
    """What is known is stored; a commit of nothing known does not even ask the group."""
    pair().check("""
        a commit t/0=1 t/4=1 w/0=1
            log g t/0=1
            a t/0=ok t/4=UNKNOWN_TOPIC_OR_PARTITION w/0=UNKNOWN_TOPIC_OR_PARTITION
        a commit t/1=1 t/4=1 w/0=1 v=10
            log g t/1=1
            a t/1=ok t/4=UNKNOWN_TOPIC_OR_PARTITION ?/0=UNKNOWN_TOPIC_ID
        a commit w/0=1 gen=7
            a w/0=UNKNOWN_TOPIC_OR_PARTITION
        a commit t/0=1 w/0=1 gen=7
            a t/0=ILLEGAL_GENERATION w/0=UNKNOWN_TOPIC_OR_PARTITION
    """)


def test_a_note_has_a_bound() -> None:
    """Only the partition with the long note is refused."""
    pair(offset_metadata_chars_max=10).check("""
        a commit t/0=1 note=10
            log g t/0=1
            a t/0=ok
        a commit t/0=2 t/1=2 note=11
            a t/0=OFFSET_METADATA_TOO_LARGE t/1=OFFSET_METADATA_TOO_LARGE
        a fetch
            a fetched t/0=1+10
    """)


def test_offsets_that_do_not_fit_into_a_batch_are_refused_whole() -> None:
    """One commit is one batch: all of it is stored or nothing."""
    pair(batch_bytes_max=210).check("""
        a commit t/0=1
            log g t/0=1
            a t/0=ok
        a commit t/0=2 t/1=2
            a t/0=INVALID_COMMIT_OFFSET_SIZE t/1=INVALID_COMMIT_OFFSET_SIZE
        a fetch
            a fetched t/0=1
    """)


@pytest.mark.parametrize("version", [2, 4])
def test_old_clients_choose_how_long_an_offset_is_kept(version: int) -> None:
    """Until KIP-211 each commit said so; -1 leaves it to the broker."""
    conversation = pair()
    conversation.run(f"a commit t/0=1 keep=5000 v={version}\na commit u/0=1 v={version}")
    topics = conversation.shard._state.offsets.topics("g")
    assert topics["t"][0].expire_timestamp_ms == START_MS + 6000 + 5000
    assert topics["u"][0].expire_timestamp_ms is None


def test_an_offset_remembers_the_topic_it_was_committed_to() -> None:
    """By id, whether the client named the topic by name or by id."""
    conversation = pair()
    conversation.run("a commit t/0=1 v=9\na commit u/0=1 v=10")
    topics = conversation.shard._state.offsets.topics("g")
    assert topics["t"][0].topic_id == b"t" * 16
    assert topics["u"][0].topic_id == b"u" * 16
    assert topics["t"][0].commit_timestamp_ms == START_MS + 6000
