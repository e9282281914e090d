"""The APIs of groups, each in every version, as one member and one administrator use them."""

import pytest

from headwater.core_log.broker.handlers import HANDLERS
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.delete_groups import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from headwater.core_log.protocol.messages.describe_groups import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from headwater.core_log.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from headwater.core_log.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from headwater.core_log.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from headwater.core_log.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)
from headwater.core_log.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from headwater.core_log.protocol.messages.offset_commit import OffsetCommitResponse
from headwater.core_log.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from headwater.core_log.protocol.messages.offset_fetch import OffsetFetchResponse
from headwater.core_log.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from headwater.core_log.testing import requests

from ..world import TOPIC, World

GROUP = "g"


def versions(key: int) -> range:
    return range(HANDLERS[key].version_min, HANDLERS[key].version_max + 1)


def coordinated() -> World:
    world = World()
    find = FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP])
    world.ask(find, FindCoordinatorResponse, 4)
    return world


def join(world: World, version: int = 9) -> JoinGroupResponse:
    """Enter as the only member, by way of the member id where the version asks for it."""
    request = JoinGroupRequest(
        group_id=GROUP,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"m")],
    )
    response = world.ask(request, JoinGroupResponse, version)
    if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
        request.member_id = response.member_id
        response = world.ask(request, JoinGroupResponse, version)
    assert response.error_code == ErrorCode.NONE
    return response


def sync(world: World, joined: JoinGroupResponse, version: int = 5) -> SyncGroupResponse:
    request = SyncGroupRequest(
        group_id=GROUP,
        generation_id=joined.generation_id,
        member_id=joined.member_id,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[
            SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"assigned")
        ],
    )
    return world.ask(request, SyncGroupResponse, version)


def commit(world: World, offset: int, version: int = 9) -> int:
    request = requests.commit_offset(GROUP, TOPIC, world.topic_id(), {0: offset})
    response = world.ask(request, OffsetCommitResponse, version)
    return response.topics[0].partitions[0].error_code


def fetched(world: World, version: int) -> int:
    request = requests.fetch_offsets(GROUP, TOPIC, [0], version=version, topic_id=world.topic_id())
    response = world.ask(request, OffsetFetchResponse, version)
    found = response.groups[0] if version >= 8 else response
    assert found.error_code == ErrorCode.NONE
    return found.topics[0].partitions[0].committed_offset


@pytest.mark.parametrize("version", versions(11))
def test_the_first_member_leads(version: int) -> None:
    joined = join(coordinated(), version)
    assert (joined.leader, joined.generation_id) == (joined.member_id, 1)
    assert [member.metadata for member in joined.members] == [b"m"]


@pytest.mark.parametrize("version", versions(14))
def test_the_leader_s_assignment_comes_back(version: int) -> None:
    world = coordinated()
    answer = sync(world, join(world), version)
    assert (answer.error_code, answer.assignment) == (ErrorCode.NONE, b"assigned")


@pytest.mark.parametrize("version", versions(12))
def test_a_member_beats_and_a_stranger_does_not(version: int) -> None:
    world = coordinated()
    joined = join(world)
    sync(world, joined)
    beat = HeartbeatRequest(group_id=GROUP, generation_id=1, member_id=joined.member_id)
    assert world.ask(beat, HeartbeatResponse, version).error_code == ErrorCode.NONE
    beat.member_id = "stranger"
    code = world.ask(beat, HeartbeatResponse, version).error_code
    assert code == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("version", versions(13))
def test_a_member_leaves(version: int) -> None:
    world = coordinated()
    joined = join(world)
    sync(world, joined)
    if version < 3:
        request = LeaveGroupRequest(group_id=GROUP, member_id=joined.member_id)
    else:
        request = LeaveGroupRequest(
            group_id=GROUP, members=[MemberIdentity(member_id=joined.member_id)]
        )
    assert world.ask(request, LeaveGroupResponse, version).error_code == ErrorCode.NONE
    described = world.ask(DescribeGroupsRequest(groups=[GROUP]), DescribeGroupsResponse, 5)
    assert (described.groups[0].group_state, described.groups[0].members) == ("Empty", [])


def test_a_member_that_falls_silent_is_put_out() -> None:
    world = coordinated()
    sync(world, join(world))
    world.broker.advance(10_100)
    described = world.ask(DescribeGroupsRequest(groups=[GROUP]), DescribeGroupsResponse, 5)
    assert described.groups[0].group_state == "Empty"


@pytest.mark.parametrize("version", versions(8))
def test_offsets_are_committed_in_every_version(version: int) -> None:
    world = coordinated()
    assert commit(world, 7, version) == ErrorCode.NONE
    assert fetched(world, 8) == 7


@pytest.mark.parametrize("version", versions(9))
def test_offsets_are_looked_up_in_every_version(version: int) -> None:
    world = coordinated()
    assert fetched(world, version) == -1
    commit(world, 7)
    assert fetched(world, version) == 7


@pytest.mark.parametrize("version", versions(15))
def test_a_group_is_described(version: int) -> None:
    world = coordinated()
    sync(world, join(world))
    request = DescribeGroupsRequest(groups=[GROUP])
    group = world.ask(request, DescribeGroupsResponse, version).groups[0]
    assert (group.error_code, group.group_state) == (ErrorCode.NONE, "Stable")
    assert (group.protocol_type, group.protocol_data) == ("consumer", "range")
    assert group.members[0].member_assignment == b"assigned"
    assert group.members[0].client_host == "/127.0.0.1"


@pytest.mark.parametrize("version", versions(16))
def test_groups_of_all_shards_are_listed(version: int) -> None:
    world = coordinated()
    names = [f"group-{number}" for number in range(6)]
    for name in names:
        request = requests.commit_offset(name, TOPIC, world.topic_id(), {0: 1})
        world.ask(request, OffsetCommitResponse, 9)
    listed = world.ask(ListGroupsRequest(), ListGroupsResponse, version)
    assert sorted(group.group_id for group in listed.groups) == names


@pytest.mark.parametrize("version", versions(42))
def test_empty_groups_are_deleted_with_their_offsets(version: int) -> None:
    world = coordinated()
    commit(world, 7)
    request = DeleteGroupsRequest(groups_names=[GROUP, "unknown"])
    results = world.ask(request, DeleteGroupsResponse, version).results
    codes = {result.group_id: result.error_code for result in results}
    assert codes == {GROUP: ErrorCode.NONE, "unknown": ErrorCode.GROUP_ID_NOT_FOUND}
    assert fetched(world, 8) == -1


def test_single_offsets_are_deleted() -> None:
    world = coordinated()
    commit(world, 7)
    request = OffsetDeleteRequest(
        group_id=GROUP,
        topics=[
            OffsetDeleteRequestTopic(
                name=TOPIC, partitions=[OffsetDeleteRequestPartition(partition_index=0)]
            )
        ],
    )
    answer = world.ask(request, OffsetDeleteResponse, 0)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE
    assert fetched(world, 8) == -1


@pytest.mark.parametrize("version", versions(10))
def test_the_coordinator_is_found_in_every_version(version: int) -> None:
    world = World()
    request = FindCoordinatorRequest(key_type=0, key=GROUP)
    if version >= 4:
        request = FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP])
    answer = world.ask(request, FindCoordinatorResponse, version)
    found = answer.coordinators[0] if version >= 4 else answer
    assert (found.error_code, found.node_id, found.host) == (ErrorCode.NONE, 1, "broker")


def test_a_node_that_does_not_keep_the_group_says_so() -> None:
    """Before the offsets topic exists nobody coordinates anything."""
    assert commit(World(), 7) == ErrorCode.NOT_COORDINATOR
