"""The transaction index finds every aborted transaction that a fetch may meet."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.storage.aborted import (
    ENTRY_BYTES,
    AbortedTransaction,
    TransactionIndexCorrupt,
    collect_aborted,
    decode_aborted,
)

KAFKA_FILE = Path(__file__).parent / "data" / "kafka-4.3.txnindex"
KAFKA_ENTRIES = [
    AbortedTransaction(producer_id=78, first_offset=9, last_offset=13, last_stable_offset=14),
    AbortedTransaction(producer_id=80, first_offset=10, last_offset=20, last_stable_offset=15),
]


# A log is a list: an offset holds a producer's record, or the marker that aborts what it has open.
logs = st.lists(st.tuples(st.integers(1, 3), st.booleans()), max_size=12)


def index_of(log: list[tuple[int, bool]]) -> list[AbortedTransaction]:
    """The transaction index of that log, by keeping a dict of what is open."""
    entries: list[AbortedTransaction] = []
    opened: dict[int, int] = {}
    for offset, (producer_id, is_marker) in enumerate(log):
        if not is_marker or producer_id not in opened:
            opened.setdefault(producer_id, offset)
            continue
        first_offset = opened.pop(producer_id)
        entries.append(
            AbortedTransaction(
                producer_id=producer_id,
                first_offset=first_offset,
                last_offset=offset,
                last_stable_offset=min(opened.values(), default=offset + 1),
            )
        )
    return entries


def test_a_file_written_by_kafka_is_read_and_written() -> None:
    """The 34 bytes of an entry are Kafka's."""
    data = KAFKA_FILE.read_bytes()

    assert decode_aborted(data) == KAFKA_ENTRIES
    assert b"".join(entry.encode() for entry in KAFKA_ENTRIES) == data
    assert len(data) == 2 * ENTRY_BYTES


@given(log=logs)
def test_entries_come_back(log: list[tuple[int, bool]]) -> None:
    """A file of any number of entries is the entries."""
    entries = index_of(log)

    assert decode_aborted(b"".join(entry.encode() for entry in entries)) == entries


@given(log=logs, data=st.data())
def test_a_fetch_learns_every_transaction_in_its_range(
    log: list[tuple[int, bool]], data: st.DataObject
) -> None:
    """Whatever overlaps the range is found, and a search that ends early misses nothing."""
    entries = index_of(log)
    end = data.draw(st.integers(1, len(log) + 1), label="end")
    start = data.draw(st.integers(0, end - 1), label="start")

    found, is_complete = collect_aborted(entries, start_offset=start, end_offset=end)

    assert found == [e for e in entries if e.last_offset >= start and e.first_offset < end]
    assert is_complete == any(e.last_stable_offset >= end for e in entries)


def test_a_search_ends_where_everything_was_decided() -> None:
    """Later segments are not opened once no earlier transaction can end in them."""
    assert collect_aborted(KAFKA_ENTRIES, start_offset=0, end_offset=14) == (
        KAFKA_ENTRIES[:1],
        True,
    )
    assert collect_aborted(KAFKA_ENTRIES, start_offset=0, end_offset=15) == (KAFKA_ENTRIES, True)
    assert collect_aborted(KAFKA_ENTRIES, start_offset=0, end_offset=16) == (KAFKA_ENTRIES, False)
    assert collect_aborted([], start_offset=0, end_offset=1) == ([], False)


ENTRY = KAFKA_ENTRIES[0].encode()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (ENTRY[:-1], "no whole number"),
        (ENTRY + b"\x00", "no whole number"),
        (b"\x00\x01" + ENTRY[2:], "entry 0 has version 1"),
        (ENTRY + ENTRY, "entry 1 ends at offset 13"),
        (ENTRY[:10] + (14).to_bytes(8, "big") + ENTRY[18:], "from offset 14 to 13"),
        (ENTRY[:10] + b"\xff" * 8 + ENTRY[18:], "from offset -1"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(data: bytes, reason: str) -> None:
    """Cut, unknown, out of order, or backwards: the index is to be rebuilt."""
    with pytest.raises(TransactionIndexCorrupt, match=reason):
        decode_aborted(data)
