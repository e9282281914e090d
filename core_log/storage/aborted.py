"""The transaction index: which transactions of a segment were aborted, and where (KIP-98).

Pure; the caller keeps the ``.txnindex`` file. One entry per abort marker, appended in the order
of the markers, 34 bytes, big-endian::

    0   2  version             0
    2   8  producer_id
    10  8  first_offset        the transaction's first record
    18  8  last_offset         its abort marker
    26  8  last_stable_offset  after the marker: the first offset still undecided then
"""

from collections.abc import Iterable
from dataclasses import dataclass
from struct import Struct
from typing import Final

from ..kernel.ports import Buffer

ENTRY_BYTES: Final = 34
VERSION: Final = 0

_ENTRY: Final = Struct(">hqqqq")


class TransactionIndexCorrupt(ValueError):
    """``reason`` says which bytes of a ``.txnindex`` make no sense; it can be rebuilt."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason: Final = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortedTransaction:
    """One aborted transaction; both offsets belong to it."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int

    def encode(self) -> bytes:
        """The 34 bytes of its index entry."""
        return _ENTRY.pack(
            VERSION,
            self.producer_id,
            self.first_offset,
            self.last_offset,
            self.last_stable_offset,
        )


def decode_aborted(data: Buffer) -> list[AbortedTransaction]:
    """All entries of a transaction index file, in its order.

    Raises TransactionIndexCorrupt for a cut entry, an unknown version, or markers out of order.
    """
    if len(data) % ENTRY_BYTES:
        raise TransactionIndexCorrupt(
            f"{len(data)} bytes are no whole number of entries of {ENTRY_BYTES} bytes"
        )
    entries: list[AbortedTransaction] = []
    for index, fields in enumerate(_ENTRY.iter_unpack(data)):
        version, producer_id, first_offset, last_offset, last_stable_offset = fields
        if version != VERSION:
            raise TransactionIndexCorrupt(f"entry {index} has version {version}, not {VERSION}")
        if not 0 <= first_offset <= last_offset:
            raise TransactionIndexCorrupt(
                f"entry {index} reaches from offset {first_offset} to {last_offset}"
            )
        if entries and last_offset <= entries[-1].last_offset:
            raise TransactionIndexCorrupt(
                f"entry {index} ends at offset {last_offset}, "
                f"the entry before it at {entries[-1].last_offset}"
            )
        entries.append(
            AbortedTransaction(
                producer_id=producer_id,
                first_offset=first_offset,
                last_offset=last_offset,
                last_stable_offset=last_stable_offset,
            )
        )
    return entries


def collect_aborted(
    entries: Iterable[AbortedTransaction], *, start_offset: int, end_offset: int
) -> tuple[list[AbortedTransaction], bool]:
    """The aborted transactions with records in [start_offset, end_offset), and whether that is all.

    *entries* is one segment's index. The second value is false when the next segment's index may
    hold more: a transaction that began in the range can end, and be indexed, segments later.
    """
    found: list[AbortedTransaction] = []
    for entry in entries:
        if entry.last_offset >= start_offset and entry.first_offset < end_offset:
            found.append(entry)
        if entry.last_stable_offset >= end_offset:
            return found, True  # everything below it was decided by then
    return found, False
