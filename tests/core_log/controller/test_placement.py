"""Replicas spread over racks and brokers."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.controller.placement import Candidate, place
from headwater.core_log.kernel.errors import ApiError, ErrorCode


def brokers(layout: dict[int, str | None], fenced: tuple[int, ...] = ()) -> list[Candidate]:
    return [
        Candidate(broker_id=number, rack=rack, fenced=number in fenced)
        for number, rack in layout.items()
    ]


layouts = st.dictionaries(
    st.integers(0, 20), st.sampled_from([None, "a", "b", "c"]), min_size=1, max_size=9
)


@given(layout=layouts, partition_count=st.integers(1, 40), seed=st.integers(0, 99), data=st.data())
def test_no_broker_holds_two_replicas_of_a_partition(
    layout: dict[int, str | None], partition_count: int, seed: int, data: st.DataObject
) -> None:
    """Every partition gets its number of replicas, all registered, all different, led by one up."""
    fenced = data.draw(st.sets(st.sampled_from(sorted(layout)), max_size=len(layout) - 1))
    factor = data.draw(st.sampled_from(sorted({1, len(layout), max(1, len(layout) - 1)})))

    placed = place(
        brokers(layout, tuple(fenced)),
        partition_count=partition_count,
        replication_factor=factor,
        rng=random.Random(seed),
    )

    assert len(placed) == partition_count
    for replicas in placed:
        assert len(set(replicas)) == len(replicas) == factor
        assert set(replicas) <= set(layout)
        assert replicas[0] not in fenced


@given(per_rack=st.integers(1, 3), rounds=st.integers(1, 4), seed=st.integers(0, 99))
def test_even_racks_share_leaders_and_replicas_evenly(
    per_rack: int, rounds: int, seed: int
) -> None:
    """With three racks alike and factor three, each partition is in each rack."""
    layout: dict[int, str | None] = {
        rack * 10 + n: name for rack, name in enumerate("abc") for n in range(per_rack)
    }
    partition_count = 3 * per_rack * rounds

    placed = place(
        brokers(layout),
        partition_count=partition_count,
        replication_factor=3,
        rng=random.Random(seed),
    )

    for replicas in placed:
        assert {layout[node] for node in replicas} == {"a", "b", "c"}
    leaders = Counter(layout[replicas[0]] for replicas in placed)
    assert set(leaders.values()) == {partition_count // 3}
    load = Counter(node for replicas in placed for node in replicas)
    assert max(load.values()) - min(load.values()) <= 1


def test_fenced_brokers_are_taken_last() -> None:
    """While enough brokers are up, the fenced one gets nothing."""
    placed = place(
        brokers({1: None, 2: None, 3: None}, fenced=(3,)),
        partition_count=10,
        replication_factor=2,
        rng=random.Random(0),
    )

    assert {node for replicas in placed for node in replicas} == {1, 2}


def test_one_partition_topics_spread_as_well() -> None:
    """The first partition does not always land on the same broker."""
    rng = random.Random(0)
    leaders = {
        place(
            brokers({1: None, 2: None, 3: None}),
            partition_count=1,
            replication_factor=1,
            rng=rng,
        )[0][0]
        for _ in range(40)
    }

    assert leaders == {1, 2, 3}


@pytest.mark.parametrize(
    ("candidates", "factor", "reason"),
    [
        (brokers({1: None}), 2, "only 1 broker(s) are registered"),
        (brokers({1: None}, fenced=(1,)), 1, "All brokers are currently fenced"),
        ([], 1, "All brokers are currently fenced"),
    ],
)
def test_too_few_brokers_are_refused(candidates: list[Candidate], factor: int, reason: str) -> None:
    """There is no placement to make up."""
    with pytest.raises(ApiError, match="Unable to replicate the partition") as refused:
        place(candidates, partition_count=1, replication_factor=factor, rng=random.Random(0))

    assert refused.value.code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert reason in str(refused.value.message)
