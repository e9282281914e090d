"""TxnOffsetCommit (key 28), versions 0-5: a group's offsets, committed if the transaction is.

From version 5 on the group's partition of the offsets topic joins the transaction here; before, it
must have joined by AddOffsetsToTxn, which is verified (KIP-890).
"""

from typing import Any

from ...groups.refusals import append_code, refusal
from ...kernel.errors import ErrorCode
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from ..admission import Admitted, Support, admit, as_append_error, offset_commit_support
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred, resolved
from ..groups import OFFSETS_TOPIC
from ..handler import Handler


def serve(
    broker: Broker, request: TxnOffsetCommitRequest, call: Call
) -> Deferred[TxnOffsetCommitResponse]:
    """One error code for each partition, once the offsets are on disk, pending."""
    version = call.api_version

    def refused(code: ErrorCode) -> Deferred[Any]:
        return resolved(refusal(request, version=version, code=code))

    if not request.group_id:  # Kafka tells this first, whatever the transaction
        return refused(ErrorCode.INVALID_GROUP_ID)
    index = broker.groups.shard_of(request.group_id)
    hosted = broker.partitions.by_name(OFFSETS_TOPIC, index)
    if hosted is None:
        return refused(ErrorCode.NOT_COORDINATOR)

    support = offset_commit_support(version)
    if support is not Support.ADDING:
        code = broker.transactions.admit_offsets(
            request.transactional_id, request.producer_id, request.producer_epoch, call
        )
        if code is not ErrorCode.NONE:
            return refused(as_append_error(append_code(code), support))

    def commit(admitted: Admitted) -> Deferred[Any]:
        code = admitted[OFFSETS_TOPIC, index]
        if code is not ErrorCode.NONE:
            return refused(append_code(code))
        return broker.groups.step(request.group_id, request, call)

    return admit(
        broker,
        transactional_id=request.transactional_id,
        producer_id=request.producer_id,
        producer_epoch=request.producer_epoch,
        partitions=[hosted],
        support=support,
        call=call,
    ).bind(commit)


HANDLER = Handler(api=API_BY_KEY[28], version_min=0, version_max=5, serve=serve)
