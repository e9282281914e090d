"""Staying alive, leaving, and being given up."""

from .conversation import Conversation


def pair(**settings: int) -> Conversation:
    """Members a (leads) and b, stable in generation 1, six seconds after the start."""
    conversation = Conversation(**settings)
    conversation.run("a join v=3\nb join v=3\n+ 6000\na sync a1=0 b1=1\nb sync")
    return conversation


def test_heartbeats_that_do_not_fit_the_group() -> None:
    """The member learns what it has to do: join with its id, or as a new member."""
    pair().check("""
        a beat group=
            a INVALID_GROUP_ID
        a beat group=nope
            a UNKNOWN_MEMBER_ID
        x beat as=x1 gen=1
            x UNKNOWN_MEMBER_ID
        a beat gen=0
            a ILLEGAL_GENERATION
        a beat instance=i
            a UNKNOWN_MEMBER_ID
        a beat
            a ok
    """)


def test_a_member_that_is_not_heard_of_is_removed() -> None:
    """Its session timeout after the last sign of life, to the millisecond."""
    pair().check("""
        + 9999
        a beat
            a ok
        + 1
        a beat
            a REBALANCE_IN_PROGRESS
        b beat
            b UNKNOWN_MEMBER_ID
        a join
            a joined 2 range as a1 leads a1
    """)


def test_a_commit_is_a_sign_of_life() -> None:
    """A member that is busy committing is not asked for heartbeats too."""
    pair().check("""
        + 9000
        a beat
            a ok
        b commit t/1=5
            log g t/1=5
            b t/1=ok
        + 9999
        a beat
            a ok
        b beat
            b ok
    """)


def test_all_members_go_when_nobody_is_heard_of() -> None:
    """The group is empty then, in the log too."""
    pair().check("""
        + 10000
            16000 log g 2 empty
        x describe
            x g Empty consumer
    """)


def test_who_waits_in_a_join_is_alive() -> None:
    """But not the new member that does not know its id yet: it may have given up and come back."""
    pair(new_member_join_timeout_ms=20_000).check("""
        c join v=3
        a join timeout=60000
        + 9000
        b beat
            b REBALANCE_IN_PROGRESS
        + 9000
        b beat
            b REBALANCE_IN_PROGRESS
        + 2000
            26000 c UNKNOWN_MEMBER_ID
        b join
            a joined 2 range as a1 leads a1 b1
            b joined 2 range as b1 follows a1
    """)


def test_a_leave_starts_a_rebalance_for_the_others() -> None:
    """They do not have to wait for the session timeout."""
    pair().check("""
        b leave v=0
            b left
        b leave v=2
            b UNKNOWN_MEMBER_ID
        a beat
            a REBALANCE_IN_PROGRESS
        a join
            a joined 2 range as a1 leads a1
    """)


def test_leaves_that_fit_nobody() -> None:
    """Each member of a request has its own answer; before version 3 there is only one."""
    pair().check("""
        a leave group=
            a INVALID_GROUP_ID
        a leave group=nope a1
            a left a1=UNKNOWN_MEMBER_ID
        a leave group=nope v=2
            a UNKNOWN_MEMBER_ID
        x leave x1 @i a1@i
            x left x1=UNKNOWN_MEMBER_ID i=UNKNOWN_MEMBER_ID a1=UNKNOWN_MEMBER_ID
        x leave -
            x left None=UNKNOWN_MEMBER_ID
        a beat
            a ok
    """)


def test_an_administrator_removes_static_members_by_instance() -> None:
    """And dynamic ones by id, in one request and with one rebalance."""
    conversation = Conversation()
    conversation.run("a join instance=i\nb join instance=j\nc join v=3\n+ 9000\na sync i1=0")
    conversation.check("""
        x leave @i j1@j c1 @nope
            log g 2 empty
            x left i=ok j1=ok c1=ok nope=UNKNOWN_MEMBER_ID
        a beat
            a UNKNOWN_MEMBER_ID
    """)


def test_an_old_id_cannot_remove_the_instance() -> None:
    """Another member has taken it over."""
    conversation = Conversation()
    conversation.run("a join instance=i\n+ 3000\na sync i1=0\nA join instance=i")
    conversation.check("""
        a leave i1@i
            a left i1=FENCED_INSTANCE_ID
        A beat
            A ok
    """)


def test_an_id_that_was_handed_out_can_be_given_back() -> None:
    """A client that closes between the two joins."""
    pair().check("""
        c join
            c MEMBER_ID_REQUIRED c1
        a join
        b join
        c leave
            a joined 2 range as a1 leads a1 b1
            b joined 2 range as b1 follows a1
            c left c1=ok
    """)


def test_a_leave_answers_what_the_member_has_parked() -> None:
    """Another connection of the client may still wait for it."""
    pair().check("""
        b join topics=u
        x leave b1
            b UNKNOWN_MEMBER_ID
            x left b1=ok
        a join
            a joined 2 range as a1 leads a1
        c join v=3
        a join
            a joined 3 range as a1 leads a1 c1
            c joined 3 range as c1 follows a1
        c sync
        x leave c1
            c UNKNOWN_MEMBER_ID
            x left c1=ok
    """)


def test_a_member_that_leaves_and_the_leader_that_stays() -> None:
    """The lead goes to the eldest only when the leader goes."""
    conversation = Conversation()
    conversation.run("a join v=3\nb join v=3\nc join v=3\n+ 9000\na sync a1=0 b1=1 c1=2")
    conversation.check("""
        a leave
            a left a1=ok
        c join
        b join
            b joined 2 range as b1 leads b1 c1
            c joined 2 range as c1 follows b1
    """)
