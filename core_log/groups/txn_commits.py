"""TxnOffsetCommit, versions 0-5: where a group will stand when a transaction commits (KIP-98).

The offsets are records of the transaction: pending until its marker stands in the log, and gone
when the marker says abort. That the transaction is open, is the producer's and has this group in
it is checked before the request comes here.

Since version 3 a member says who it is (KIP-447), so that a consumer that was declared dead cannot
commit what its successor has read. Kafka's differences from OffsetCommit are kept: a producer that
names no member is believed in every state of the group, a member whose rebalance is not finished
may commit, a commit is no sign of life, and a group that is not there is ILLEGAL_GENERATION in
every version.
"""

from ..kernel.effects import Sender, Turn
from ..kernel.errors import ApiError, ErrorCode
from ..protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from ..protocol.schema import NO_ID
from .classic import ClassicGroup, ClassicGroupState
from .commit_checks import (
    TopicCommit,
    check_topic,
    records_of,
    stored,
    unknown_topic,
)
from .member import Waiting
from .refusals import append_code, txn_commit_code
from .state import ShardState


def commit_offsets_in_transaction(
    state: ShardState, request: TxnOffsetCommitRequest, *, waiting: Waiting, turn: Turn
) -> None:
    """Keep the offsets for the end of the transaction, and answer when they are committed."""
    commits = [_check_topic(state, topic, turn) for topic in request.topics]
    try:
        _check_sender(state, request)
        records = records_of(state, request.group_id, commits)
    except ApiError as error:
        turn.reply(waiting.reply_to, _response(request, commits, error.code))
        return
    if not records:
        turn.reply(waiting.reply_to, _response(request, commits))
        return
    state.ensure_group(request.group_id, turn)
    for place, offset in stored(request.group_id, commits):
        state.offsets.put_pending(request.producer_id, place, offset)
    for record in records:
        turn.append(*record)
    turn.sender = Sender(producer_id=request.producer_id, producer_epoch=request.producer_epoch)
    turn.reply_after_commit(
        waiting.reply_to,
        _response(request, commits),
        lambda code: _response(
            request, commits, txn_commit_code(append_code(code), version=waiting.version)
        ),
    )


def _check_topic(state: ShardState, topic: TxnOffsetCommitRequestTopic, turn: Turn) -> TopicCommit:
    topic_id = state.topics.id_of(topic.name) or NO_ID
    if topic_id == NO_ID:
        return unknown_topic(topic.partitions, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return check_topic(state, topic.name, topic_id, topic.partitions, now_ms=turn.now_ms)


def _check_sender(state: ShardState, request: TxnOffsetCommitRequest) -> None:
    """Raises ApiError unless the group takes a commit from whoever sent the request."""
    if not request.group_id:
        raise ApiError(ErrorCode.INVALID_GROUP_ID)
    if request.producer_id < 0:
        # No marker would ever decide such an offset.
        raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    group = state.groups.get(request.group_id)
    if group is not None:
        _check_member(group, request)
    elif request.generation_id >= 0:
        raise ApiError(ErrorCode.ILLEGAL_GENERATION)


def _check_member(group: ClassicGroup, request: TxnOffsetCommitRequest) -> None:
    generation_id, instance_id = request.generation_id, request.group_instance_id
    if generation_id < 0 and group.state is ClassicGroupState.EMPTY:
        return
    if generation_id < 0 and not request.member_id and instance_id is None:
        return
    group.validate_member(request.member_id, instance_id)
    if generation_id != group.generation_id:
        raise ApiError(ErrorCode.ILLEGAL_GENERATION)


def _response(
    request: TxnOffsetCommitRequest, commits: list[TopicCommit], code: ErrorCode = ErrorCode.NONE
) -> TxnOffsetCommitResponse:
    """Each partition's own code; when the commit failed as a whole, *code* for all but those of
    which nobody knows anything.
    """
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    TxnOffsetCommitResponsePartition(
                        partition_index=partition.partition, error_code=partition.answer(code)
                    )
                    for partition in commit.partitions
                ],
            )
            for topic, commit in zip(request.topics, commits, strict=True)
        ]
    )
