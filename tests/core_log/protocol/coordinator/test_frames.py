"""The frame around a coordinator's keys and values."""

import pytest

from headwater.core_log.protocol.coordinator.frames import (
    batch_bytes,
    read_body,
    read_prefix,
    with_prefix,
)
from headwater.core_log.protocol.coordinator.transaction_log import TransactionLogKey
from headwater.core_log.protocol.errors import DecodeError
from headwater.core_log.records.record import NewRecord, build_batch

KEY = bytes.fromhex("00000002 7631")


def test_a_key_as_kafka_writes_it() -> None:
    """Two bytes of type, then the body; there and back."""
    assert with_prefix(0, TransactionLogKey(transactional_id="v1"), 0) == KEY
    assert read_prefix(KEY) == 0
    assert read_prefix(b"\1\2rest") == 0x0102
    assert read_body(TransactionLogKey, 0, KEY).transactional_id == "v1"


@pytest.mark.parametrize(
    ("version", "data", "reason"),
    [
        (1, KEY, "version 1 is not known"),
        (0, KEY + b"\0", "ends 1 bytes before its record"),
        (0, KEY[:-1], "TransactionLogKey"),
    ],
)
def test_what_is_broken_says_so(version: int, data: bytes, reason: str) -> None:
    """Too new, too long, too short."""
    with pytest.raises(DecodeError, match=reason):
        read_body(TransactionLogKey, version, data)


@pytest.mark.parametrize("data", [b"", b"\0"])
def test_a_prefix_has_two_bytes(data: bytes) -> None:
    """Fewer are no prefix."""
    with pytest.raises(DecodeError, match="needs 2 bytes"):
        read_prefix(data)


@pytest.mark.parametrize("size", [0, 63, 64, 8_191, 8_192, 1_000_000])
@pytest.mark.parametrize("count", [1, 3])
def test_a_batch_is_never_larger_than_its_bound(size: int, count: int) -> None:
    """Nor much smaller: the bound decides what fits."""
    records: list[tuple[bytes, bytes | None]] = [(KEY, b"x" * size)] * count
    new = [NewRecord(timestamp_ms=2**41, key=key, value=value) for key, value in records]
    built = len(build_batch(new))
    assert built <= batch_bytes(records) <= built + 26 * count
