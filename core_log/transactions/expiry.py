"""What the time does: transactions time out, transactional ids expire.

As with Kafka both are looked for at intervals, so that a transaction may live for one interval
longer than its time-out. Ids are looked through a few at a time.
"""

from collections import deque
from typing import Final

from ..kernel.effects import Turn
from ..kernel.errors import ApiError
from .ending import fence
from .state import ShardState
from .transaction import AT_REST, TransactionState

_IDS_PER_STEP: Final = 1_000
"""Tombstones of one step are some 60 bytes each; with ids at their bound, a batch or two."""


class Sweep:
    """The two walks over the shard, and when each is due."""

    def __init__(self) -> None:
        self._abort_due_ms: int | None = None
        self._expiry_due_ms: int | None = None
        self._ids_left: deque[str] = deque()

    def start(self, state: ShardState, *, now_ms: int) -> None:
        """Begin each walk after one interval."""
        self._abort_due_ms = now_ms + state.config.abort_check_ms
        self._expiry_due_ms = now_ms + state.config.expiration_check_ms

    def next_ms(self) -> int | None:
        """When a walk is due, None before the start."""
        if self._abort_due_ms is None or self._expiry_due_ms is None:
            return None
        return min(self._abort_due_ms, self._expiry_due_ms)

    def step(self, state: ShardState, turn: Turn) -> None:
        """Do what is due; each record stands for itself."""
        turn.atomic = False
        if self._abort_due_ms is not None and self._abort_due_ms <= turn.now_ms:
            _abort_timed_out(state, turn)
            self._abort_due_ms = turn.now_ms + state.config.abort_check_ms
        if self._expiry_due_ms is not None and self._expiry_due_ms <= turn.now_ms:
            self._expire_some(state, turn)

    def _expire_some(self, state: ShardState, turn: Turn) -> None:
        """Look at the next few ids; come back at once while some are left."""
        if not self._ids_left:
            self._ids_left.extend(state.transactions)
        for _ in range(min(_IDS_PER_STEP, len(self._ids_left))):
            transaction = state.transactions.get(self._ids_left.popleft())
            if (
                transaction is not None
                and transaction.state in AT_REST
                and transaction.update_ms
                <= turn.now_ms - state.config.transactional_id_expiration_ms
            ):
                turn.note("transactional_id_expired", transactional_id=transaction.transactional_id)
                state.drop(transaction, turn)
        wait_ms = 0 if self._ids_left else state.config.expiration_check_ms
        self._expiry_due_ms = turn.now_ms + wait_ms


def _abort_timed_out(state: ShardState, turn: Turn) -> None:
    """Abort every transaction that has been open for longer than its producer allows."""
    for transaction in state.transactions.values():
        if (
            transaction.state is TransactionState.ONGOING
            and transaction.start_ms + transaction.timeout_ms < turn.now_ms
        ):
            try:
                fence(state, transaction, turn)
            except ApiError:
                continue  # no producer id at hand: the next walk finds it again
            turn.note(
                "transaction_timed_out",
                transactional_id=transaction.transactional_id,
                producer_id=transaction.producer_id,
                timeout_ms=transaction.timeout_ms,
            )
