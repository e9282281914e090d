"""The response that says one error to a whole request, for every request of this package.

Also for the runtime: what a client gets while the shard is loading, or after its append failed.
"""

from typing import Final, TypeAlias

import msgspec

from ..kernel.errors import ErrorCode
from ..protocol.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from ..protocol.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from ..protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ..protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ..protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberResponse,
)
from ..protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from ..protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ..protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from ..protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from ..protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from ..protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

GroupRequest: TypeAlias = (
    JoinGroupRequest
    | SyncGroupRequest
    | HeartbeatRequest
    | LeaveGroupRequest
    | OffsetCommitRequest
    | TxnOffsetCommitRequest
    | OffsetFetchRequest
    | OffsetDeleteRequest
    | DescribeGroupsRequest
    | ListGroupsRequest
    | DeleteGroupsRequest
)

_E = ErrorCode
_AFTER_APPEND: Final[dict[ErrorCode, ErrorCode]] = {
    _E.NETWORK_EXCEPTION: _E.COORDINATOR_LOAD_IN_PROGRESS,
    _E.UNKNOWN_TOPIC_OR_PARTITION: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_ENOUGH_REPLICAS: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_ENOUGH_REPLICAS_AFTER_APPEND: _E.COORDINATOR_NOT_AVAILABLE,
    _E.REQUEST_TIMED_OUT: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_LEADER_OR_FOLLOWER: _E.NOT_COORDINATOR,
    _E.KAFKA_STORAGE_ERROR: _E.NOT_COORDINATOR,
    _E.MESSAGE_TOO_LARGE: _E.UNKNOWN_SERVER_ERROR,
    _E.RECORD_LIST_TOO_LARGE: _E.UNKNOWN_SERVER_ERROR,
    _E.INVALID_FETCH_SIZE: _E.UNKNOWN_SERVER_ERROR,
}
"""What a failed append means to a group's client, which knows nothing of the partition behind."""

_NO_PROTOCOL_SINCE: Final = 7
_TOP_LEVEL_FETCH_ERROR_SINCE: Final = 2
_FETCH_GROUPS_SINCE: Final = 8
_LEAVE_MEMBERS_SINCE: Final = 3
_TXN_LOADING_SINCE: Final = 2


def after_failed_append(request: GroupRequest, *, version: int, code: ErrorCode) -> msgspec.Struct:
    """The response to *request* when its records could not be appended, for *code*."""
    return refusal(request, version=version, code=append_code(code))


def append_code(code: ErrorCode) -> ErrorCode:
    """What a group's client is told when an append has failed with *code*."""
    return _AFTER_APPEND.get(code, code)


def txn_commit_code(code: ErrorCode, *, version: int) -> ErrorCode:
    """What a TxnOffsetCommit is told for *code*: clients before 2.0 die of a coordinator that loads
    (KAFKA-7296), so they are told to look for it again.
    """
    if version < _TXN_LOADING_SINCE and code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return code


def while_loading(request: GroupRequest, *, version: int) -> msgspec.Struct:
    """The response while the shard reads its records.

    A heartbeat is welcome: nobody can have lost the member yet, and it must not think so.
    """
    if isinstance(request, HeartbeatRequest):
        return HeartbeatResponse()
    return refusal(request, version=version, code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def refusal(request: GroupRequest, *, version: int, code: ErrorCode) -> msgspec.Struct:  # noqa: C901, PLR0911 - one case per request
    """A response in which the whole *request* failed with *code*."""
    match request:
        case JoinGroupRequest():
            return join_refusal(version=version, code=code, member_id=request.member_id)
        case SyncGroupRequest():
            return SyncGroupResponse(error_code=code)
        case HeartbeatRequest():
            return HeartbeatResponse(error_code=code)
        case LeaveGroupRequest():
            return leave_refusal(request, version=version, code=code)
        case OffsetCommitRequest():
            return _commit_refusal(request, code)
        case TxnOffsetCommitRequest():
            return _txn_commit_refusal(request, txn_commit_code(code, version=version))
        case OffsetFetchRequest():
            return _fetch_refusal(request, version, code)
        case OffsetDeleteRequest():
            return OffsetDeleteResponse(error_code=code)
        case DescribeGroupsRequest():
            return DescribeGroupsResponse(
                groups=[DescribedGroup(group_id=g, error_code=code) for g in request.groups]
            )
        case ListGroupsRequest():
            return ListGroupsResponse(error_code=code)
        case DeleteGroupsRequest():
            return DeleteGroupsResponse(
                results=[
                    DeletableGroupResult(group_id=g, error_code=code) for g in request.groups_names
                ]
            )


def join_refusal(*, version: int, code: ErrorCode, member_id: str) -> JoinGroupResponse:
    """A join that failed; *member_id* is the id the client should have from now on."""
    return JoinGroupResponse(
        error_code=code,
        member_id=member_id,
        protocol_name=None if version >= _NO_PROTOCOL_SINCE else "",
    )


def leave_refusal(
    request: LeaveGroupRequest, *, version: int, code: ErrorCode
) -> LeaveGroupResponse:
    """A leave that failed as a whole; an unknown member is each member's own fault."""
    if version < _LEAVE_MEMBERS_SINCE or code is not ErrorCode.UNKNOWN_MEMBER_ID:
        return LeaveGroupResponse(error_code=code)
    return LeaveGroupResponse(
        members=[
            MemberResponse(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                error_code=code,
            )
            for member in request.members
        ]
    )


def _commit_refusal(request: OffsetCommitRequest, code: ErrorCode) -> OffsetCommitResponse:
    """*code* for every partition: the response has no other place for it."""
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(
                        partition_index=partition.partition_index, error_code=code
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _txn_commit_refusal(
    request: TxnOffsetCommitRequest, code: ErrorCode
) -> TxnOffsetCommitResponse:
    """*code* for every partition, here too."""
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    TxnOffsetCommitResponsePartition(
                        partition_index=partition.partition_index, error_code=code
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _fetch_refusal(
    request: OffsetFetchRequest, version: int, code: ErrorCode
) -> OffsetFetchResponse:
    if version >= _FETCH_GROUPS_SINCE:
        return OffsetFetchResponse(
            groups=[
                OffsetFetchResponseGroup(group_id=group.group_id, error_code=code)
                for group in request.groups
            ]
        )
    if version >= _TOP_LEVEL_FETCH_ERROR_SINCE:
        return OffsetFetchResponse(error_code=code)
    return OffsetFetchResponse(
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=index, committed_offset=-1, error_code=code
                    )
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics or []
        ]
    )
