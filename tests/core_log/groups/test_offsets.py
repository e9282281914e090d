"""Committed offsets against a dictionary, and which of them may go."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.core_log.groups.classic import ClassicGroup, ClassicGroupState
from headwater.core_log.groups.offsets import CommittedOffset, Offsets, expired

NAMES = st.sampled_from(["x", "y"])
RETENTION_MS = 100


def at(commit_ms: int, *, expire_ms: int | None = None) -> CommittedOffset:
    return CommittedOffset(offset=1, commit_timestamp_ms=commit_ms, expire_timestamp_ms=expire_ms)


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(st.sampled_from(["put", "remove"]), NAMES, NAMES, st.integers(0, 1)), max_size=20
    )
)
def test_offsets_are_a_dictionary(script: list[tuple[str, str, str, int]]) -> None:
    """Of group, topic and partition; no trace is left of groups without offsets."""
    offsets, model = Offsets(), dict[tuple[str, str, int], CommittedOffset]()
    for number, (verb, group_id, topic, partition) in enumerate(script):
        if verb == "put":
            offsets.put(group_id, topic, partition, at(number))
            model[group_id, topic, partition] = at(number)
        else:
            offsets.remove(group_id, topic, partition)
            model.pop((group_id, topic, partition), None)
    assert model == {
        (group_id, topic, partition): committed
        for group_id in offsets.group_ids()
        for topic, partitions in offsets.topics(group_id).items()
        for partition, committed in partitions.items()
    }
    assert set(offsets.group_ids()) == {group_id for group_id, _, _ in model}
    for key in model:
        assert offsets.get(*key) == model[key]
    assert offsets.get("x", "y", 7) is None
    assert all(topics for topics in map(offsets.topics, offsets.group_ids()))
    assert all(p for g in offsets.group_ids() for p in offsets.topics(g).values())


@pytest.mark.parametrize("age_ms", [RETENTION_MS - 1, RETENTION_MS, RETENTION_MS + 1])
def test_an_offset_of_a_simple_group_goes_at_its_age(age_ms: int) -> None:
    """To the millisecond."""
    group = ClassicGroup("g", now_ms=0)
    gone = expired(group, {"t": {0: at(0)}}, now_ms=age_ms, retention_ms=RETENTION_MS)
    assert gone == ([("t", 0)] if age_ms >= RETENTION_MS else [])


@pytest.mark.parametrize("since_ms", [None, 50])
def test_an_empty_group_that_does_not_know_since_when(since_ms: int | None) -> None:
    """Old brokers did not write it down; then each commit counts."""
    group = ClassicGroup("g", now_ms=since_ms)
    group.protocol_type = "consumer"
    group.learn_subscribed_topics()
    gone = expired(
        group, {"t": {0: at(0), 1: at(50)}}, now_ms=RETENTION_MS + 20, retention_ms=RETENTION_MS
    )
    assert gone == ([("t", 0)] if since_ms is None else [])


@pytest.mark.parametrize("state", list(ClassicGroupState))
def test_states_in_which_offsets_age(state: ClassicGroupState) -> None:
    """Empty and stable ones, and groups that never had a member."""
    group = ClassicGroup("g", now_ms=0)
    group.protocol_type, group.subscribed_topics = "consumer", frozenset()
    group.state = state
    gone = expired(group, {"t": {0: at(0)}}, now_ms=1000, retention_ms=RETENTION_MS)
    assert bool(gone) == (state in (ClassicGroupState.EMPTY, ClassicGroupState.STABLE))


def test_an_expiry_of_its_own_beats_retention() -> None:
    """Both ways."""
    group = ClassicGroup("g", now_ms=0)
    offsets = {"t": {0: at(0, expire_ms=50), 1: at(0, expire_ms=500)}}
    assert expired(group, offsets, now_ms=49, retention_ms=RETENTION_MS) == []
    assert expired(group, offsets, now_ms=50, retention_ms=RETENTION_MS) == [("t", 0)]
    assert expired(group, offsets, now_ms=499, retention_ms=RETENTION_MS) == [("t", 0)]
    assert expired(group, offsets, now_ms=500, retention_ms=RETENTION_MS) == [("t", 0), ("t", 1)]
