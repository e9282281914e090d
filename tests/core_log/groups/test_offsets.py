"""Committed offsets against a dictionary, and which of them may go."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.core_log.groups.classic import ClassicGroup, ClassicGroupState
from headwater.core_log.groups.committed import CommittedOffset, Place
from headwater.core_log.groups.offsets import Offsets, expired

NAMES = st.sampled_from(["x", "y"])
RETENTION_MS = 100
T0, T1 = Place("g", "t", 0), Place("g", "t", 1)


def at(commit_ms: int, *, expire_ms: int | None = None) -> CommittedOffset:
    return CommittedOffset(offset=1, commit_timestamp_ms=commit_ms, expire_timestamp_ms=expire_ms)


def of(partitions: dict[int, CommittedOffset]) -> Offsets:
    """Group g's offsets in topic t."""
    offsets = Offsets()
    for partition, committed in partitions.items():
        offsets.put("g", "t", partition, committed)
    return offsets


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
    gone = expired(group, of({0: at(0)}), now_ms=age_ms, retention_ms=RETENTION_MS)
    assert gone == ([T0] if age_ms >= RETENTION_MS else [])


@pytest.mark.parametrize("since_ms", [None, 50])
def test_an_empty_group_that_does_not_know_since_when(since_ms: int | None) -> None:
    """Old brokers did not write it down; then each commit counts."""
    group = ClassicGroup("g", now_ms=since_ms)
    group.protocol_type = "consumer"
    group.learn_subscribed_topics()
    gone = expired(
        group, of({0: at(0), 1: at(50)}), now_ms=RETENTION_MS + 20, retention_ms=RETENTION_MS
    )
    assert gone == ([T0] if since_ms is None else [])


@pytest.mark.parametrize("state", list(ClassicGroupState))
def test_states_in_which_offsets_age(state: ClassicGroupState) -> None:
    """Empty and stable ones, and groups that never had a member."""
    group = ClassicGroup("g", now_ms=0)
    group.protocol_type, group.subscribed_topics = "consumer", frozenset()
    group.state = state
    gone = expired(group, of({0: at(0)}), now_ms=1000, retention_ms=RETENTION_MS)
    assert bool(gone) == (state in (ClassicGroupState.EMPTY, ClassicGroupState.STABLE))


def test_an_expiry_of_its_own_beats_retention() -> None:
    """Both ways."""
    group = ClassicGroup("g", now_ms=0)
    offsets = of({0: at(0, expire_ms=50), 1: at(0, expire_ms=500)})
    assert expired(group, offsets, now_ms=49, retention_ms=RETENTION_MS) == []
    assert expired(group, offsets, now_ms=50, retention_ms=RETENTION_MS) == [T0]
    assert expired(group, offsets, now_ms=499, retention_ms=RETENTION_MS) == [T0]
    assert expired(group, offsets, now_ms=500, retention_ms=RETENTION_MS) == [T0, T1]


@pytest.mark.parametrize("expire_ms", [None, 50])
def test_where_a_transaction_is_open_nothing_goes(expire_ms: int | None) -> None:
    """Neither by age nor by what an old client has said; its neighbours do."""
    group, offsets = ClassicGroup("g", now_ms=0), of({0: at(0, expire_ms=expire_ms), 1: at(0)})
    offsets.put_pending(7, T0, at(0))
    assert expired(group, offsets, now_ms=500, retention_ms=RETENTION_MS) == [T1]
    offsets.end(7, is_commit=False)
    assert expired(group, offsets, now_ms=500, retention_ms=RETENTION_MS) == [T0, T1]


@pytest.mark.parametrize("names", [None, {"t"}, {"u"}, {"v"}])
def test_places_are_named_once(names: set[str] | None) -> None:
    """Committed, pending or both; all, or those of some topics."""
    offsets = of({0: at(0), 1: at(0)})
    offsets.put_pending(7, T0, at(1))
    offsets.put_pending(8, T0, at(2))
    offsets.put_pending(7, Place("g", "u", 0), at(1))
    offsets.put_pending(7, Place("h", "t", 0), at(1))
    all_places = [T0, T1, Place("g", "u", 0)]
    expected = [place for place in all_places if names is None or place.topic in names]
    assert offsets.places("g", names) == expected
    assert list(offsets.group_ids()) == ["g", "h"]
    assert offsets.places("h") == [Place("h", "t", 0)]
    assert offsets.topics("h") == {}
