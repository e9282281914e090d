"""A quorum of one follows Raft's rules all the same."""

import pytest

from headwater.core_log.kernel.ids import NO_TOPIC_ID
from headwater.core_log.protocol.codec import decode
from headwater.core_log.protocol.coordinator.leader_change_message import LeaderChangeMessage
from headwater.core_log.raft.quorum import BATCH_BYTES_MAX, Append, Quorum, SaveState
from headwater.core_log.raft.quorum_state import QuorumState
from headwater.core_log.records.batch import check_crc, read_batch
from headwater.core_log.records.control import ControlType, read_control
from headwater.core_log.records.record import decode_records

DIRECTORY = bytes(range(16))


def quorum(
    *,
    state: QuorumState | None = None,
    kraft_version: int = 0,
    log_end_offset: int = 0,
    last_epoch: int = -1,
) -> Quorum:
    return Quorum(
        node_id=3,
        directory_id=DIRECTORY,
        state=state,
        kraft_version=kraft_version,
        log_end_offset=log_end_offset,
        last_epoch=last_epoch,
    )


@pytest.mark.parametrize(
    ("stored_epoch", "log_epoch", "expected"), [(None, -1, 1), (4, 2, 5), (2, 4, 5), (None, 7, 8)]
)
def test_each_start_begins_a_new_epoch(
    stored_epoch: int | None, log_epoch: int, expected: int
) -> None:
    """Higher than any this node voted in and any in its log."""
    state = None if stored_epoch is None else QuorumState(leader_epoch=stored_epoch)

    assert quorum(state=state, last_epoch=log_epoch).leader_epoch == expected


@pytest.mark.parametrize("kraft_version", [0, 1])
def test_the_vote_is_saved_before_the_epoch_opens(kraft_version: int) -> None:
    """A node that forgets its vote could vote twice; the epoch's first record is its leader."""
    core = quorum(kraft_version=kraft_version, log_end_offset=10, last_epoch=2)

    core.start(now_ms=77)

    save, append = core.ready()
    assert isinstance(save, SaveState)
    assert isinstance(append, Append)
    assert (save.state.leader_epoch, save.state.leader_id) == (3, 3)
    assert save.state.data_version == kraft_version
    assert save.state.voters == ((3,) if kraft_version == 0 else ())
    assert save.state.voted_directory_id == (DIRECTORY if kraft_version else NO_TOPIC_ID)
    batch = read_batch(append.batch)
    check_crc(batch)
    assert (batch.base_offset, batch.partition_leader_epoch) == (10, 3)
    (control,) = read_control(batch)
    assert control.type is ControlType.LEADER_CHANGE
    message = decode(LeaderChangeMessage, kraft_version, control.value)
    assert (message.version, message.leader_id) == (kraft_version, 3)
    assert [voter.voter_id for voter in message.granting_voters] == [3]
    assert core.ready() == []


def test_a_proposal_is_one_batch_with_its_offsets() -> None:
    """All of its records are committed, or none."""
    core = quorum()
    core.start(now_ms=0)
    core.ready()

    proposal = core.propose([b"a", b"b"], now_ms=5)

    assert (proposal.base_offset, proposal.last_offset, proposal.leader_epoch) == (1, 2, 1)
    (append,) = core.ready()
    assert isinstance(append, Append)
    batch = read_batch(append.batch)
    check_crc(batch)
    assert (batch.base_offset, batch.last_offset, batch.partition_leader_epoch) == (1, 2, 1)
    records = decode_records(batch, bytes_max=1000)
    assert [(r.offset, r.timestamp_ms, r.key, r.value) for r in records] == [
        (1, 5, None, b"a"),
        (2, 5, None, b"b"),
    ]
    assert core.propose([b"c"], now_ms=5).base_offset == 3


def test_nothing_is_committed_before_the_epochs_first_record() -> None:
    """Records of older epochs are committed by one of this epoch, never by being there."""
    core = quorum(log_end_offset=10, last_epoch=2)
    core.start(now_ms=0)

    assert core.flushed(5) == 0
    assert core.flushed(10) == 0
    assert core.flushed(11) == 11
    core.check()


def test_the_committed_offset_never_falls() -> None:
    """A late report of an earlier flush changes nothing."""
    core = quorum()
    core.start(now_ms=0)
    core.propose([b"a", b"b"], now_ms=0)

    assert core.flushed(3) == 3
    assert core.flushed(1) == 3


def test_lost_proposals_give_their_offsets_back() -> None:
    """The next proposal takes them; what is committed cannot be lost."""
    core = quorum()
    core.start(now_ms=0)
    core.flushed(1)
    core.propose([b"a", b"b"], now_ms=0)

    core.truncated(1)

    assert core.propose([b"c"], now_ms=0).base_offset == 1
    with pytest.raises(AssertionError, match="never lost"):
        core.truncated(0)


def test_what_no_batch_can_hold_is_refused() -> None:
    """Kafka reads metadata in batches of at most eight megabytes."""
    core = quorum()
    with pytest.raises(ValueError, match="is over"):
        core.propose([bytes(BATCH_BYTES_MAX)], now_ms=0)
    with pytest.raises(ValueError, match="record"):
        core.propose([], now_ms=0)
    assert core.log_end_offset == 0


def test_the_quorum_describes_itself() -> None:
    """One voter, caught up with itself."""
    core = quorum(kraft_version=1)
    core.start(now_ms=0)
    core.flushed(1)

    facts = core.describe(now_ms=9)

    (voter,) = facts.voters
    assert (facts.leader_id, facts.leader_epoch, facts.high_watermark) == (3, 1, 1)
    assert (voter.replica_id, voter.directory_id, voter.log_end_offset) == (3, DIRECTORY, 1)
    assert (voter.last_fetch_ms, voter.last_caught_up_ms) == (9, 9)
    assert facts.observers == ()
