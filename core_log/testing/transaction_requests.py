"""The requests of transactional clients, and how such clients read: for tests of transactions.

A client speaks transaction version 1 or 2 (KIP-890). Version 1 names every partition before it
writes there (``add_partitions``, ``add_offsets``) and keeps its epoch from one transaction to the
next; version 2 leaves the naming to the broker and gets a new epoch with every end. Which version a
request speaks is told by its own version; ``VERSIONS_OF`` has the first and last of each.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from ..kernel.effects import Sender
from ..kernel.ids import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from ..kernel.ports import Buffer
from ..protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ..protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from ..protocol.messages.end_txn import EndTxnRequest
from ..protocol.messages.fetch import AbortedTransaction
from ..protocol.messages.init_producer_id import InitProducerIdRequest
from ..protocol.messages.produce import ProduceRequest
from ..protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ..protocol.schema import Message
from ..records.batch import Batch, scan
from ..records.control import ControlType, read_end_txn_marker
from ..records.record import Record, decode_records
from .requests import UNPACKED_BYTES_MAX

NOBODY: Final = Sender(producer_id=NO_PRODUCER_ID, producer_epoch=NO_PRODUCER_EPOCH)
"""Who a transactional producer is before it has been told."""

VERSIONS_OF: Final[dict[type[Message], dict[int, tuple[int, int]]]] = {
    InitProducerIdRequest: {1: (3, 4), 2: (4, 5)},
    AddPartitionsToTxnRequest: {1: (0, 3)},
    AddOffsetsToTxnRequest: {1: (0, 4)},
    ProduceRequest: {1: (3, 11), 2: (12, 13)},
    TxnOffsetCommitRequest: {1: (0, 4), 2: (5, 5)},
    EndTxnRequest: {1: (0, 4), 2: (5, 5)},
}
"""By request and transaction version: the first and last version of the request."""


def init_producer(
    transactional_id: str, *, timeout_ms: int = 60_000, known: Sender = NOBODY
) -> InitProducerIdRequest:
    """An identity for a new instance, or with *known* the next epoch of this one (KIP-360)."""
    return InitProducerIdRequest(
        transactional_id=transactional_id,
        transaction_timeout_ms=timeout_ms,
        producer_id=known.producer_id,
        producer_epoch=known.producer_epoch,
    )


def add_partitions(
    transactional_id: str, sender: Sender, partitions: Mapping[str, Sequence[int]]
) -> AddPartitionsToTxnRequest:
    """As clients send it, versions 0-3: *partitions* by topic."""
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=transactional_id,
        v3_and_below_producer_id=sender.producer_id,
        v3_and_below_producer_epoch=sender.producer_epoch,
        v3_and_below_topics=[
            AddPartitionsToTxnTopic(name=topic, partitions=list(indexes))
            for topic, indexes in partitions.items()
        ],
    )


def add_offsets(transactional_id: str, sender: Sender, group_id: str) -> AddOffsetsToTxnRequest:
    return AddOffsetsToTxnRequest(
        transactional_id=transactional_id,
        producer_id=sender.producer_id,
        producer_epoch=sender.producer_epoch,
        group_id=group_id,
    )


def commit_offsets_in_transaction(
    transactional_id: str,
    sender: Sender,
    group_id: str,
    topic: str,
    offsets: Mapping[int, int],
    *,
    member_id: str = "",
    generation_id: int = -1,
) -> TxnOffsetCommitRequest:
    """*offsets* by partition; with *member_id* fenced by the group's generation (KIP-447)."""
    return TxnOffsetCommitRequest(
        transactional_id=transactional_id,
        group_id=group_id,
        producer_id=sender.producer_id,
        producer_epoch=sender.producer_epoch,
        generation_id=generation_id,
        member_id=member_id,
        topics=[
            TxnOffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    TxnOffsetCommitRequestPartition(partition_index=index, committed_offset=offset)
                    for index, offset in offsets.items()
                ],
            )
        ],
    )


def end_transaction(transactional_id: str, sender: Sender, *, commit: bool) -> EndTxnRequest:
    return EndTxnRequest(
        transactional_id=transactional_id,
        producer_id=sender.producer_id,
        producer_epoch=sender.producer_epoch,
        committed=commit,
    )


def committed_records(
    data: Buffer | None, aborted: Iterable[AbortedTransaction] | None
) -> Iterator[Record]:
    """What a ``read_committed`` client makes of a fetched slice and its list of *aborted* ones.

    Records of aborted transactions and control records are left out, as is a batch cut at the end.
    """
    starts = sorted(aborted or (), key=lambda entry: entry.first_offset, reverse=True)
    open_ids: set[int] = set()
    for batch in scan(data or b"", verify_crc=True):
        while starts and starts[-1].first_offset <= batch.last_offset:
            open_ids.add(starts.pop().producer_id)
        if batch.is_control:
            if is_abort_marker(batch):
                open_ids.discard(batch.producer_id)
        elif not (batch.is_transactional and batch.producer_id in open_ids):
            yield from decode_records(batch, bytes_max=UNPACKED_BYTES_MAX)


def is_abort_marker(batch: Batch) -> bool:
    """Whether a control batch aborts its producer's transaction."""
    return batch.producer_id >= 0 and read_end_txn_marker(batch).type is ControlType.ABORT
