"""What the logs of one data directory share: ports, open files, loaded indexes, fate.

Files stay open while they are used and the bound allows. One that is let go closes itself when
its last user drops it (see the file port), so a flush or a read in another thread never loses it.
"""

import errno
from collections.abc import Callable
from typing import Final, TypeVar, final

from ..kernel.ports import Clock, File, FileSystem, OpenMode, Random
from .errors import LogDirectoryFailed

INDEX_CACHE_BYTES: Final = 32 * 1024 * 1024
"""Offset and time index of a dozen full segments, or of thousands of small ones."""

INDEX_OVERHEAD_BYTES: Final = 512
"""What an index costs beside its entries: objects, key, dictionary. Measured: 450."""

NO_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT})

Index = TypeVar("Index")


@final
class Volume:
    """One data directory's files. Owned by the event loop, like the logs.

    Invariant: once ``failure`` is set, nothing is written any more.
    """

    def __init__(
        self,
        fs: FileSystem,
        path: str,
        *,
        clock: Clock,
        rng: Random,
        open_files_max: int = 512,
        on_failure: Callable[[LogDirectoryFailed], None] | None = None,
    ) -> None:
        self.fs = fs
        self.path = path
        self.clock = clock
        self.rng = rng
        self.failure: LogDirectoryFailed | None = None
        self._open_files_max = open_files_max
        self._on_failure = on_failure
        self._files: dict[str, File] = {}  # least recently used first
        self._indexes: dict[str, tuple[object, int]] = {}  # likewise, with sizes
        self._index_bytes = 0

    def file(self, path: str) -> File:
        """The existing file, open for reading and writing. Raises OSError."""
        file = self._files.pop(path, None)
        if file is None:
            file = self.fs.open(path, OpenMode.WRITE)
            self._make_room()
        self._files[path] = file
        return file

    def create(self, path: str) -> File:
        """A new file; one of this name, left behind by a crash, is emptied. Raises OSError."""
        self._files.pop(path, None)
        file = self.fs.open(path, OpenMode.REPLACE)
        self._make_room()
        self._files[path] = file
        return file

    def index(self, path: str, load: Callable[[], tuple[Index, int]]) -> Index:
        """The index cached under *path*; *load* gives it and its size in bytes when it is not."""
        cached = self._indexes.pop(path, None)
        if cached is None:
            index, size_bytes = load()
            self._index_bytes += size_bytes
            while self._indexes and self._index_bytes > INDEX_CACHE_BYTES:
                self._drop_index(next(iter(self._indexes)))
        else:
            index, size_bytes = cached  # type: ignore[assignment]  # a path has one kind of index
        self._indexes[path] = index, size_bytes
        return index

    def forget(self, path: str) -> None:
        """The file is renamed, removed or rewritten: neither it nor its index is kept."""
        self._files.pop(path, None)
        self._drop_index(path)

    def close(self) -> None:
        """Let go of every file."""
        self._files.clear()
        self._indexes.clear()
        self._index_bytes = 0

    def fail(self, error: OSError) -> LogDirectoryFailed:
        """Take the directory offline and return what to raise; the first failure stays the one."""
        if self.failure is None:
            place = f" ({error.filename})" if error.filename else ""
            reason = f"{error.strerror or error}{place}"
            self.failure = LogDirectoryFailed(self.path, reason)
            if self._on_failure is not None:
                self._on_failure(self.failure)
        return self.failure

    def write_durably(self, path: str, data: bytes) -> None:
        """Put *data* in the place of the file at once: after a crash it is the old one or the new.

        Durable with the next sync_directory. Any thread. Raises OSError.
        """
        write_durably(self.fs, path, data)

    def read_all(self, path: str) -> bytes | None:
        """The bytes of a small file, None when there is none. Raises OSError."""
        return read_all(self.fs, path)

    def _make_room(self) -> None:
        while len(self._files) >= self._open_files_max:
            del self._files[next(iter(self._files))]

    def _drop_index(self, path: str) -> None:
        dropped = self._indexes.pop(path, None)
        if dropped is not None:
            self._index_bytes -= dropped[1]


def write_durably(fs: FileSystem, path: str, data: bytes) -> None:
    """See Volume.write_durably."""
    temporary = path + ".tmp"
    file = fs.open(temporary, OpenMode.REPLACE)
    try:
        file.write_at([data], 0)
        file.sync()
    finally:
        file.close()
    fs.rename(temporary, path)


def read_all(fs: FileSystem, path: str) -> bytes | None:
    """See Volume.read_all."""
    try:
        file = fs.open(path, OpenMode.READ)
    except FileNotFoundError:
        return None
    try:
        return file.read_at(file.size(), 0)
    finally:
        file.close()
