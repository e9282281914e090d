"""Records of __transaction_state, against bytes that Apache Kafka 4.3.0 wrote.

Recorded from one node of Kafka 4.3.0 (``tools/kafka``, transaction.version 2): librdkafka 2.16
committed in t-0 and t-1 and aborted in u-0 as "v1"; Kafka's producer committed in t-1 as "v2", with
transaction version 2; two librdkafka producers followed each other as "fenced", the second while
the first had a transaction open.
"""

import pytest

from headwater.core_log.protocol.coordinator.frames import UnreadableRecordError, batch_bytes
from headwater.core_log.transactions.records import (
    TransactionRecord,
    read_record,
    record_bytes_max,
    tombstone,
    transaction_record,
)
from headwater.core_log.transactions.transaction import Transaction, TransactionState

S = TransactionState

OF_KAFKA = [
    (
        "000000027631",
        "0001000000000000000000000000ea600000000001a200bb4108ffffffffffffffff0100080000000000000000",
    ),
    (
        "000000027631",
        "0001000000000000000000000000ea600102027403000000010000000000000001a200bb4132000001a200bb41320100080000000000000000",
    ),
    (
        "000000027631",
        "0001000000000000000000000000ea600202027403000000010000000000000001a200bb4165000001a200bb41320100080000000000000000",
    ),
    (
        "000000027631",
        "0001000000000000000000000000ea600401000001a200bb416a000001a200bb41320100080000000000000000",
    ),
    (
        "000000027631",
        "0001000000000000000000000000ea6001020275020000000000000001a200bb418c000001a200bb418c0100080000000000000000",
    ),
    (
        "000000027631",
        "0001000000000000000000000000ea6003020275020000000000000001a200bb41a1000001a200bb418c0100080000000000000000",
    ),
    (
        "000000027631",
        "0001000000000000000000000000ea600501000001a200bb41a3000001a200bb418c0100080000000000000000",
    ),
    (
        "000000027632",
        "0001000000000000000100000000ea600000000001a200bb46bfffffffffffffffff0100080000000000000001",
    ),
    (
        "000000027632",
        "0001000000000000000100000000ea6001020274020000000100000001a200bb46f8000001a200bb46f8020008000000000000000102020002",
    ),
    (
        "000000027632",
        "0001000000000000000100010000ea6002020274020000000100000001a200bb4710000001a200bb46f8020008000000000000000102020002",
    ),
    (
        "000000027632",
        "0001000000000000000100010000ea600401000001a200bb4713000001a200bb46f8020008000000000000000102020002",
    ),
    (
        "0000000666656e636564",
        "0001000000000000000200000000ea600000000001a200bb4780ffffffffffffffff0100080000000000000002",
    ),
    (
        "0000000666656e636564",
        "0001000000000000000200000000ea6001020275020000000000000001a200bb4784000001a200bb47840100080000000000000002",
    ),
    (
        "0000000666656e636564",
        "0001000000000000000200010000ea6003020275020000000000000001a200bb47c5000001a200bb4784020008000000000000000202020002",
    ),
    (
        "0000000666656e636564",
        "0001000000000000000200010000ea600501000001a200bb47c7000001a200bb4784020008000000000000000202020002",
    ),
    (
        "0000000666656e636564",
        "0001000000000000000200020000ea600000000001a200bb49bdffffffffffffffff020008000000000000000202020002",
    ),
]
STATES = {
    "v1": "Empty Ongoing PrepareCommit CompleteCommit Ongoing PrepareAbort CompleteAbort",
    "v2": "Empty Ongoing PrepareCommit CompleteCommit",
    "fenced": "Empty Ongoing PrepareAbort CompleteAbort Empty",
}
EPOCHS = {"v1": [0] * 7, "v2": [0, 0, 1, 1], "fenced": [0, 0, 1, 1, 2]}


def read(key: str, value: str) -> Transaction:
    record = read_record(bytes.fromhex(key), bytes.fromhex(value))
    assert record is not None
    assert record.transaction is not None
    assert record.transaction.transactional_id == record.transactional_id
    return record.transaction


@pytest.mark.parametrize(("key", "value"), OF_KAFKA)
def test_what_kafka_wrote_is_written_again_byte_for_byte(key: str, value: str) -> None:
    """So each side reads what the other one keeps."""
    record = transaction_record(read(key, value), feature_level=2)
    assert record == (bytes.fromhex(key), bytes.fromhex(value))


def test_what_kafka_wrote_is_understood() -> None:
    """States, epochs and clients' versions as they were."""
    transactions = [read(*record) for record in OF_KAFKA]
    for name, states in STATES.items():
        of_name = [one for one in transactions if one.transactional_id == name]
        assert " ".join(one.state.value for one in of_name) == states
        assert [one.producer_epoch for one in of_name] == EPOCHS[name]
    prepared = transactions[2]
    assert set(prepared.partitions) == {("t", 0), ("t", 1)}
    assert prepared.awaiting_markers == prepared.partitions
    assert (prepared.start_ms, prepared.update_ms) == (1795308601650, 1795308601701)
    assert prepared.timeout_ms == 60_000
    by_version = {one.client_version for one in transactions if one.transactional_id == "v1"}
    assert by_version == {0}
    assert transactions[9].client_version == 2
    assert transactions[13].client_version == 2  # the cluster's: no client asked for the abort
    assert transactions[0].start_ms == -1


def a_transaction() -> Transaction:
    one = Transaction("x", producer_id=5, timeout_ms=1_000, now_ms=30)
    one.previous_producer_id, one.producer_epoch, one.start_ms = 4, 7, 20
    one.state = S.ONGOING
    one.partitions = {("t", 1): None, ("u", 0): None, ("t", 0): None}
    return one


def test_before_version_1_of_the_feature_records_are_plain() -> None:
    """A broker that reads them may know nothing of tagged fields."""
    key, value = transaction_record(a_transaction(), feature_level=0)
    assert value is not None
    assert value.hex() == (
        "0000" "0000000000000005" "0007" "000003e8" "01"
        "00000002" "000174" "00000002" "00000001" "00000000" "000175" "00000001" "00000000"
        "000000000000001e" "0000000000000014"
    )  # fmt: skip
    again = read(key.hex(), value.hex())
    assert (again.producer_id, again.previous_producer_id, again.client_version) == (5, -1, 0)
    assert again.partitions == a_transaction().partitions


@pytest.mark.parametrize(("name", "value"), [("client_version", 2), ("next_producer_id", 9)])
def test_what_a_plain_record_cannot_say_is_not_lost(name: str, value: int) -> None:
    """The feature may be lowered while such a transaction ends."""
    one = a_transaction()
    setattr(one, name, value)
    key, data = transaction_record(one, feature_level=0)
    assert data is not None
    assert data[:2] == b"\0\1"
    assert getattr(read(key.hex(), data.hex()), name) == value


def test_level_1_has_tagged_fields() -> None:
    """KIP-890 gave the first level to the format alone."""
    _, data = transaction_record(a_transaction(), feature_level=1)
    assert data is not None
    assert data[:2] == b"\0\1"


@pytest.mark.parametrize("topics", [0, 1, 200])
@pytest.mark.parametrize("level", [0, 2])
def test_a_record_is_never_larger_than_its_bound(topics: int, level: int) -> None:
    """Nor much smaller."""
    one = a_transaction()
    one.previous_producer_id, one.client_version = 2**62, 2 if level else 0
    one.next_producer_id = 2**62 if level else -1
    one.partitions = {(f"topic-{n}", p): None for n in range(topics) for p in range(3)}
    size = batch_bytes([transaction_record(one, feature_level=level)])
    assert size <= record_bytes_max("x", one.partitions) <= size + 40 + 5 * topics


def test_a_tombstone_deletes_an_id() -> None:
    """An id of the same key, without a value."""
    assert tombstone("v1") == (bytes.fromhex(OF_KAFKA[0][0]), None)
    assert read_record(*tombstone("v1")) == TransactionRecord(
        transactional_id="v1", transaction=None
    )


def test_other_types_of_records_are_left_alone() -> None:
    """A newer Kafka may have them."""
    assert read_record(b"\0\1whatever", b"\0\0") is None


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("00", "0000", "needs 2 bytes"),
        ("0000000576", None, "TransactionLogKey"),
        ("000000017800", None, "ends 1 bytes before"),
        ("0000000178", "0002", "version 2 is not known"),
        ("0000000178", "0001" + "00" * 5, "TransactionLogValue"),
        ("0000000178", OF_KAFKA[0][1].replace("ea6000", "ea6006"), "has status 6"),
        ("0000000178", OF_KAFKA[0][1].replace("ea6000", "ea6007"), "has status 7"),
    ],
)
def test_a_broken_record_says_so(key: str, value: str | None, reason: str) -> None:
    """A partition with a hole in it must not be served as if it were whole."""
    with pytest.raises(UnreadableRecordError, match=reason) as caught:
        read_record(bytes.fromhex(key), None if value is None else bytes.fromhex(value))
    assert "__transaction_state" in str(caught.value)
    assert caught.value.key == bytes.fromhex(key)
