"""From one generation to the next, and how long the group waits on the way."""

from .conversation import Conversation

PAIR = """
a join v=3
b join v=3
+ 6000
a sync a1=0 b1=1
b sync
"""
"""Two members, stable in generation 1, six seconds after the start."""


def pair(**settings: int) -> Conversation:
    conversation = Conversation(**settings)
    conversation.run(PAIR)
    return conversation


def test_a_new_group_waits_for_more_members() -> None:
    """KIP-134: each arrival buys one more delay, up to the longest rebalance timeout."""
    Conversation(initial_rebalance_delay_ms=3000).check("""
        a join v=3 timeout=10000
            log g 0 empty
        + 2000
        b join v=3
        + 3000
        c join v=3
        + 3500
        d join v=3
        + 10000
            10000 a joined 1 range as a1 leads a1 b1 c1 d1
            10000 b joined 1 range as b1 follows a1
            10000 c joined 1 range as c1 follows a1
            10000 d joined 1 range as d1 follows a1
    """)


def test_without_a_delay_a_new_group_waits_for_nobody() -> None:
    """The next tick ends the join phase."""
    Conversation(initial_rebalance_delay_ms=0).check("""
        a join v=3
            log g 0 empty
        + 0
            0 a joined 1 range as a1 leads a1
    """)


def test_a_rebalance_ends_when_the_last_member_has_joined() -> None:
    """Old members learn of it by their heartbeats; the leader stays the leader."""
    pair().check("""
        c join v=3
        a beat
            a REBALANCE_IN_PROGRESS
        b sync
            b REBALANCE_IN_PROGRESS
        b join
        a join
            a joined 2 range as a1 leads a1 b1 c1
            b joined 2 range as b1 follows a1
            c joined 2 range as c1 follows a1
        a sync a1=0 b1=1 c1=2
            log g 2 range leads a1: a1=0 b1=1 c1=2
            a assigned 0
        c sync
            c assigned 2
        a beat
            a ok
        b beat gen=1
            b ILLEGAL_GENERATION
    """)


def test_a_rebalance_leaves_dynamic_members_behind_that_do_not_join() -> None:
    """They have the longest rebalance timeout of all members; heartbeats alone are not enough."""
    pair().check("""
        c join v=3
        c2 join v=3
        + 8000
        a beat
            a REBALANCE_IN_PROGRESS
        b beat
            b REBALANCE_IN_PROGRESS
        + 8000
        a join timeout=60000
        b beat
            b REBALANCE_IN_PROGRESS
        + 8000
        b beat
            b REBALANCE_IN_PROGRESS
        + 5999
        + 1
            36000 a joined 2 range as a1 leads a1 c1 c21
            36000 c joined 2 range as c1 follows a1
            36000 c2 joined 2 range as c21 follows a1
        b beat
            b UNKNOWN_MEMBER_ID
    """)


def test_a_leader_that_does_not_join_is_replaced() -> None:
    """The eldest member that has joined leads the next generation."""
    pair().check("""
        c join v=3
        b join
        + 9000
        a beat
            a REBALANCE_IN_PROGRESS
        + 9000
        a beat
            a REBALANCE_IN_PROGRESS
        + 9000
        a beat
            a REBALANCE_IN_PROGRESS
        + 3000
            36000 b joined 2 range as b1 leads b1 c1
            36000 c joined 2 range as c1 follows b1
    """)


def test_static_members_that_do_not_join_stay() -> None:
    """KIP-345: they may be restarting; only the end of their session removes them."""
    Conversation().check("""
        a join instance=i timeout=8000 session=20000
            log g 0 empty
        b join instance=j timeout=8000 session=20000
        + 8000
            6000 a joined 1 range as i1 leads i1 j1
            6000 b joined 1 range as j1 follows i1
        b sync
        a sync i1=0 j1=1
            log g 1 range leads i1: i1@i=0 j1@j=1
            b assigned 1
            a assigned 0
        a join
        + 8000
            16000 a joined 2 range as i1 leads i1 j1
        a sync i1=0 j1=1
            log g 2 range leads i1: i1@i=0 j1@j=1
            a assigned 0
        + 8000
    """)


def test_a_group_in_which_no_static_member_joins_waits_on() -> None:
    """Nobody could lead; the first member that joins ends the wait."""
    Conversation().check("""
        a join instance=i timeout=6000 session=30000
            log g 0 empty
        b join instance=j timeout=6000 session=30000
        + 6000
            6000 a joined 1 range as i1 leads i1 j1
            6000 b joined 1 range as j1 follows i1
        a sync i1=0 j1=1
            log g 1 range leads i1: i1@i=0 j1@j=1
            a assigned 0
        b sync
            b assigned 1
        c join timeout=6000
            c MEMBER_ID_REQUIRED c1
        c join
        c leave
            c UNKNOWN_MEMBER_ID
            c left c1=ok
        + 15000
        b join
        + 3000
            24000 b joined 2 range as j1 leads i1 j1
    """)


def test_a_group_that_all_leave_is_empty() -> None:
    """The generation counts on, and the log says that the members are gone."""
    pair().check("""
        a leave
            a left a1=ok
        b leave
            log g 2 empty
            b left b1=ok
        x describe
            x g Empty consumer
        b beat
            b UNKNOWN_MEMBER_ID
        c join v=3
        + 3000
            9000 c joined 3 range as c1 leads c1
    """)


def test_a_new_group_that_all_leave_is_empty_after_its_delay() -> None:
    """The initial wait is never cut short, for nobody either."""
    Conversation().check("""
        a join instance=i
            log g 0 empty
        x leave @i
            a UNKNOWN_MEMBER_ID
            x left i=ok
        + 3000
            3000 log g 1 empty
    """)


def test_a_rebalance_waits_for_ids_that_are_handed_out() -> None:
    """The member is about to join; a generation without it would not live long."""
    pair().check("""
        c join
            c MEMBER_ID_REQUIRED c1
        a join
        b join
        + 1000
        c join
            a joined 2 range as a1 leads a1 b1 c1
            b joined 2 range as b1 follows a1
            c joined 2 range as c1 follows a1
    """)


def test_timeouts_of_zero_end() -> None:
    """A deadline that came true the moment it was set would keep a tick busy for ever."""
    Conversation().check("""
        a join instance=i timeout=0
            log g 0 empty
        + 3000
            3000 a joined 1 range as i1 leads i1
        + 1
            3001 log g 2 empty
    """)


def test_without_a_rebalance_timeout_the_session_timeout_counts() -> None:
    """Version 0 has no rebalance timeout."""
    Conversation().check("""
        a join v=0 session=6000
            log g 0 empty
        + 3000
            3000 a joined 1 range as a1 leads a1
        + 6000
            9000 log g 2 empty
    """)


def test_a_cooperative_rebalance_takes_two_generations() -> None:
    """KIP-429: members keep what they own, give up some, and rebalance again at once."""
    conversation = Conversation()
    conversation.check("""
        a join v=3 protocols=cooperative-sticky
            log g 0 empty
        + 3000
            3000 a joined 1 cooperative-sticky as a1 leads a1
        a sync a1=0,1,2,3
            log g 1 cooperative-sticky leads a1: a1=0,1,2,3
            a assigned 0,1,2,3
        b join v=3 protocols=cooperative-sticky
        a commit t/0=7
            log g t/0=7
            a t/0=ok
        a beat
            a REBALANCE_IN_PROGRESS
        a join
            a joined 2 cooperative-sticky as a1 leads a1 b1
            b joined 2 cooperative-sticky as b1 follows a1
        b sync
        a sync a1=0,1
            log g 2 cooperative-sticky leads a1: a1=0,1 b1=
            b assigned nothing
            a assigned 0,1
        a join
        b beat
            b REBALANCE_IN_PROGRESS
        b join
            a joined 3 cooperative-sticky as a1 leads a1 b1
            b joined 3 cooperative-sticky as b1 follows a1
        a sync a1=0,1 b1=2,3
            log g 3 cooperative-sticky leads a1: a1=0,1 b1=2,3
            a assigned 0,1
        b sync
            b assigned 2,3
    """)


def test_a_shard_that_goes_answers_all_who_wait() -> None:
    """Their requests are parked inside; elsewhere a coordinator will answer the next ones."""
    pair().check("""
        c join v=3
        d join group=h v=3
            log h 0 empty
        unload NOT_COORDINATOR
            c NOT_COORDINATOR c1
            d NOT_COORDINATOR d1
    """)
    syncing = Conversation()
    syncing.run("a join v=3\nb join v=3\n+ 6000")
    syncing.check("""
        b sync
        unload NOT_COORDINATOR
            b NOT_COORDINATOR
    """)
