"""The frame around records of the metadata log."""

import pytest

from headwater.core_log.protocol.errors import DecodeError, EncodeError
from headwater.core_log.protocol.metadata import (
    RECORD_NAMES,
    decode_metadata_record,
    encode_metadata_record,
    record_class,
)
from headwater.core_log.protocol.metadata.config_record import ConfigRecord
from headwater.core_log.protocol.metadata.topic_record import TopicRecord
from headwater.core_log.testing.messages import message_classes


def test_every_record_class_has_its_type_in_the_table() -> None:
    """No class is forgotten, and each stands under its own number."""
    found = {cls for cls in message_classes() if ".metadata." in cls.__module__}
    assert {record_class(key) for key in RECORD_NAMES} == found
    assert all(key == record_class(key).API_KEY for key in RECORD_NAMES)


@pytest.mark.parametrize("key", RECORD_NAMES)
def test_a_record_comes_back_in_every_version(key: int) -> None:
    """The newest unless another is asked for."""
    record = record_class(key)()
    for version in range(record.VERSIONS.last + 1):
        data = encode_metadata_record(record, version)
        assert data[:3] == bytes((1, key, version))
        assert decode_metadata_record(data) == record
    assert encode_metadata_record(record)[2] == record.VERSIONS.last


def test_the_bytes_are_krafts() -> None:
    """Frame version, record type, record version, then the fields."""
    record = TopicRecord(name="foo", topic_id=b"0123456789abcdef")
    assert encode_metadata_record(record).hex(" ") == (
        "01 02 00 04 66 6f 6f 30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66 00"
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("", "metadata record ends inside its frame"),
        ("01", "metadata record ends inside its frame"),
        ("01 02", "metadata record ends inside its frame"),
        ("01 ffffffffffff", "metadata record ends inside its frame"),
        ("00 02 00", "metadata record has the frame version 0, not 1"),
        ("01 06 00", "metadata record has the type 6, which nobody here knows"),
        ("01 02 01", "TopicRecord v1 is not one of versions 0"),
        ("01 02 00 04", "TopicRecord v0 name ends early"),
    ],
)
def test_what_cannot_be_understood_is_refused(data: str, said: str) -> None:
    """To pass over a record would be to forget a piece of the cluster."""
    with pytest.raises(DecodeError) as caught:
        decode_metadata_record(bytes.fromhex(data))
    assert str(caught.value) == said


def test_a_version_that_does_not_exist_is_not_written() -> None:
    """Our own mistake."""
    with pytest.raises(EncodeError):
        encode_metadata_record(ConfigRecord(), 1)
