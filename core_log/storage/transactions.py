"""The transaction index file of one segment: loaded when asked for, written with the batches.

Unlike the other indexes it is flushed with the log: nobody scans a segment to answer a fetch.
"""

from typing import final

from ..kernel.ports import File
from .aborted import ENTRY_BYTES, AbortedTransaction, TransactionIndexCorrupt, decode_aborted
from .errors import LogDamaged
from .volume import Volume


@final
class TransactionIndex:
    """The ``.txnindex`` of one segment; most have no entry and no file."""

    __slots__ = ("_entries", "_path", "_pending_count", "_volume")

    def __init__(self, volume: Volume, path: str, *, is_new: bool) -> None:
        self._volume = volume
        self._path = path
        self._entries: list[AbortedTransaction] | None = [] if is_new else None
        self._pending_count = 0

    @property
    def entries(self) -> list[AbortedTransaction]:
        """All entries, queued ones included. Raises LogDamaged, OSError."""
        if self._entries is None:
            try:
                self._entries = decode_aborted(self._volume.read_all(self._path) or b"")
            except TransactionIndexCorrupt as error:
                raise LogDamaged(self._path, offset=0, reason=error.reason) from error
        return self._entries

    def append(self, entry: AbortedTransaction) -> None:
        """Queue an entry; write() puts it into the file."""
        self.entries.append(entry)
        self._pending_count += 1

    def write(self) -> None:
        """Put what is queued into the file, if anything is. Raises OSError."""
        if self._pending_count:
            entries = self.entries
            start = len(entries) - self._pending_count
            file = self._volume.file(self._path) if start else self._volume.create(self._path)
            data = b"".join(entry.encode() for entry in entries[start:])
            file.write_at([data], start * ENTRY_BYTES)
            self._pending_count = 0

    def reset(self, entries: list[AbortedTransaction]) -> None:
        """Replace all entries, in the file too and synced there. Raises OSError.

        What was taken out must not come back: nobody looks at a full segment's index again.
        """
        self._entries = entries
        self._pending_count = 0
        if self._volume.fs.size(self._path) is not None or entries:
            file = self._volume.create(self._path)
            file.write_at([entry.encode() for entry in entries], 0)
            file.sync()

    def drop_pending(self) -> None:
        """Forget what is queued, and what a failed write left of it in the file. Raises OSError."""
        if self._pending_count:
            entries = self.entries
            del entries[-self._pending_count :]
            self._pending_count = 0
            if self._volume.fs.size(self._path) is not None:
                self._volume.file(self._path).truncate(len(entries) * ENTRY_BYTES)

    def unload(self) -> None:
        """Let go of the entries if the file has them all."""
        if not self._pending_count:
            self._entries = None

    def file(self) -> File | None:
        """The file, for a flush; None when there is none. Raises OSError."""
        if self._entries == [] or self._volume.fs.size(self._path) is None:
            return None
        return self._volume.file(self._path)
