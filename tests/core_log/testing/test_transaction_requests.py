"""Transactional requests can be encoded in their versions; a reader sees what was committed."""

import pytest

from headwater.core_log.kernel.effects import Sender
from headwater.core_log.protocol.apis import API_BY_KEY, encode_request
from headwater.core_log.protocol.messages.fetch import AbortedTransaction
from headwater.core_log.protocol.schema import Message
from headwater.core_log.records.control import ControlType, EndTxnMarker, build_end_txn_batch
from headwater.core_log.records.record import NewRecord, build_batch
from headwater.core_log.testing import requests
from headwater.core_log.testing.transaction_requests import (
    VERSIONS_OF,
    add_offsets,
    add_partitions,
    commit_offsets_in_transaction,
    committed_records,
    end_transaction,
    init_producer,
)

ME = Sender(producer_id=7, producer_epoch=3)
REQUESTS: tuple[Message, ...] = (
    init_producer("tx", known=ME),
    add_partitions("tx", ME, {"a": [0, 1]}),
    add_offsets("tx", ME, "g"),
    requests.produce("a", bytes(16), {0: b""}, transactional_id="tx"),
    commit_offsets_in_transaction("tx", ME, "g", "a", {0: 5}),
    end_transaction("tx", ME, commit=True),
)


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: type(request).__name__)
def test_each_version_of_a_transaction_version_takes_the_request(request_: Message) -> None:
    for first, last in VERSIONS_OF[type(request_)].values():
        for version in range(first, last + 1):
            assert encode_request(API_BY_KEY[request_.API_KEY], version, 1, "c", request_)


def data(offset: int, producer_id: int, value: str) -> bytearray:
    return build_batch(
        [NewRecord(timestamp_ms=1, key=None, value=value.encode())],
        base_offset=offset,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=offset,
        is_transactional=producer_id >= 0,
    )


def marker(offset: int, producer_id: int, kind: ControlType) -> bytearray:
    return build_end_txn_batch(
        EndTxnMarker(type=kind, coordinator_epoch=0),
        producer_id=producer_id,
        producer_epoch=0,
        timestamp_ms=1,
        base_offset=offset,
    )


def test_a_reader_leaves_out_what_the_list_says_was_aborted() -> None:
    """From the first offset of an aborted transaction to its marker, and nobody else's records."""
    log = b"".join(
        (
            data(0, 7, "committed"),
            marker(1, 7, ControlType.COMMIT),
            data(2, 7, "aborted"),
            data(3, 8, "beside"),
            data(4, -1, "plain"),
            data(5, 7, "aborted too"),
            marker(6, 7, ControlType.ABORT),
            data(7, 7, "again"),
            marker(8, 8, ControlType.COMMIT),
        )
    )
    aborted = [AbortedTransaction(producer_id=7, first_offset=2)]
    seen = [bytes(record.value or b"").decode() for record in committed_records(log, aborted)]
    assert seen == ["committed", "beside", "plain", "again"]
    begun_before = b"".join((data(5, 7, "x"), marker(6, 7, ControlType.ABORT)))
    assert list(committed_records(begun_before, aborted)) == []
    assert list(committed_records(None, None)) == []
