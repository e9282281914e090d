"""What the requests of one shard share."""

from dataclasses import dataclass
from typing import final

import msgspec

from ..kernel.effects import Turn
from ..kernel.errors import ErrorCode
from ..kernel.ids import NO_PRODUCER_ID
from .config import TransactionConfig
from .guard import Guard
from .orders import FenceConnection
from .ports import ClusterFacts, ProducerIdSource
from .records import tombstone, transaction_record
from .refusals import TransactionRequest, after_failed_append, refusal
from .transaction import Transaction, TransactionState


@dataclass(frozen=True, slots=True)
class Call:
    """A request and where its answer goes."""

    request: TransactionRequest
    version: int
    connection: int
    reply_to: object


@final
class ShardState:
    """The transactional ids of one shard, and what it needs to change them."""

    def __init__(
        self, config: TransactionConfig, ids: ProducerIdSource, cluster: ClusterFacts
    ) -> None:
        self.config = config
        self.ids = ids
        self.cluster = cluster
        self.guard = Guard()
        self.offsets_guard = Guard()  # clients send offsets on a connection of their own
        self.transactions: dict[str, Transaction] = {}
        self.coordinator_epoch = -1

    def write(self, transaction: Transaction, turn: Turn) -> None:
        """Append *transaction* as it stands."""
        level = self.cluster.transaction_version()
        turn.append(*transaction_record(transaction, feature_level=level))

    def drop(self, transaction: Transaction, turn: Turn) -> None:
        """Forget a transactional id, in memory and in the log."""
        transaction.transition_to(TransactionState.DEAD)
        del self.transactions[transaction.transactional_id]
        self.guard.forget(transaction.transactional_id)
        self.offsets_guard.forget(transaction.transactional_id)
        turn.append(*tombstone(transaction.transactional_id))


def answer(call: Call, response: msgspec.Struct, turn: Turn) -> None:
    """Send *response* once what it may depend on is committed.

    Refusals too: what they refuse for may be a record that is not committed yet.
    """
    turn.reply_after_commit(
        call.reply_to,
        response,
        lambda code: after_failed_append(call.request, version=call.version, code=code),
    )


def refuse(call: Call, code: ErrorCode, turn: Turn) -> None:
    """Say *code* to the whole request."""
    answer(call, refusal(call.request, version=call.version, code=code), turn)


def send_away(call: Call, transaction: Transaction, turn: Turn) -> None:
    """Refuse a request that ``guard`` does not admit, and have its connection closed."""
    refuse(call, ErrorCode.NOT_COORDINATOR, turn)
    turn.order_after_commit(FenceConnection(connection=call.connection))
    turn.note(
        "stale_connection_fenced",
        transactional_id=transaction.transactional_id,
        connection=call.connection,
    )


def is_next_producer(transaction: Transaction, producer_id: int, producer_epoch: int) -> bool:
    """Whether this is the producer that may begin once the markers are written.

    It was told its new id when the end was decided, so that it may ask too early. Kafka answers
    INVALID_PRODUCER_ID_MAPPING then, which is final, though all it has to do is to wait.
    """
    return (
        transaction.next_producer_id != NO_PRODUCER_ID
        and (producer_id, producer_epoch) == transaction.identity_after_end()
    )
