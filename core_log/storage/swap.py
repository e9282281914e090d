"""Putting cleaned segments in the place of the old ones, so that a crash at any moment is harmless.

Synchronous over the file port. The names and their order are those of Kafka's ``replaceSegments``,
so that either system finishes what the other had begun::

    1  00….log.cleaned  ->  00….log.swap    newest segment first; then the directory is synced
    2  00….log          ->  00….log.deleted  oldest first, and per segment the indexes first
    3  00….log.swap     ->  00….log          likewise

While a ``.cleaned`` file is left, step 1 is not complete: everything is thrown away, and the old
segments stand. Without one the swap is decided: whoever opens the log goes on with steps 2 and 3.

One addition. Kafka takes the old segments up to the last offset *in* a cleaned one for replaced;
one whose records all went lies behind that and comes back to life, perhaps without the abort
marker that hid its records. A file says exactly what each segment replaces (other brokers pass it
over)::

    0             version
    2             number of lines that follow
    0 300         a cleaned segment's base offset, and where what it replaces ends
    300 400
    crc 8f3a12bc  CRC-32C of all lines above, with their line ends
"""

import threading
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from enum import Enum
from typing import Final, NamedTuple, final

from crc32c import crc32c

from ..kernel.ports import FileSystem, OpenMode
from ..records.batch import CorruptBatch
from . import names
from .scan import walk_headers
from .volume import NO_SPACE, read_all, write_durably

VERSION: Final = 0

INDEXES_FIRST: Final = (*names.SEGMENT_SUFFIXES[1:], names.LOG)
"""The batches' file goes last: as long as ``.log.swap`` is there its segment is not finished."""


class Replacement(NamedTuple):
    """The cleaned segment at ``base_offset`` stands for all in [base_offset, end_offset)."""

    base_offset: int
    end_offset: int


class _State(Enum):
    WAITING = "waiting"
    CANCELLED = "cancelled"
    DECIDED = "decided"


@final
class SwapJob:
    """Step 1, on any thread. ``settle`` may be called meanwhile from the loop.

    State: WAITING until run() has decided the swap, or somebody cancelled it.
    """

    def __init__(
        self,
        fs: FileSystem,
        path: str,
        replacements: Sequence[Replacement],
        *,
        file_names: Container[str],
    ) -> None:
        """*file_names* are those of the cleaned segments' files, without ``.cleaned``."""
        self._fs = fs
        self._path = path
        self._replacements = replacements
        self._file_names = file_names
        self._state = _State.WAITING
        self._lock = threading.Lock()

    def run(self) -> None:
        """Decide the swap, unless it is cancelled, the log deleted or the disk full. Blocks.

        Raises OSError; the directory is not to be trusted any more then.
        """
        with self._lock:
            if self._state is _State.WAITING and self._decide():
                self._state = _State.DECIDED

    def settle(self) -> bool:
        """Whether the swap is decided; if not, it is cancelled. Waits for a run() under way."""
        with self._lock:
            if self._state is _State.WAITING:
                self._state = _State.CANCELLED
            return self._state is _State.DECIDED

    def _decide(self) -> bool:
        fs, path = self._fs, self._path
        try:
            # What an earlier work left behind would undo this swap after a crash.
            for name in fs.list(path):
                if name.removesuffix(names.CLEANED) not in self._file_names:
                    _remove_temporary(fs, path, name)
            # Steps 2 and 3 take names away. What is to stay, the active segment's, is durable now.
            write_durably(fs, f"{path}/{names.REPLACED}", encode_replaced(self._replacements))
            fs.sync_directory(path)
            for replacement in reversed(self._replacements):
                _rename_all(fs, path, replacement.base_offset, names.CLEANED, names.SWAP)
            fs.sync_directory(path)
        except FileNotFoundError:
            if fs.is_directory(path):
                raise
            return False
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            discard(fs, path)
            return False
        return True


def switch(fs: FileSystem, path: str, old_bases: Iterable[int], base_offset: int) -> list[str]:
    """Steps 2 and 3 for one cleaned segment; the ``.deleted`` files. Quick: only names change."""
    deleted = []
    for base in sorted(old_bases, reverse=True):  # the one of the same base last
        for suffix in INDEXES_FIRST:
            file = f"{path}/{names.offset_name(base, suffix)}"
            with suppress(FileNotFoundError):
                fs.rename(file, file + names.DELETED)
                deleted.append(file + names.DELETED)
    _finish(fs, path, base_offset)
    return deleted


def complete(fs: FileSystem, path: str) -> None:
    """The last act of a swap: the new names are durable, and nothing is left of it. Blocks."""
    fs.sync_directory(path)
    fs.remove(f"{path}/{names.REPLACED}")


def discard(fs: FileSystem, path: str) -> None:
    """Remove every cleaned segment of a swap that is not decided. Blocks.

    ``.swap`` files go first: the last ``.cleaned`` one tells that they are worth nothing.
    """
    for ending in (names.SWAP, names.CLEANED):
        for name in fs.list(path):
            if name.endswith(ending):
                fs.remove(f"{path}/{name}")
        fs.sync_directory(path)
    fs.remove(f"{path}/{names.REPLACED}")


def recover(fs: FileSystem, path: str, found: Sequence[str]) -> str | None:
    """Finish or throw away the swap that a crash interrupted in *path*, whoever had begun it.

    *found* is what is in the directory. ``finished`` or ``discarded``, None when there was no
    swap. Raises OSError.
    """
    if not any(name.endswith((names.CLEANED, names.SWAP)) for name in found):
        if names.REPLACED in found:
            fs.remove(f"{path}/{names.REPLACED}")
        return None
    cleaned_from = min(_bases(found, names.CLEANED), default=None)
    unfinished = [
        name
        for name in found
        if name.endswith(names.SWAP) and cleaned_from is not None and _base(name) >= cleaned_from
    ]
    for name in unfinished:
        fs.remove(f"{path}/{name}")
    if unfinished:
        fs.sync_directory(path)
    for name in found:
        if name.endswith(names.CLEANED):
            fs.remove(f"{path}/{name}")
    swaps = [name for name in found if name.endswith(names.SWAP) and name not in unfinished]
    if swaps:
        _finish_all(fs, path, found, sorted({_base(name) for name in swaps}))
    complete(fs, path)
    return "finished" if swaps else "discarded"


def encode_replaced(replacements: Iterable[Replacement]) -> bytes:
    """The content of the file that says what each cleaned segment replaces."""
    lines = [f"{base} {end}\n" for base, end in replacements]
    text = f"{VERSION}\n{len(lines)}\n{''.join(lines)}"
    return f"{text}crc {crc32c(text.encode()):08x}\n".encode()


def decode_replaced(data: bytes) -> list[Replacement] | None:
    """What it says; None when it is torn, damaged or of another version."""
    text, mark, crc = data.decode("ascii", "replace").rpartition("crc ")
    lines = text.splitlines()
    try:
        is_sound = mark and int(crc, 16) == crc32c(text.encode()) and int(lines[0]) == VERSION
    except ValueError:
        return None
    if not is_sound:
        return None
    pairs = (line.split() for line in lines[2:])
    return [Replacement(int(base), int(end)) for base, end in pairs]


def _finish_all(fs: FileSystem, path: str, found: Sequence[str], bases: Sequence[int]) -> None:
    told = decode_replaced(read_all(fs, f"{path}/{names.REPLACED}") or b"")
    ends = {} if told is None else dict(told)
    old_bases = sorted(_bases(found, ""))
    for base in bases:
        if names.offset_name(base, names.LOG) + names.SWAP in found:
            end = ends.get(base)
            if end is None:
                end = _end_offset(fs, f"{path}/{names.offset_name(base, names.LOG)}{names.SWAP}")
            for old in reversed(old_bases):
                # With its batches gone, what carries the final name at the base itself is new.
                is_there = old != base or names.offset_name(base, names.LOG) in found
                if is_there and (old == base or base < old < end):
                    for suffix in INDEXES_FIRST:
                        fs.remove(f"{path}/{names.offset_name(old, suffix)}")
        _finish(fs, path, base)


def _finish(fs: FileSystem, path: str, base_offset: int) -> None:
    _rename_all(fs, path, base_offset, names.SWAP, "")


def _end_offset(fs: FileSystem, path: str) -> int:
    """Where the batches in a file end, as far as they make sense; 0 without any."""
    end_offset = 0
    file = fs.open(path, OpenMode.READ)
    with suppress(CorruptBatch):
        for found in walk_headers(file, 0, file.size()):
            end_offset = found.batch.next_offset
    return end_offset


def _rename_all(fs: FileSystem, path: str, base_offset: int, source: str, target: str) -> None:
    for suffix in INDEXES_FIRST:
        stem = f"{path}/{names.offset_name(base_offset, suffix)}"
        if fs.size(stem + source) is not None:
            fs.rename(stem + source, stem + target)


def _remove_temporary(fs: FileSystem, path: str, name: str) -> None:
    if name.endswith((names.CLEANED, names.SWAP)):
        fs.remove(f"{path}/{name}")


def _bases(found: Iterable[str], ending: str) -> set[int]:
    return {
        parsed[0]
        for name in found
        if name.endswith(ending)
        and (parsed := names.parse_offset_name(name.removesuffix(ending))) is not None
        and parsed[1] in names.SEGMENT_SUFFIXES
    }


def _base(name: str) -> int:
    parsed = names.parse_offset_name(name.removesuffix(names.SWAP).removesuffix(names.CLEANED))
    return -1 if parsed is None else parsed[0]
