"""Records of __consumer_offsets, in Kafka's formats, from and to what a shard knows.

A key is ``[2 type][body]`` and a value ``[2 version][body]``, big endian. Types 0 and 1 are
offsets, 2 is a classic group; a value of None deletes what the key names. Types above belong to
groups of other protocols (KIP-848, KIP-932, KIP-1071) and all of them begin with a group id.

We write what Kafka 4.3 writes: offsets as version 4, as version 1 when the client chose their
retention, and groups as version 3.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

from ..kernel.effects import Record
from ..protocol.coordinator.consumer_group_metadata import ConsumerGroupMetadataKey
from ..protocol.coordinator.frames import (
    UnreadableRecordError,
    read_body,
    read_prefix,
    with_prefix,
)
from ..protocol.coordinator.group_metadata import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
)
from ..protocol.coordinator.legacy_offset_commit import LegacyOffsetCommitKey
from ..protocol.coordinator.offset_commit import OffsetCommitKey, OffsetCommitValue
from ..protocol.coordinator.share_group_metadata import ShareGroupMetadataKey
from ..protocol.coordinator.streams_group_metadata import StreamsGroupMetadataKey
from ..protocol.errors import DecodeError
from .classic import ClassicGroup, ClassicGroupState
from .committed import CommittedOffset
from .member import ClassicMember, GroupProtocol

_TOPIC: Final = "__consumer_offsets"
_INT64_MAX: Final = 2**63 - 1
_OFFSET_VERSION: Final = 4
_OFFSET_VERSION_WITH_EXPIRY: Final = 1
_GROUP_VERSION: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetRecord:
    """A group's offset in a partition; ``committed`` is None when it was deleted."""

    group_id: str
    topic: str
    partition: int
    committed: CommittedOffset | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRecord:
    """A classic group as it was after its last assignment; ``group`` is None when it is deleted."""

    group_id: str
    group: ClassicGroup | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignGroupRecord:
    """A group of another protocol exists, or is gone."""

    group_id: str
    exists: bool


GroupsRecord: TypeAlias = OffsetRecord | GroupRecord | ForeignGroupRecord

_ForeignKey: TypeAlias = ConsumerGroupMetadataKey | ShareGroupMetadataKey | StreamsGroupMetadataKey
_FOREIGN_KEYS: Final[dict[int, type[_ForeignKey]]] = {
    ConsumerGroupMetadataKey.API_KEY: ConsumerGroupMetadataKey,
    ShareGroupMetadataKey.API_KEY: ShareGroupMetadataKey,
    StreamsGroupMetadataKey.API_KEY: StreamsGroupMetadataKey,
}


def read_record(key: bytes, value: bytes | None) -> GroupsRecord | None:
    """What the record says, None when only groups of other protocols care.

    Raises UnreadableRecordError when one of our own types does not have its layout.
    """
    try:
        return _read_record(key, value)
    except DecodeError as error:
        raise UnreadableRecordError(_TOPIC, key, str(error)) from error


def offset_record(
    group_id: str, topic: str, partition: int, committed: CommittedOffset | None
) -> Record:
    """The record that commits an offset, or deletes it when *committed* is None."""
    key = with_prefix(
        OffsetCommitKey.API_KEY,
        OffsetCommitKey(group=group_id, topic=topic, partition=partition),
        0,
    )
    if committed is None:
        return key, None
    expiry = committed.expire_timestamp_ms
    version = _OFFSET_VERSION if expiry is None else _OFFSET_VERSION_WITH_EXPIRY
    value = OffsetCommitValue(
        offset=committed.offset,
        leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        commit_timestamp=committed.commit_timestamp_ms,
        # A client may ask for any retention; what lies beyond all time is for ever.
        expire_timestamp=-1 if expiry is None else min(expiry, _INT64_MAX),
        topic_id=committed.topic_id,
    )
    return key, with_prefix(version, value, version)


def group_record(group: ClassicGroup) -> Record:
    """The record that keeps *group*: its generation, its members and their assignments.

    Only the protocol in force is kept of what members said. While a group that was created for a
    join has no generation yet it is kept without members.
    """
    protocol = group.protocol_name
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation_id,
        protocol=protocol,
        leader=group.leader_id if protocol is not None else None,
        current_state_timestamp=-1
        if group.state_timestamp_ms is None
        else group.state_timestamp_ms,
        members=[]
        if protocol is None
        else [_write_member(member, protocol) for member in group.members.values()],
    )
    return _group_key(group.group_id), with_prefix(_GROUP_VERSION, value, _GROUP_VERSION)


def group_tombstone(group_id: str) -> Record:
    """The record that deletes a classic group."""
    return _group_key(group_id), None


def _read_record(key: bytes, value: bytes | None) -> GroupsRecord | None:
    kind = read_prefix(key)
    if kind in (LegacyOffsetCommitKey.API_KEY, OffsetCommitKey.API_KEY):
        # Both layouts are one; brokers before 0.9 only counted them differently.
        name = read_body(OffsetCommitKey, 0, key)
        committed = None if value is None else _read_offset(value)
        return OffsetRecord(
            group_id=name.group, topic=name.topic, partition=name.partition, committed=committed
        )
    if kind == GroupMetadataKey.API_KEY:
        group_id = read_body(GroupMetadataKey, 0, key).group
        group = None if value is None else _read_group(group_id, value)
        return GroupRecord(group_id=group_id, group=group)
    foreign = _FOREIGN_KEYS.get(kind)
    if foreign is None:
        return None
    return ForeignGroupRecord(
        group_id=read_body(foreign, 0, key).group_id, exists=value is not None
    )


def _read_offset(data: bytes) -> CommittedOffset:
    value = read_body(OffsetCommitValue, read_prefix(data), data)
    return CommittedOffset(
        offset=value.offset,
        leader_epoch=value.leader_epoch,
        metadata=value.metadata,
        commit_timestamp_ms=value.commit_timestamp,
        expire_timestamp_ms=None if value.expire_timestamp == -1 else value.expire_timestamp,
        topic_id=bytes(value.topic_id),
    )


def _read_group(group_id: str, data: bytes) -> ClassicGroup:
    value = read_body(GroupMetadataValue, read_prefix(data), data)
    timestamp_ms = value.current_state_timestamp
    group = ClassicGroup(group_id, now_ms=None if timestamp_ms == -1 else timestamp_ms)
    group.generation_id = value.generation
    group.protocol_type = value.protocol_type or None
    for stored in value.members:
        if stored.member_id in group.members or stored.group_instance_id in group.static_members:
            raise DecodeError("GroupMetadataValue", f"names the member {stored.member_id!r} twice")
        group.add(_read_member(stored, value.protocol_type, value.protocol or ""))
    if group.members:
        group.state = ClassicGroupState.STABLE  # the record is written with the assignment
        group.protocol_name = value.protocol or ""
        group.leader_id = value.leader if value.leader in group.members else group.leader_id
    group.learn_subscribed_topics()
    return group


def _read_member(stored: MemberMetadata, protocol_type: str, protocol: str) -> ClassicMember:
    timeout_ms = stored.rebalance_timeout
    return ClassicMember(
        member_id=stored.member_id,
        group_instance_id=stored.group_instance_id,
        client_id=stored.client_id,
        client_host=stored.client_host,
        rebalance_timeout_ms=stored.session_timeout if timeout_ms == -1 else timeout_ms,
        session_timeout_ms=stored.session_timeout,
        protocol_type=protocol_type,
        protocols=(GroupProtocol(protocol, bytes(stored.subscription)),),
        assignment=bytes(stored.assignment),
    )


def _write_member(member: ClassicMember, protocol: str) -> MemberMetadata:
    return MemberMetadata(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout=member.rebalance_timeout_ms,
        session_timeout=member.session_timeout_ms,
        subscription=member.metadata(protocol),
        assignment=member.assignment,
    )


def _group_key(group_id: str) -> bytes:
    return with_prefix(GroupMetadataKey.API_KEY, GroupMetadataKey(group=group_id), 0)
