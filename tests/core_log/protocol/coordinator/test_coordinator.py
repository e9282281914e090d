"""The two bytes before keys, values and what clients put into groups."""

import pytest

from headwater.core_log.protocol.coordinator import (
    GROUP_RECORDS,
    SHARE_RECORDS,
    TRANSACTION_RECORDS,
    decode_consumer_protocol,
    decode_group_key,
    decode_transaction_key,
    decode_versioned,
    encode_key,
    encode_versioned,
    group_value_class,
)
from headwater.core_log.protocol.coordinator.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
    TopicPartition,
)
from headwater.core_log.protocol.coordinator.control_record_type_schema import (
    ControlRecordTypeSchema,
)
from headwater.core_log.protocol.coordinator.end_txn_marker import EndTxnMarker
from headwater.core_log.protocol.coordinator.group_metadata import (
    GroupMetadataKey,
    GroupMetadataValue,
)
from headwater.core_log.protocol.coordinator.legacy_offset_commit import LegacyOffsetCommitKey
from headwater.core_log.protocol.coordinator.offset_commit import (
    OffsetCommitKey,
    OffsetCommitValue,
)
from headwater.core_log.protocol.coordinator.transaction_log import TransactionLogKey
from headwater.core_log.protocol.errors import DecodeError
from headwater.core_log.protocol.schema import Message
from headwater.core_log.testing.messages import message_classes


def test_every_key_has_its_type_in_a_table() -> None:
    """Group, transaction and share coordinators have tables of their own."""
    keys = {
        (cls.__module__.rpartition(".")[2], cls.API_KEY)
        for cls in message_classes()
        if ".coordinator." in cls.__module__ and cls.API_KEY >= 0
    }
    tables = (GROUP_RECORDS, TRANSACTION_RECORDS, SHARE_RECORDS)
    assert keys == {(module, key) for table in tables for key, module in table.items()}


@pytest.mark.parametrize("key_type", GROUP_RECORDS)
def test_a_group_key_comes_back(key_type: int) -> None:
    """Its class is found by its type; so is the class of the value beside it."""
    value_class = group_value_class(key_type)
    assert key_type == value_class.API_KEY
    data = key_type.to_bytes(2, "big") + bytes(100)
    with pytest.raises(DecodeError, match="is followed by"):
        decode_group_key(data)
    for version in range(value_class.VERSIONS.last + 1):
        value = value_class()
        assert decode_versioned(value_class, encode_versioned(value, version)) == value


def test_the_bytes_of_a_committed_offset_are_kafkas() -> None:
    """As ``__consumer_offsets`` has held them for ten years."""
    key = OffsetCommitKey(group="g", topic="t", partition=3)
    value = OffsetCommitValue(offset=5, leader_epoch=1, metadata="m", commit_timestamp=9)
    assert encode_key(key) == bytes.fromhex("0001 0001 67 0001 74 00000003")
    assert encode_versioned(value, 3) == bytes.fromhex(
        "0003 0000000000000005 00000001 0001 6d 0000000000000009"
    )
    assert decode_group_key(encode_key(key)) == key


@pytest.mark.parametrize(
    "key",
    [LegacyOffsetCommitKey(group="g"), OffsetCommitKey(group="g"), GroupMetadataKey(group="g")],
)
def test_a_key_says_what_it_is(key: Message) -> None:
    """By its first two bytes alone."""
    assert decode_group_key(encode_key(key)) == key


def test_a_key_of_an_unknown_type_is_nobodys() -> None:
    """A newer Kafka wrote it; it is left alone."""
    assert decode_group_key(b"\0\x63whatever") is None
    assert decode_group_key(b"\0\x09") is None
    assert decode_transaction_key(b"\0\1") is None


def test_a_transaction_key_comes_back() -> None:
    """From its own table."""
    key = TransactionLogKey(transactional_id="t")
    assert encode_key(key) == b"\0\0\0\1t"
    assert decode_transaction_key(encode_key(key)) == key


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\1", b"\0\1\0\1g", b"\0\1\xff\xff"])
def test_a_key_that_is_not_well_formed_is_refused(data: bytes) -> None:
    """Of a type that is known, or too short to have one."""
    with pytest.raises(DecodeError):
        decode_group_key(data)


def test_a_value_of_an_unknown_version_is_refused() -> None:
    """What it adds may matter."""
    with pytest.raises(DecodeError, match="GroupMetadataValue v5 is not one of versions 0-4"):
        decode_versioned(GroupMetadataValue, b"\0\5" + bytes(50))


def test_a_commit_marker_is_kafkas() -> None:
    """Key and value of the control record that ends a transaction."""
    assert encode_versioned(ControlRecordTypeSchema(type=1), 0) == bytes.fromhex("0000 0001")
    assert encode_versioned(EndTxnMarker(coordinator_epoch=7), 0) == bytes.fromhex("0000 00000007")


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_a_subscription_comes_back(version: int) -> None:
    """In each of its versions."""
    wish = ConsumerProtocolSubscription(topics=["a", "b"], user_data=b"u")
    if version >= 1:
        wish.owned_partitions = [TopicPartition(topic="a", partitions=[1])]
    data = encode_versioned(wish, version)
    assert decode_consumer_protocol(ConsumerProtocolSubscription, data) == wish


def test_a_newer_subscription_is_read_as_far_as_it_is_known() -> None:
    """The version above ours begins like ours and has more behind it."""
    wish = ConsumerProtocolSubscription(topics=["a"], rack_id="r")
    newer = b"\0\x09" + encode_versioned(wish, 3)[2:] + b"more"
    assert decode_consumer_protocol(ConsumerProtocolSubscription, newer) == wish


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0\0\0", b"\xff\xff\0\0\0\0", b"range"])
def test_other_bytes_are_no_subscription(data: bytes) -> None:
    """Connect workers and custom clients put theirs in the same place."""
    with pytest.raises(DecodeError):
        decode_consumer_protocol(ConsumerProtocolSubscription, data)
