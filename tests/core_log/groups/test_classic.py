"""The state machine of one group, on its own."""

import itertools

import pytest

from headwater.core_log.groups.classic import TRANSITIONS, ClassicGroup, ClassicGroupState
from headwater.core_log.groups.member import ClassicMember, GroupProtocol, Waiting
from headwater.core_log.kernel.errors import ApiError, ErrorCode

S = ClassicGroupState


def member(name: str, *protocols: str, instance: str | None = None) -> ClassicMember:
    return ClassicMember(
        member_id=name,
        group_instance_id=instance,
        client_id=name,
        client_host="/127.0.0.1",
        rebalance_timeout_ms=len(name) * 1000,
        session_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=tuple(GroupProtocol(p, p.encode()) for p in protocols or ("range",)),
    )


def group_of(*members: ClassicMember) -> ClassicGroup:
    group = ClassicGroup("g", now_ms=0)
    for one in members:
        group.add(one)
    return group


@pytest.mark.parametrize(("before", "after"), list(itertools.product(S, S)))
def test_transitions_are_those_of_the_table(before: S, after: S) -> None:
    """Everything else is our bug, and says so."""
    group = ClassicGroup("g", now_ms=0)
    group.state = before
    if after in TRANSITIONS[before]:
        group.transition_to(after, now_ms=5)
        assert (group.previous_state, group.state) == (before, after)
        assert group.state_timestamp_ms == 5
    else:
        with pytest.raises(AssertionError, match=f"cannot become {after.value}"):
            group.transition_to(after, now_ms=5)


def test_states_in_which_a_rebalance_may_start() -> None:
    """All but the one in which it runs, and the end."""
    for state in S:
        group = ClassicGroup("g", now_ms=0)
        group.state = state
        assert group.can_rebalance() == (state in {S.EMPTY, S.COMPLETING_REBALANCE, S.STABLE})


def test_the_lead_goes_to_the_eldest() -> None:
    """When the leader leaves; nobody leads a group of nobody."""
    group = group_of(member("a"), member("b"), member("c"))
    leaders = []
    for name in ("b", "a", "c", "c"):
        leaders.append(group.leader_id)
        group.remove(name)
    assert [*leaders, group.leader_id] == ["a", "a", "c", None, None]


def test_a_joined_member_is_elected() -> None:
    """The leader if it joined, the eldest that joined otherwise, nobody when none did."""
    group = group_of(member("a"), member("b"), member("c"))
    assert not group.elect_joined_leader()
    group.awaiting_join["c"] = Waiting(0, 9)
    group.awaiting_join["b"] = Waiting(0, 9)
    assert group.elect_joined_leader()
    assert group.leader_id == "b"
    group.awaiting_join["a"] = Waiting(0, 9)
    assert group.elect_joined_leader()
    assert group.leader_id == "b"


def test_the_most_patient_member_sets_the_rebalance_timeout() -> None:
    """None at all means none."""
    assert group_of(member("aa"), member("aaaa"), member("a")).rebalance_timeout_ms() == 4000
    assert group_of().rebalance_timeout_ms() == 0


def test_a_static_member_is_replaced_in_place() -> None:
    """Its assignment, its lead and its debts stay."""
    group = group_of(member("a", instance="i"), member("b"))
    group.members["a"].assignment = b"0"
    group.pending_syncs = {"a": None, "b": None}
    group.replace_static("a", "a2")
    assert list(group.members) == ["b", "a2"]
    assert group.members["a2"].assignment == b"0"
    assert group.leader_id == "a2"
    assert set(group.pending_syncs) == {"b", "a2"}
    assert group.static_members == {"i": "a2"}


@pytest.mark.parametrize(
    ("member_id", "instance_id", "code"),
    [
        ("a", None, None),
        ("a", "i", None),
        ("b", None, None),
        ("b", "i", ErrorCode.FENCED_INSTANCE_ID),
        ("x", "i", ErrorCode.FENCED_INSTANCE_ID),
        ("", "i", ErrorCode.FENCED_INSTANCE_ID),
        ("b", "j", ErrorCode.UNKNOWN_MEMBER_ID),
        ("x", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", None, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_who_is_a_member(member_id: str, instance_id: str | None, code: ErrorCode | None) -> None:
    """The instance is asked first: a fenced client must not join again."""
    group = group_of(member("a", instance="i"), member("b"))
    if code is None:
        group.validate_member(member_id, instance_id)
    else:
        with pytest.raises(ApiError) as raised:
            group.validate_member(member_id, instance_id)
        assert raised.value.code is code


def test_what_members_say_can_change() -> None:
    """The group counts support anew."""
    group = group_of(member("a", "range"), member("b", "range", "sticky"))
    group.state = S.STABLE
    sticky = (GroupProtocol("sticky", b""),)
    assert not group.supports("consumer", sticky)
    group.update(
        group.members["a"],
        (*sticky, GroupProtocol("range", b"")),
        rebalance_timeout_ms=7,
        session_timeout_ms=8,
    )
    assert group.supports("consumer", sticky)
    assert group.select_protocol() == "sticky"
    group.remove("b")
    group.remove("a")
    assert group._support == {}


def test_consumers_that_nobody_can_read_may_consume_anything() -> None:
    """Other kinds of members consume nothing that anybody knows of."""
    group = group_of(member("a"))
    group.transition_to(S.PREPARING_REBALANCE, now_ms=0)
    group.start_next_generation(now_ms=0)
    assert group.subscribed_topics is None  # b"range" is no subscription
    assert group.is_subscribed_to("t")
    group.protocol_type = "connect"
    assert not group.is_subscribed_to("t")


def test_a_group_shows_itself() -> None:
    """In log lines and assertions."""
    assert (
        repr(group_of(member("a"))) == "<ClassicGroup 'g' Empty generation 0, 1 members, 0 joining>"
    )
