"""What writers refuse, and the small choices of what they write."""

import pytest

from headwater.core_log.protocol.codec import encode
from headwater.core_log.protocol.coordinator.consumer_group_member_metadata import (
    ClassicMemberMetadata,
    ConsumerGroupMemberMetadataValue,
)
from headwater.core_log.protocol.errors import EncodeError
from headwater.core_log.protocol.messages.api_versions import ApiVersionsResponse
from headwater.core_log.protocol.messages.create_partitions import CreatePartitionsRequest
from headwater.core_log.protocol.messages.delete_topics import DeleteTopicsRequest
from headwater.core_log.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
)
from headwater.core_log.protocol.messages.fetch import FetchRequest, ReplicaState
from headwater.core_log.protocol.messages.list_groups import ListGroupsRequest
from headwater.core_log.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from headwater.core_log.protocol.messages.offset_fetch import OffsetFetchRequest
from headwater.core_log.protocol.metadata.partition_change_record import PartitionChangeRecord
from headwater.core_log.protocol.schema import Message
from headwater.core_log.protocol.write_compiler import writer_source

REFUSED: list[tuple[Message, int, str]] = [
    (
        MetadataRequest(include_topic_authorized_operations=True),
        7,
        "MetadataRequest v7 include_topic_authorized_operations does not exist in version",
    ),
    (
        MetadataRequest(allow_auto_topic_creation=False),
        3,
        "MetadataRequest v3 allow_auto_topic_creation does not exist in version",
    ),
    (
        FetchRequest(replica_state=ReplicaState(replica_id=1)),
        14,
        "FetchRequest v14 replica_state does not exist in version",
    ),
    (MetadataRequest(topics=None), 0, "MetadataRequest v0 topics[] object of type 'NoneType'"),
    (
        MetadataRequest(topics=[MetadataRequestTopic(name=None)]),
        9,
        "MetadataRequest v9 topics[].name 'NoneType' object has no attribute 'encode'",
    ),
    (
        MetadataRequest(topics=[MetadataRequestTopic(topic_id=b"short", name=None)]),
        12,
        "MetadataRequest v12 topics[].topic_id is not 16 bytes",
    ),
    (
        DeleteTopicsRequest(topic_names=["a"], timeout_ms=2**31),
        1,
        "DeleteTopicsRequest v1 timeout_ms",
    ),
    (
        ListGroupsRequest(states_filter=["a" * 32768]),
        4,
        "ListGroupsRequest v4 states_filter[] is l",
    ),
    (DeleteTopicsRequest(topic_names=["a" * 32768]), 1, "DeleteTopicsRequest v1 topic_names[]"),
    (DeleteTopicsRequest(topic_names=["\ud800"]), 1, "DeleteTopicsRequest v1 topic_names[]"),
    (
        MetadataResponse(
            topics=[
                MetadataResponseTopic(partitions=[MetadataResponsePartition(isr_nodes=[2**31])])
            ]
        ),
        12,
        "MetadataResponse v12 topics[].partitions[].isr_nodes[]",
    ),
    (ListGroupsRequest(), 6, "ListGroupsRequest v6 is not one of versions 0-5"),
]


@pytest.mark.parametrize(("message", "version", "said"), REFUSED, ids=[r[2] for r in REFUSED])
def test_a_refusal_names_the_field(message: Message, version: int, said: str) -> None:
    """Our own mistakes are found where they are made."""
    with pytest.raises(EncodeError) as caught:
        encode(message, version)
    assert str(caught.value).startswith(said)


def test_an_ignorable_field_is_left_out_of_versions_that_lack_it() -> None:
    """A throttle time that nobody can read does no harm."""
    assert encode(ApiVersionsResponse(throttle_time_ms=5), 0) == bytes(6)
    assert encode(ApiVersionsResponse(throttle_time_ms=5), 1) == bytes(6) + b"\0\0\0\5"


def test_a_field_at_its_default_is_no_loss() -> None:
    """Fields that do not exist yet do not stand in the way while nobody sets them."""
    assert encode(MetadataRequest(), 0) == bytes(4)
    assert encode(OffsetFetchRequest(group_id="g", topics=[]), 1) == b"\0\1g" + bytes(4)


def test_a_tagged_field_at_its_default_is_not_written() -> None:
    """Kafka leaves it out, so bytes stay the same."""
    assert encode(PartitionChangeRecord(topic_id=b"t" * 16), 2) == b"\xff" * 4 + b"t" * 16 + b"\0"


def test_tagged_fields_are_written_in_order_of_their_tags() -> None:
    """Whatever their order in the class: directories have tag 8 and stand before 6 and 7."""
    record = PartitionChangeRecord(
        partition_id=0, directories=[], last_known_elr=[], leader=1, eligible_leader_replicas=[2]
    )
    tags = encode(record, 2)[20:]
    assert tags == bytes.fromhex("04 01 04 00000001 06 05 02 00000002 07 01 01 08 01 01")


def test_an_array_at_null_is_set_when_its_default_is_null_too() -> None:
    """Null is *unchanged* there; empty is a value."""
    assert encode(PartitionChangeRecord(isr=None), 0)[20:] == b"\0"
    assert encode(PartitionChangeRecord(isr=[]), 0)[20:] == bytes.fromhex("01 00 01 01")


def test_a_nullable_struct_is_marked() -> None:
    """One byte before it: -1 for null, 1 for present."""
    assert encode(DescribeTopicPartitionsRequest(cursor=None), 0)[-2:] == b"\xff\0"
    marked = encode(DescribeTopicPartitionsRequest(cursor=Cursor(topic_name="a")), 0)
    assert marked[-9:] == b"\1\2a" + bytes(4) + b"\0\0"


def test_a_tagged_nullable_struct_is_marked_with_zero_or_one() -> None:
    """Not with -1, as elsewhere: Kafka writes a varint there. Its default is an empty struct."""
    version = 0
    default = encode(ConsumerGroupMemberMetadataValue(), version)
    null = encode(ConsumerGroupMemberMetadataValue(classic_member_metadata=None), version)
    there = encode(
        ConsumerGroupMemberMetadataValue(
            classic_member_metadata=ClassicMemberMetadata(session_timeout_ms=9)
        ),
        version,
    )
    assert default.endswith(b"\0")
    assert null == default[:-1] + bytes.fromhex("01 00 01 00")
    assert there == default[:-1] + bytes.fromhex("01 00 07 01 00000009 01 00")


@pytest.mark.parametrize("count", [0, 7, 8, 126, 127, 128])
def test_integer_arrays_of_any_length_are_written(count: int) -> None:
    """Short ones by a prepared struct, long ones by one made for them."""
    partition = MetadataResponsePartition(replica_nodes=list(range(count)))
    message = MetadataResponse(topics=[MetadataResponseTopic(partitions=[partition])])
    numbers = b"".join(number.to_bytes(4, "big") for number in range(count))
    assert (count.to_bytes(4, "big") + numbers) in encode(message, 4)
    assert numbers in encode(message, 9)


def test_null_is_written_where_it_is_allowed() -> None:
    """Old form and compact."""
    assert encode(MetadataRequest(topics=None), 1) == b"\xff" * 4
    assert encode(MetadataRequest(topics=None), 9)[0] == 0
    request = CreatePartitionsRequest(topics=[], timeout_ms=1, validate_only=True)
    assert encode(request, 2) == b"\1" + b"\0\0\0\1" + b"\1" + b"\0"


def test_the_source_can_be_read() -> None:
    """Each line knows its field."""
    source = writer_source(ListGroupsRequest, 4)
    assert source.text.startswith("def run(m, out):\n")
    assert len(source.text.splitlines()) == len(source.fields)
