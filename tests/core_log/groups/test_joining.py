"""Who gets into a group, and with which id."""

import pytest

from .conversation import Conversation


def test_a_dynamic_member_gets_its_id_first_and_joins_with_it() -> None:
    """KIP-394: the first join only hands out an id; the group is in the log from then on."""
    Conversation().check("""
        a join
            log g 0 empty
            a MEMBER_ID_REQUIRED a1
        a join
        + 3000
            3000 a joined 1 range as a1 leads a1
    """)


def test_before_version_4_a_member_is_in_at_once() -> None:
    """Old clients do not know the round trip for an id."""
    Conversation().check("""
        a join v=0
            log g 0 empty
        b join v=3
        + 6000
            6000 a joined 1 range as a1 leads a1 b1
            6000 b joined 1 range as b1 follows a1
    """)


def test_a_static_member_needs_no_round_trip() -> None:
    """KIP-345: its instance id already says who it is, so a lost response does no harm."""
    Conversation().check("""
        a join instance=i
            log g 0 empty
        + 3000
            3000 a joined 1 range as i1 leads i1
    """)


def test_requests_that_no_group_accepts() -> None:
    """They leave no group behind."""
    Conversation().check("""
        a join group=
            a INVALID_GROUP_ID
        a join session=5999
            a INVALID_SESSION_TIMEOUT
        a join session=1800001
            a INVALID_SESSION_TIMEOUT
        a join session=10000 type=
            a INCONSISTENT_GROUP_PROTOCOL
        a join type=consumer protocols=
            a INCONSISTENT_GROUP_PROTOCOL
        a join protocols=range as=a-stranger
            a UNKNOWN_MEMBER_ID a-stranger
        x list
            x lists
        a join session=6000
            log g 0 empty
            a MEMBER_ID_REQUIRED a1
        a join session=1800000
    """)


def test_a_member_shares_type_and_a_protocol_with_all_others() -> None:
    """One protocol that everybody supports is enough; another type never is."""
    Conversation().check("""
        a join v=3 protocols=range,sticky
            log g 0 empty
        b join v=3 protocols=roundrobin
            b INCONSISTENT_GROUP_PROTOCOL
        b join v=3 type=connect protocols=range
            b INCONSISTENT_GROUP_PROTOCOL
        b join v=3 type=consumer protocols=roundrobin,sticky
        c join v=3 protocols=range
            c INCONSISTENT_GROUP_PROTOCOL
        + 6000
            6000 a joined 1 sticky as a1 leads a1 b1
            6000 b joined 1 sticky as b1 follows a1
    """)


def test_an_empty_group_takes_any_type() -> None:
    """Nothing of its past binds the next members."""
    Conversation().check("""
        a join v=3
            log g 0 empty
        + 3000
            3000 a joined 1 range as a1 leads a1
        a leave
            log g 2 empty
            a left a1=ok
        b join v=3 type=connect protocols=eager
        + 3000
            6000 b joined 3 eager as b1 leads b1
        x describe
            x g CompletingRebalance connect b1
    """)


def test_most_votes_choose_the_protocol() -> None:
    """Each member votes for the first of its protocols that everybody supports."""
    Conversation().check("""
        a join v=3 protocols=odd,range,sticky
            log g 0 empty
        b join v=3 protocols=sticky,range
        c join v=3 protocols=sticky,range
        + 9000
            6000 a joined 1 sticky as a1 leads a1 b1 c1
            6000 b joined 1 sticky as b1 follows a1
            6000 c joined 1 sticky as c1 follows a1
    """)


def test_the_eldest_break_a_tie() -> None:
    """Everybody computes the same answer, in whatever order a dictionary keeps its words."""
    Conversation().check("""
        a join v=3 protocols=sticky,range
            log g 0 empty
        b join v=3 protocols=range,sticky
        + 6000
            6000 a joined 1 sticky as a1 leads a1 b1
            6000 b joined 1 sticky as b1 follows a1
    """)


def test_a_follower_that_joins_again_unchanged_gets_the_generation_at_hand() -> None:
    """It may have missed the answer; there is no reason to bother the others."""
    Conversation().check("""
        a join v=3
            log g 0 empty
        b join v=3
        + 6000
            6000 a joined 1 range as a1 leads a1 b1
            6000 b joined 1 range as b1 follows a1
        b join
            b joined 1 range as b1 follows a1
        a join
            a joined 1 range as a1 leads a1 b1
        a sync a1=0 b1=1
            log g 1 range leads a1: a1=0 b1=1
            a assigned 0
        b join
            b joined 1 range as b1 follows a1
        b sync
            b assigned 1
    """)


def test_a_member_that_changes_its_mind_starts_a_rebalance() -> None:
    """Other topics or protocols need another assignment, before and after the last one."""
    Conversation().check("""
        a join v=3
            log g 0 empty
        b join v=3
        + 6000
            6000 a joined 1 range as a1 leads a1 b1
            6000 b joined 1 range as b1 follows a1
        b sync
        b join topics=t,u
            b REBALANCE_IN_PROGRESS
        a sync a1=0 b1=1
            a REBALANCE_IN_PROGRESS
        a join
            a joined 2 range as a1 leads a1 b1
            b joined 2 range as b1 follows a1
        a sync a1=0 b1=1
            log g 2 range leads a1: a1=0 b1=1
            a assigned 0
        b sync
            b assigned 1
        b join topics=t
        a beat
            a REBALANCE_IN_PROGRESS
        a join
            a joined 3 range as a1 leads a1 b1
            b joined 3 range as b1 follows a1
    """)


def test_a_leader_that_joins_a_stable_group_wants_a_rebalance() -> None:
    """It has seen partitions come or go; what members say is the same."""
    Conversation().check("""
        a join v=3
            log g 0 empty
        + 3000
            3000 a joined 1 range as a1 leads a1
        a sync a1=0
            log g 1 range leads a1: a1=0
            a assigned 0
        a join
            a joined 2 range as a1 leads a1
    """)


def test_a_second_join_of_a_waiting_member_answers_the_first() -> None:
    """The connection of the first one may be gone; nothing may wait for ever."""
    Conversation().check("""
        a join v=3
            log g 0 empty
        b join v=3
        + 6000
            6000 a joined 1 range as a1 leads a1 b1
            6000 b joined 1 range as b1 follows a1
        a sync a1=0 b1=1
            log g 1 range leads a1: a1=0 b1=1
            a assigned 0
        a join
        a join
            a REBALANCE_IN_PROGRESS a1
        b join
            a joined 2 range as a1 leads a1 b1
            b joined 2 range as b1 follows a1
    """)


def test_ids_that_are_handed_out_expire() -> None:
    """A pending member holds a rebalance up, for its session timeout at most."""
    Conversation().check("""
        a join v=3
            log g 0 empty
        + 3000
            3000 a joined 1 range as a1 leads a1
        a sync a1=0
            log g 1 range leads a1: a1=0
            a assigned 0
        b join session=6000
            b MEMBER_ID_REQUIRED b1
        a join
        + 5999
        + 1
            9000 a joined 2 range as a1 leads a1
        b join
            b UNKNOWN_MEMBER_ID b1
    """)


def test_a_pending_id_is_no_instance() -> None:
    """The id was given to a dynamic member; with an instance it is somebody else's."""
    Conversation().check("""
        a join
            log g 0 empty
            a MEMBER_ID_REQUIRED a1
        a join instance=i
            a UNKNOWN_MEMBER_ID a1
    """)


def test_pending_ids_are_bounded() -> None:
    """A client that asks for ids in a loop does not fill the memory."""
    Conversation(pending_members_max=2).check("""
        a join
            log g 0 empty
            a MEMBER_ID_REQUIRED a1
        a join as=-
            a MEMBER_ID_REQUIRED a2
        a join as=-
            a GROUP_MAX_SIZE_REACHED
        + 10000
        a join as=-
            a MEMBER_ID_REQUIRED a3
    """)


def test_what_a_member_says_is_bounded() -> None:
    """More than the bound could never be written down."""
    Conversation(member_metadata_bytes_max=22).check("""
        a join topics=t
            log g 0 empty
            a MEMBER_ID_REQUIRED a1
        b join topics=t,u
            b INVALID_REQUEST
    """)


def test_a_full_group_takes_nobody_in() -> None:
    """Members that are in may join again, in every state."""
    Conversation(group_size_max=2).check("""
        a join v=3
            log g 0 empty
        b join v=3
        c join v=3
            c GROUP_MAX_SIZE_REACHED
        + 6000
            6000 a joined 1 range as a1 leads a1 b1
            6000 b joined 1 range as b1 follows a1
        c join
            c GROUP_MAX_SIZE_REACHED
        a sync a1=0 b1=1
            log g 1 range leads a1: a1=0 b1=1
            a assigned 0
        c join
            c GROUP_MAX_SIZE_REACHED
        a join
        b join
            a joined 2 range as a1 leads a1 b1
            b joined 2 range as b1 follows a1
    """)


def test_the_last_to_join_again_lose_their_seat() -> None:
    """A group may have more ids out than seats; the members that joined in time keep theirs."""
    Conversation(group_size_max=2).check("""
        a join v=3
            log g 0 empty
        b join
            b MEMBER_ID_REQUIRED b1
        c join
            c MEMBER_ID_REQUIRED c1
        b join
        c join
            c GROUP_MAX_SIZE_REACHED
        + 6000
            6000 a joined 1 range as a1 leads a1 b1
            6000 b joined 1 range as b1 follows a1
        c join as=c1
            c GROUP_MAX_SIZE_REACHED
    """)


def test_a_static_leader_that_comes_back_skips_the_assignment() -> None:
    """KIP-814: it leads, it sees the members, and it must not assign anything."""
    Conversation().check("""
        a join instance=i
            log g 0 empty
        b join instance=j
        + 6000
            6000 a joined 1 range as i1 leads i1 j1
            6000 b joined 1 range as j1 follows i1
        a sync i1=0 j1=1
            log g 1 range leads i1: i1@i=0 j1@j=1
            a assigned 0
        b sync
            b assigned 1
        A join instance=i
            log g 1 range leads i2: j1@j=1 i2@i=0
            A joined 1 range as i2 leads j1 i2 and skips
        A sync
            A assigned 0
        B join instance=j
            log g 1 range leads i2: i2@i=0 j2@j=1
            B joined 1 range as j2 follows i2
        B sync
            B assigned 1
        a beat
            a FENCED_INSTANCE_ID
        b sync
            b FENCED_INSTANCE_ID
        a join
            a FENCED_INSTANCE_ID i1
        a commit t/0=1
            a t/0=FENCED_INSTANCE_ID
        a leave i1@i
            a left i1=FENCED_INSTANCE_ID
    """)


@pytest.mark.parametrize("version", [5, 8])
def test_before_version_9_a_static_leader_that_comes_back_is_told_it_follows(version: int) -> None:
    """It would compute an assignment if it knew that it leads."""
    Conversation().check(f"""
        a join instance=i
            log g 0 empty
        + 3000
            3000 a joined 1 range as i1 leads i1
        a sync i1=0
            log g 1 range leads i1: i1@i=0
            a assigned 0
        A join instance=i v={version}
            log g 1 range leads i2: i2@i=0
            A joined 1 range as i2 follows i1
    """)


def test_a_static_member_that_changes_the_protocol_starts_a_rebalance() -> None:
    """The protocol in force would not be the one that the group chooses now."""
    Conversation().check("""
        a join instance=i protocols=range,sticky
            log g 0 empty
        b join instance=j protocols=range,sticky
        + 6000
            6000 a joined 1 range as i1 leads i1 j1
            6000 b joined 1 range as j1 follows i1
        a sync i1=0 j1=1
            log g 1 range leads i1: i1@i=0 j1@j=1
            a assigned 0
        A join instance=i protocols=sticky
        b beat
            b REBALANCE_IN_PROGRESS
        b join
            b joined 2 sticky as j1 follows i2
            A joined 2 sticky as i2 leads j1 i2
    """)


def test_a_static_member_that_comes_back_while_others_sync_starts_a_rebalance() -> None:
    """The leader is at work with the old id; nothing it assigned would reach the new one."""
    Conversation().check("""
        a join instance=i
            log g 0 empty
        b join instance=j
        + 6000
            6000 a joined 1 range as i1 leads i1 j1
            6000 b joined 1 range as j1 follows i1
        b sync
        B join instance=j
            b FENCED_INSTANCE_ID
        a sync i1=0 j1=1
            a REBALANCE_IN_PROGRESS
        a join
            a joined 2 range as i1 leads i1 j2
            B joined 2 range as j2 follows i1
    """)


def test_a_static_member_that_comes_back_while_others_join_takes_the_old_place() -> None:
    """The join of the old id is fenced, the new one waits in its place."""
    Conversation().check("""
        a join instance=i
            log g 0 empty
        A join instance=i
            a FENCED_INSTANCE_ID i1
        + 3000
            3000 A joined 1 range as i2 leads i2
    """)


def test_a_static_member_whose_new_record_does_not_fit_starts_a_rebalance() -> None:
    """It says more than before, and the group could not be written down as it is."""
    Conversation(batch_bytes_max=280).check("""
        a join instance=i topics=t
            log g 0 empty
        + 3000
            3000 a joined 1 range as i1 leads i1
        a sync i1=0
            log g 1 range leads i1: i1@i=0
            a assigned 0
        A join instance=i topics=t,t,t,t,t,t,t,t,t,t,t,t
            A joined 2 range as i2 leads i2
    """)


def test_an_id_that_nobody_gave_away_is_unknown() -> None:
    """In a group that is there as in one that is not."""
    Conversation().check("""
        a join
            log g 0 empty
            a MEMBER_ID_REQUIRED a1
        b join as=stranger
            b UNKNOWN_MEMBER_ID stranger
    """)


def test_a_rejoin_in_another_protocol_is_refused() -> None:
    """The member stays what it was."""
    Conversation().check("""
        a join v=3
            log g 0 empty
        b join v=3
        + 6000
            6000 a joined 1 range as a1 leads a1 b1
            6000 b joined 1 range as b1 follows a1
        b join protocols=sticky
            b INCONSISTENT_GROUP_PROTOCOL b1
        b beat
            b ok
    """)


def test_the_reason_of_a_join_is_cut() -> None:
    """It goes into the log of the broker, and a peer chose its length."""
    conversation = Conversation()
    conversation.run("a join v=3")
    notes: list[str] = []
    step = conversation.shard.step

    def listen(*args: object, **kwargs: object) -> object:
        effects = step(*args, **kwargs)  # type: ignore[arg-type]  # handed through
        notes.extend(str(n.facts["reason"]) for n in effects.notes if "reason" in n.facts)
        return effects

    conversation.run("+ 3000\na sync a1=0")
    conversation.shard.step = listen  # type: ignore[method-assign, assignment]  # one ear
    conversation.run("a join reason")
    assert notes == ["x" * 255]
