"""The state machine of one transactional id: whose it is, and where its transaction stands.

Sources: KIP-98; KIP-360 (a producer asks for its next epoch); KIP-890 (transaction version 2: every
commit and abort raises the epoch). This module holds facts and guards them; what follows from a
request or from the time is decided in the module of the request.

Each change notes the producer id that was in force before it, as Kafka does: a producer that
missed the answer which gave it a new id is known by the old one until the next change.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Final, Self, TypeAlias

from ..kernel.ids import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_TIMESTAMP

TopicPartition: TypeAlias = tuple[str, int]

EPOCH_MAX: Final = 2**15 - 1
"""No producer is ever given this epoch: with it the coordinator can fence the one before."""

EPOCH_BUMP_VERSION: Final = 2
"""The transaction version from which commit and abort raise the epoch (KIP-890)."""


class TransactionState(Enum):
    """Where a transaction stands: the number in records, the name in descriptions."""

    number: int

    def __new__(cls, number: int, name: str) -> Self:
        member = object.__new__(cls)
        member._value_ = name
        member.number = number
        return member

    EMPTY = 0, "Empty"
    """The producer is known and has no transaction.

    Transition: a partition joins → ONGOING; aborted with version 2 → PREPARE_ABORT; initialized
    again → EMPTY; expired → DEAD.
    """

    ONGOING = 1, "Ongoing"
    """Partitions may hold records of the transaction.

    Transition: another partition joins → ONGOING; committed → PREPARE_COMMIT; aborted →
    PREPARE_ABORT; timed out, or a producer initializes → PREPARE_EPOCH_FENCE.
    """

    PREPARE_COMMIT = 2, "PrepareCommit"
    """Decided; markers are being written. Transition: all are written → COMPLETE_COMMIT."""

    PREPARE_ABORT = 3, "PrepareAbort"
    """Decided; markers are being written. Transition: all are written → COMPLETE_ABORT."""

    COMPLETE_COMMIT = 4, "CompleteCommit"
    """The last transaction was committed. Transition: as from EMPTY."""

    COMPLETE_ABORT = 5, "CompleteAbort"
    """The last transaction was aborted. Transition: as from EMPTY."""

    DEAD = 6, "Dead"
    """The transactional id has left the shard; no request ever meets it."""

    PREPARE_EPOCH_FENCE = 7, "PrepareEpochFence"
    """The producer is being fenced, within one step. Transition: → PREPARE_ABORT."""


_S = TransactionState
_FROM_REST: Final = frozenset({_S.EMPTY, _S.ONGOING, _S.PREPARE_ABORT, _S.DEAD})
TRANSITIONS: Final[dict[TransactionState, frozenset[TransactionState]]] = {
    _S.EMPTY: _FROM_REST,
    _S.ONGOING: frozenset(
        {_S.ONGOING, _S.PREPARE_COMMIT, _S.PREPARE_ABORT, _S.PREPARE_EPOCH_FENCE}
    ),
    _S.PREPARE_COMMIT: frozenset({_S.COMPLETE_COMMIT}),
    _S.PREPARE_ABORT: frozenset({_S.COMPLETE_ABORT}),
    _S.COMPLETE_COMMIT: _FROM_REST,
    _S.COMPLETE_ABORT: _FROM_REST,
    _S.DEAD: frozenset(),
    _S.PREPARE_EPOCH_FENCE: frozenset({_S.PREPARE_ABORT}),
}
"""For each state, the states that may follow it."""

ENDING: Final = frozenset({_S.PREPARE_COMMIT, _S.PREPARE_ABORT})
AT_REST: Final = frozenset({_S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT})
STORED: Final = ENDING | AT_REST | {_S.ONGOING}
"""The states that records show."""


class Transaction:
    """One transactional id.

    Invariants, see ``check``: partitions are there while ONGOING, and gone at rest; a next producer
    id waits only while a transaction of version 2 ends at the last epoch.
    """

    __slots__ = (
        "awaiting_markers",
        "client_version",
        "last_producer_epoch",
        "next_producer_id",
        "partitions",
        "previous_producer_id",
        "producer_epoch",
        "producer_id",
        "start_ms",
        "state",
        "timeout_ms",
        "transactional_id",
        "update_ms",
    )

    def __init__(
        self, transactional_id: str, *, producer_id: int, timeout_ms: int, now_ms: int
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.previous_producer_id: int = NO_PRODUCER_ID
        self.next_producer_id: int = NO_PRODUCER_ID
        self.producer_epoch: int = NO_PRODUCER_EPOCH
        self.last_producer_epoch: int = NO_PRODUCER_EPOCH  # not in records, as in Kafka
        self.timeout_ms = timeout_ms
        self.state = TransactionState.EMPTY
        self.partitions: dict[TopicPartition, None] = {}  # a set with an order
        self.awaiting_markers: dict[TopicPartition, None] = {}  # of partitions, while it ends
        self.start_ms: int = NO_TIMESTAMP
        self.update_ms = now_ms
        self.client_version = 0

    def __repr__(self) -> str:
        return (
            f"<Transaction {self.transactional_id!r} {self.state.value} producer "
            f"{self.producer_id} epoch {self.producer_epoch}, {len(self.partitions)} partitions>"
        )

    @property
    def is_commit(self) -> bool:
        """Whether the transaction was, or is being, committed."""
        return self.state in (_S.PREPARE_COMMIT, _S.COMPLETE_COMMIT)

    def is_epoch_exhausted(self) -> bool:
        """Whether the epoch is the last that a producer may have."""
        return is_exhausted(self.producer_epoch)

    def transition_to(self, state: TransactionState) -> None:
        """Enter *state*, which must be one that may follow."""
        assert state in TRANSITIONS[self.state], f"{self!r} cannot become {state.value}"
        self.state = state

    # Identity

    def raise_epoch(self, *, last_epoch: int, timeout_ms: int, now_ms: int) -> None:
        """Give the producer its next epoch; *last_epoch* says whose retry would be known."""
        assert not self.is_epoch_exhausted()
        self.last_producer_epoch = last_epoch
        self.producer_epoch += 1
        self._start_over(timeout_ms=timeout_ms, now_ms=now_ms)

    def keep_epoch(self, *, timeout_ms: int, now_ms: int) -> None:
        """Give the producer the epoch again that it was given before."""
        assert self.producer_epoch < EPOCH_MAX
        self._start_over(timeout_ms=timeout_ms, now_ms=now_ms)

    def replace_producer_id(
        self, producer_id: int, *, last_epoch: int, timeout_ms: int, now_ms: int
    ) -> None:
        """Begin again at epoch 0 of a new id, since the old one has no epochs left."""
        self._start_over(timeout_ms=timeout_ms, now_ms=now_ms)
        self.producer_id = producer_id
        self.producer_epoch = 0
        self.last_producer_epoch = last_epoch

    # The transaction

    def add(
        self, partitions: Iterable[TopicPartition], *, client_version: int, now_ms: int
    ) -> None:
        """Let *partitions* join; the first ones start the transaction."""
        if self.state is not _S.ONGOING:
            self.start_ms = now_ms
        self.transition_to(_S.ONGOING)
        self.partitions.update(dict.fromkeys(partitions))
        self.client_version = client_version
        self._touch(now_ms)

    def fence(self) -> None:
        """Shut the producer out; ``end`` must follow. The raised epoch is nobody's."""
        self.transition_to(_S.PREPARE_EPOCH_FENCE)

    def end(
        self, *, is_commit: bool, client_version: int, next_producer_id: int, now_ms: int
    ) -> None:
        """Decide the transaction; from version 2 on its markers carry a raised epoch.

        A fenced producer's epoch is raised whatever the version.
        """
        fenced = self.state is _S.PREPARE_EPOCH_FENCE
        if self.state in AT_REST:
            self.start_ms = now_ms  # an abort that no partition came before
        self.transition_to(_S.PREPARE_COMMIT if is_commit else _S.PREPARE_ABORT)
        if client_version >= EPOCH_BUMP_VERSION:
            self.last_producer_epoch = self.producer_epoch
            self.producer_epoch = min(self.producer_epoch + 1, EPOCH_MAX)
        elif fenced:
            self.last_producer_epoch = NO_PRODUCER_EPOCH
            self.producer_epoch = min(self.producer_epoch + 1, EPOCH_MAX)
        self.client_version = client_version
        self._touch(now_ms)
        self.next_producer_id = next_producer_id
        self.expect_markers()

    def expect_markers(self) -> None:
        """Wait for a marker in every partition."""
        assert self.state in ENDING
        self.awaiting_markers = dict(self.partitions)

    def complete(self, *, now_ms: int) -> None:
        """The markers are written; the producer may have a new id from here on.

        The last epoch stays: it is the last one that the producer has seen.
        """
        assert not self.awaiting_markers
        self.transition_to(_S.COMPLETE_COMMIT if self.is_commit else _S.COMPLETE_ABORT)
        self.partitions = {}
        identity = self.identity_after_end()
        self._touch(now_ms)
        self.producer_id, self.producer_epoch = identity
        self.next_producer_id = NO_PRODUCER_ID

    def identity_after_end(self) -> tuple[int, int]:
        """Producer id and epoch for the transaction after the one that ends."""
        if self.next_producer_id != NO_PRODUCER_ID:
            return self.next_producer_id, 0
        return self.producer_id, self.producer_epoch

    def _start_over(self, *, timeout_ms: int, now_ms: int) -> None:
        self.transition_to(_S.EMPTY)
        self.timeout_ms = timeout_ms
        self.start_ms = NO_TIMESTAMP
        self._touch(now_ms)

    def _touch(self, now_ms: int) -> None:
        self.previous_producer_id = self.producer_id
        self.update_ms = now_ms

    def check(self) -> None:
        """Assert the invariants; simulation calls this after every event."""
        assert self.state in STORED
        assert 0 <= self.producer_epoch <= EPOCH_MAX
        assert self.producer_epoch < EPOCH_MAX or self.state not in (_S.EMPTY, _S.ONGOING)
        assert bool(self.partitions) or self.state is not _S.ONGOING
        assert not self.partitions or self.state not in AT_REST
        assert self.awaiting_markers.keys() <= self.partitions.keys()
        assert bool(self.awaiting_markers) == (self.state in ENDING), f"{self!r} is stuck"
        if self.next_producer_id != NO_PRODUCER_ID:
            assert self.state in ENDING
            assert self.producer_epoch == EPOCH_MAX
            assert self.client_version >= EPOCH_BUMP_VERSION


def is_exhausted(epoch: int) -> bool:
    """Whether *epoch* is the last that a producer may have."""
    return epoch >= EPOCH_MAX - 1
