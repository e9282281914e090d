"""A partition's high watermark, epochs and ISR."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.kernel.errors import ApiError, ErrorCode
from headwater.core_log.replica.partition import ACKS_ALL, Assignment, Partition, Role


def assignment(
    *,
    replicas: tuple[int, ...] = (1,),
    isr: tuple[int, ...] | None = None,
    leader: int = 1,
    leader_epoch: int = 5,
    partition_epoch: int = 9,
) -> Assignment:
    return Assignment(
        replicas=replicas,
        isr=replicas if isr is None else isr,
        leader=leader,
        leader_epoch=leader_epoch,
        partition_epoch=partition_epoch,
    )


THREE = assignment(replicas=(1, 2, 3))


def test_alone_the_high_watermark_is_what_is_durable() -> None:
    """What is written but not durable is not committed."""
    partition = Partition(assignment(), node_id=1)

    assert not partition.advance_local(log_end_offset=10, durable_offset=0)
    assert partition.advance_local(log_end_offset=10, durable_offset=7)
    assert partition.high_watermark == 7
    assert not partition.advance_local(log_end_offset=12, durable_offset=7)


def test_the_slowest_in_sync_replica_sets_the_high_watermark() -> None:
    """Each member of the ISR must hold a record before it is committed."""
    partition = Partition(THREE, node_id=1)
    partition.advance_local(log_end_offset=10, durable_offset=10)

    assert not partition.advance_follower(2, durable_offset=8, now_ms=0)
    assert partition.advance_follower(3, durable_offset=4, now_ms=0)
    assert partition.high_watermark == 4
    assert partition.advance_follower(3, durable_offset=10, now_ms=0)
    assert partition.high_watermark == 8


def test_a_replica_out_of_the_isr_holds_nobody_back() -> None:
    """The controller's word takes effect at once."""
    partition = Partition(THREE, node_id=1)
    partition.advance_local(log_end_offset=10, durable_offset=10)
    partition.advance_follower(2, durable_offset=9, now_ms=0)

    assert partition.assign(assignment(replicas=(1, 2, 3), isr=(1, 2), partition_epoch=10))

    assert partition.high_watermark == 9


def test_below_the_minimum_of_replicas_nothing_is_committed() -> None:
    """KIP-966: the high watermark waits while the ISR is smaller than min.insync.replicas."""
    partition = Partition(
        assignment(replicas=(1, 2, 3), isr=(1,)), node_id=1, min_insync_replicas=2
    )

    assert not partition.advance_local(log_end_offset=10, durable_offset=10)
    with pytest.raises(ApiError) as refused:
        partition.check_may_append(ACKS_ALL)
    assert refused.value.code == ErrorCode.NOT_ENOUGH_REPLICAS
    partition.check_may_append(1)
    with pytest.raises(ApiError) as late:
        partition.check_committed()
    assert late.value.code == ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND


def test_one_replica_satisfies_a_minimum_of_two() -> None:
    """The minimum is at most the number of replicas, so a single copy stays writable."""
    partition = Partition(assignment(), node_id=1, min_insync_replicas=2)

    partition.check_may_append(ACKS_ALL)
    partition.check_committed()
    assert partition.advance_local(log_end_offset=1, durable_offset=1)


@pytest.mark.parametrize(
    ("requested", "code"),
    [
        (-1, None),
        (5, None),
        (4, ErrorCode.FENCED_LEADER_EPOCH),
        (6, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_a_clients_leader_epoch_is_checked(requested: int, code: ErrorCode | None) -> None:
    """Behind is fenced, ahead is unknown, absent is fine (KIP-320)."""
    partition = Partition(assignment(), node_id=1)

    if code is None:
        partition.check_leader_epoch(requested)
    else:
        with pytest.raises(ApiError) as refused:
            partition.check_leader_epoch(requested)
        assert refused.value.code == code


@pytest.mark.parametrize(
    ("leader", "replicas", "role"),
    [(1, (1, 2), Role.LEADER), (2, (1, 2), Role.FOLLOWER), (-1, (1,), Role.OFFLINE)],
)
def test_the_assignment_makes_the_role(leader: int, replicas: tuple[int, ...], role: Role) -> None:
    """Only the leader takes appends and serves clients."""
    isr = replicas if leader != -1 else ()
    partition = Partition(assignment(replicas=replicas, isr=isr, leader=leader), node_id=1)

    assert partition.role is role
    if role is not Role.LEADER:
        with pytest.raises(ApiError) as refused:
            partition.check_may_append(1)
        assert refused.value.code == ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize(
    ("leader_epoch", "partition_epoch", "taken"),
    [(5, 10, True), (6, 10, True), (4, 10, False), (5, 9, False), (6, 9, False)],
)
def test_old_assignments_are_ignored(
    leader_epoch: int, partition_epoch: int, *, taken: bool
) -> None:
    """Epochs never fall; a partition epoch is used once (KIP-497)."""
    partition = Partition(assignment(), node_id=1)

    later = assignment(leader_epoch=leader_epoch, partition_epoch=partition_epoch)
    assert partition.assign(later) is taken
    assert partition.leader_epoch == (leader_epoch if taken else 5)


def test_a_follower_takes_over_no_more_than_it_holds() -> None:
    """The leader's high watermark may be ahead of this node's log."""
    partition = Partition(assignment(replicas=(1, 2), leader=2), node_id=1)
    partition.advance_local(log_end_offset=6, durable_offset=6)

    assert partition.high_watermark == 0
    assert partition.follower_high_watermark(4)
    assert not partition.follower_high_watermark(3)
    assert partition.follower_high_watermark(100)
    assert partition.high_watermark == 6


def test_lagging_replicas_are_told_from_those_that_caught_up() -> None:
    """Lag counts from the last moment a replica held everything."""
    partition = Partition(assignment(replicas=(1, 2, 3), isr=(1, 2)), node_id=1)
    partition.advance_local(log_end_offset=10, durable_offset=10)
    partition.advance_follower(2, durable_offset=10, now_ms=1000)
    partition.advance_follower(3, durable_offset=9, now_ms=1000)
    partition.advance_local(log_end_offset=11, durable_offset=11)

    assert partition.isr_lagging(now_ms=1500, lag_ms_max=500) == ()
    assert partition.isr_lagging(now_ms=1501, lag_ms_max=500) == (2,)
    assert partition.isr_caught_up() == ()
    partition.advance_follower(3, durable_offset=10, now_ms=1600)
    assert partition.isr_caught_up() == (3,)


def test_a_stranger_does_not_replicate() -> None:
    """A fetch with the replica id of a node that holds no replica is refused."""
    partition = Partition(assignment(replicas=(1, 2)), node_id=1)

    with pytest.raises(ApiError) as refused:
        partition.advance_follower(7, durable_offset=1, now_ms=0)

    assert refused.value.code == ErrorCode.REPLICA_NOT_AVAILABLE


def test_an_open_transaction_holds_read_committed_back() -> None:
    """The last stable offset is the first open transaction, at most the high watermark."""
    partition = Partition(assignment(), node_id=1)
    partition.advance_local(log_end_offset=10, durable_offset=8)

    assert partition.readable_end_offset(committed_only=False, first_unstable_offset=3) == 8
    assert partition.readable_end_offset(committed_only=True, first_unstable_offset=3) == 3
    assert partition.readable_end_offset(committed_only=True, first_unstable_offset=9) == 8
    assert partition.readable_end_offset(committed_only=True) == 8


def test_deleting_records_commits_what_was_deleted() -> None:
    """The high watermark is never below the log start."""
    partition = Partition(assignment(), node_id=1)

    partition.log_start_raised(5)

    assert partition.high_watermark == 5
    partition.check()


def test_a_follower_may_be_cut_back() -> None:
    """Truncation by epoch takes the high watermark along."""
    partition = Partition(assignment(replicas=(1, 2), leader=2), node_id=1)
    partition.advance_local(log_end_offset=6, durable_offset=6)
    partition.follower_high_watermark(6)

    partition.truncated(4)

    assert partition.high_watermark == 4
    partition.check()


steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 3)),
        st.tuples(st.just("flush"), st.integers(0, 3)),
        st.tuples(st.sampled_from(["fetch 2", "fetch 3"]), st.integers(0, 3)),
        st.tuples(st.sampled_from(["shrink", "expand"]), st.sampled_from([2, 3])),
    ),
    max_size=40,
)


@given(steps=steps, minimum=st.integers(1, 3))
def test_the_high_watermark_is_the_smallest_durable_end_and_never_falls(
    steps: list[tuple[str, int]], minimum: int
) -> None:
    """Model: three numbers; the high watermark rises to their minimum over a large enough ISR."""
    partition = Partition(THREE, node_id=1, min_insync_replicas=minimum)
    durable = {1: 0, 2: -1, 3: -1}
    end, isr, epoch, expected = 0, [1, 2, 3], 9, 0
    for step, number in steps:
        if step == "append":
            end += number
            partition.advance_local(log_end_offset=end, durable_offset=durable[1])
        elif step == "flush":
            durable[1] = min(end, durable[1] + number)
            partition.advance_local(log_end_offset=end, durable_offset=durable[1])
        elif step in {"shrink", "expand"}:
            isr = [n for n in (1, 2, 3) if n != number and n in isr] + [number] * (step == "expand")
            epoch += 1
            partition.assign(assignment(replicas=(1, 2, 3), isr=tuple(isr), partition_epoch=epoch))
        else:
            node = int(step[-1])
            durable[node] = min(end, durable[node] + number)
            partition.advance_follower(node, durable_offset=durable[node], now_ms=0)
        if len(isr) >= minimum:
            expected = max(expected, min(durable[node] for node in isr))
        assert partition.high_watermark == expected
        partition.check()
