"""The assignment, from the leader to everybody."""

from .conversation import Conversation


def joined(**settings: int) -> Conversation:
    """Members a (leads) and b in generation 1, before the assignment."""
    conversation = Conversation(**settings)
    conversation.run("a join v=3\nb join v=3\n+ 6000")
    return conversation


def test_followers_wait_for_the_leader() -> None:
    """And get the assignment at once when they ask later, as often as they like."""
    joined().check("""
        b sync
        a sync a1=0,1 b1=2
            log g 1 range leads a1: a1=0,1 b1=2
            b assigned 2
            a assigned 0,1
        b sync
            b assigned 2
        a sync a1=9
            a assigned 0,1
    """)


def test_members_that_the_leader_leaves_out_get_nothing() -> None:
    """And names that are no members are passed over."""
    joined().check("""
        a sync a1=0 stranger=1
            log g 1 range leads a1: a1=0 b1=
            a assigned 0
        b sync
            b assigned nothing
    """)


def test_syncs_that_do_not_fit_the_group() -> None:
    """The checks stand in Kafka's order: instance, member, generation, protocol, state."""
    joined().check("""
        a sync group=
            a INVALID_GROUP_ID
        a sync group=nope
            a UNKNOWN_MEMBER_ID
        x sync as=x1
            x UNKNOWN_MEMBER_ID
        a sync instance=i
            a UNKNOWN_MEMBER_ID
        a sync gen=0
            a ILLEGAL_GENERATION
        a sync gen=2
            a ILLEGAL_GENERATION
        a sync type=connect
            a INCONSISTENT_GROUP_PROTOCOL
        a sync name=sticky
            a INCONSISTENT_GROUP_PROTOCOL
        a sync bare
            a INCONSISTENT_GROUP_PROTOCOL
        c join v=3
        a sync
            a REBALANCE_IN_PROGRESS
    """)


def test_before_version_5_nobody_names_the_protocol() -> None:
    """KIP-559 made it mandatory."""
    joined().check("""
        a sync v=4 bare a1=0
            log g 1 range leads a1: a1=0 b1=
            a assigned 0
        b sync v=0 bare
            b assigned nothing
    """)


def test_a_rebalance_sends_those_who_wait_back() -> None:
    """Their generation will never have an assignment."""
    joined().check("""
        b sync
        c join v=3
            b REBALANCE_IN_PROGRESS
        a sync a1=0
            a REBALANCE_IN_PROGRESS
    """)


def test_a_second_sync_of_a_waiting_member_answers_the_first() -> None:
    """Nothing may wait for ever."""
    joined().check("""
        b sync
        b sync
            b REBALANCE_IN_PROGRESS
        a sync a1=0 b1=1
            log g 1 range leads a1: a1=0 b1=1
            b assigned 1
            a assigned 0
    """)


def test_members_that_do_not_sync_are_removed() -> None:
    """Heartbeats do not replace a sync; the rebalance timeout bounds the wait."""
    joined().check("""
        a sync a1=0 b1=1
            log g 1 range leads a1: a1=0 b1=1
            a assigned 0
        + 9000
        a beat
            a ok
        b beat
            b ok
        + 9000
        a beat
            a ok
        b beat
            b ok
        + 9000
        a beat
            a ok
        b beat
            b ok
        + 2999
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


def test_a_leader_that_does_not_sync_is_removed() -> None:
    """Otherwise the group would wait for it as long as it beats."""
    joined().check("""
        b sync
        + 9000
        a beat
            a ok
        + 9000
        a beat
            a ok
        + 9000
        a beat
            a ok
        + 3000
            36000 b REBALANCE_IN_PROGRESS
        b join
            b joined 2 range as b1 leads b1
    """)


def test_who_waits_for_the_assignment_is_alive() -> None:
    """No heartbeat is expected meanwhile; the clock starts anew with the answer."""
    joined().check("""
        b sync
        + 9999
        a beat
            a ok
        + 9000
        a sync a1=0 b1=1
            log g 1 range leads a1: a1=0 b1=1
            b assigned 1
            a assigned 0
        + 9999
        b beat
            b ok
        + 1
        b beat
            b REBALANCE_IN_PROGRESS
    """)


def test_an_assignment_that_does_not_fit_into_a_record_is_refused() -> None:
    """The group rebalances; it would have no way to remember the assignment."""
    joined(batch_bytes_max=700).check(f"""
        b sync
        a sync a1={"0" * 400} b1=1
            a UNKNOWN_SERVER_ERROR
            b UNKNOWN_SERVER_ERROR
        a join
        b join
            a joined 2 range as a1 leads a1 b1
            b joined 2 range as b1 follows a1
        a sync a1=0 b1=1
            log g 2 range leads a1: a1=0 b1=1
            a assigned 0
    """)
