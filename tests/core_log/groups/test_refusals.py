"""One error for a whole request."""

import pytest

from headwater.core_log.groups.refusals import (
    GroupRequest,
    after_failed_append,
    refusal,
    while_loading,
)
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.codec import encode
from headwater.core_log.protocol.messages.delete_groups import DeleteGroupsRequest
from headwater.core_log.protocol.messages.describe_groups import DescribeGroupsRequest
from headwater.core_log.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from headwater.core_log.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from headwater.core_log.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from headwater.core_log.protocol.messages.list_groups import ListGroupsRequest
from headwater.core_log.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from headwater.core_log.protocol.messages.offset_delete import OffsetDeleteRequest
from headwater.core_log.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
)
from headwater.core_log.protocol.messages.sync_group import SyncGroupRequest
from headwater.core_log.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from headwater.core_log.protocol.schema import Message

VERSIONS = {
    JoinGroupRequest: range(10),
    SyncGroupRequest: range(6),
    HeartbeatRequest: range(5),
    LeaveGroupRequest: range(6),
    OffsetCommitRequest: range(2, 11),
    TxnOffsetCommitRequest: range(6),
    OffsetFetchRequest: range(1, 11),
    OffsetDeleteRequest: range(1),
    DescribeGroupsRequest: range(7),
    ListGroupsRequest: range(6),
    DeleteGroupsRequest: range(3),
}
REQUESTS: list[GroupRequest] = [
    JoinGroupRequest(group_id="g", member_id="m"),
    SyncGroupRequest(group_id="g"),
    HeartbeatRequest(group_id="g"),
    LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id="m")]),
    OffsetCommitRequest(
        group_id="g",
        topics=[
            OffsetCommitRequestTopic(
                name="t", partitions=[OffsetCommitRequestPartition(partition_index=3)]
            )
        ],
    ),
    TxnOffsetCommitRequest(
        group_id="g",
        topics=[
            TxnOffsetCommitRequestTopic(
                name="t", partitions=[TxnOffsetCommitRequestPartition(partition_index=3)]
            )
        ],
    ),
    OffsetFetchRequest(
        group_id="g",
        topics=[OffsetFetchRequestTopic(name="t", partition_indexes=[3])],
        groups=[OffsetFetchRequestGroup(group_id="g")],
    ),
    OffsetDeleteRequest(group_id="g"),
    DescribeGroupsRequest(groups=["g"]),
    ListGroupsRequest(),
    DeleteGroupsRequest(groups_names=["g"]),
]


def codes_in(message: object) -> set[int]:
    """Every error code in the message, whatever level it stands on."""
    found = {code} if (code := getattr(message, "error_code", 0)) else set()
    for name in getattr(message, "__struct_fields__", ()):
        value = getattr(message, name)
        if isinstance(value, list):
            found.update(*map(codes_in, value))
    return found


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda r: type(r).__name__)
@pytest.mark.parametrize("code", [ErrorCode.NOT_COORDINATOR, ErrorCode.UNKNOWN_MEMBER_ID])
def test_every_request_can_be_refused_in_every_version(
    request_: GroupRequest, code: ErrorCode
) -> None:
    """The response can be written, and says the code and nothing else."""
    for version in VERSIONS[type(request_)]:
        response = refusal(request_, version=version, code=code)
        assert isinstance(response, Message)
        assert encode(response, version)
        assert codes_in(response) == {code}


@pytest.mark.parametrize("version", [6, 7])
def test_a_refused_join_names_no_protocol(version: int) -> None:
    """Before version 7 it cannot say so by null."""
    response = refusal(REQUESTS[0], version=version, code=ErrorCode.NOT_COORDINATOR)
    assert isinstance(response, JoinGroupResponse)
    assert response.protocol_name == (None if version >= 7 else "")
    assert (response.member_id, response.generation_id) == ("m", -1)


@pytest.mark.parametrize(
    ("failed", "told"),
    [
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
    ],
)
def test_what_a_failed_append_means_to_a_group(failed: ErrorCode, told: ErrorCode) -> None:
    """Its client knows nothing of partitions and replicas."""
    response = after_failed_append(HeartbeatRequest(), version=4, code=failed)
    assert response == HeartbeatResponse(error_code=told)


def test_while_loading_nobody_loses_its_member() -> None:
    """A heartbeat is welcome, everything else has to wait."""
    for request in REQUESTS:
        code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        response = while_loading(request, version=VERSIONS[type(request)][-1])
        assert codes_in(response) == (set() if isinstance(request, HeartbeatRequest) else {code})


@pytest.mark.parametrize("version", range(6))
def test_old_producers_do_not_hear_of_loading(version: int) -> None:
    """Those before 2.0 die of it."""
    (request,) = (r for r in REQUESTS if isinstance(r, TxnOffsetCommitRequest))
    told = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    if version < 2:
        told = ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert codes_in(while_loading(request, version=version)) == {told}
