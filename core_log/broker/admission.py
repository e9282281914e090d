"""Lets a producer append to a partition only within a transaction of which its coordinator knows.

A batch that reached a log without its coordinator's knowledge would have no marker ever: everybody
who reads only what is committed would wait at it for good (KIP-890). Producers of version 1 add
partitions themselves, which is verified; for those of version 2 the broker adds them.
"""

from collections.abc import Sequence
from enum import Enum, auto

from ..kernel.errors import ErrorCode
from .broker import Broker
from .call import Call
from .deferred import Deferred, resolved
from .marker_orders import TopicPartition
from .partitions import Hosted
from .transactions import Admitted

__all__ = [
    "Admitted",
    "Support",
    "admit",
    "as_append_error",
    "offset_commit_support",
    "produce_support",
]


class Support(Enum):
    """What a client of some version knows of KIP-890."""

    NOTHING = auto()
    """It takes INVALID_TXN_STATE, which ends the producer."""
    ABORTABLE = auto()
    """It takes TRANSACTION_ABORTABLE, which ends the transaction only."""
    ADDING = auto()
    """It leaves adding partitions to the broker."""


def produce_support(version: int) -> Support:
    """What the sender of a Produce request in this version knows."""
    return _support(version, abortable_since=11, adding_since=12)


def offset_commit_support(version: int) -> Support:
    """What the sender of a TxnOffsetCommit request in this version knows."""
    return _support(version, abortable_since=4, adding_since=5)


def admit(
    broker: Broker,
    *,
    transactional_id: str,
    producer_id: int,
    producer_epoch: int,
    partitions: Sequence[Hosted],
    support: Support,
    call: Call,
) -> Deferred[Admitted]:
    """NONE for each partition the producer may append to; resolved at once or when it is added.

    A partition that has records of the transaction already needs no question: its coordinator knew.
    """
    admitted: dict[TopicPartition, ErrorCode] = {}
    unknown: list[TopicPartition] = []
    for hosted in partitions:
        if hosted.log.has_open_transaction(producer_id, producer_epoch):
            admitted[hosted.topic, hosted.index] = ErrorCode.NONE
        else:
            unknown.append((hosted.topic, hosted.index))
    if not unknown:
        return resolved(admitted)
    transactions = broker.transactions
    if support is Support.ADDING:
        answer = transactions.add(transactional_id, producer_id, producer_epoch, unknown, call)
    else:
        answer = transactions.verify(transactional_id, producer_id, producer_epoch, unknown)
    return answer.map(
        lambda codes: (
            admitted
            | {partition: as_append_error(code, support) for partition, code in codes.items()}
        )
    )


def as_append_error(code: ErrorCode, support: Support) -> ErrorCode:
    """A coordinator's answer in words that the sender of an append knows."""
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code is ErrorCode.TRANSACTION_ABORTABLE and support is Support.NOTHING:
        return ErrorCode.INVALID_TXN_STATE
    return code


def _support(version: int, *, abortable_since: int, adding_since: int) -> Support:
    if version >= adding_since:
        return Support.ADDING
    return Support.ABORTABLE if version >= abortable_since else Support.NOTHING
