"""The operating system's files behind the file port: the only module that touches ``os``.

Files are private to the user that runs the node (0600, directories 0700). A symbolic link inside
a data directory is refused, since whoever can place one could have the node overwrite any file.
A file closes itself when nobody refers to it any more, so a reader in another thread can never
find its descriptor given to another file.
"""

# ruff: noqa: PTH102, PTH105, PTH108, PTH112, PTH120 - the port speaks text paths

import errno
import fcntl
import os
import shutil
import stat
import sys
from collections.abc import Sequence
from typing import Final, final

from ..kernel.ports import Buffer, OpenMode

_FLAGS: Final = {
    OpenMode.READ: os.O_RDONLY,
    OpenMode.WRITE: os.O_RDWR,
    OpenMode.CREATE: os.O_RDWR | os.O_CREAT | os.O_EXCL,
    OpenMode.REPLACE: os.O_RDWR | os.O_CREAT | os.O_TRUNC,
}
_FILE_MODE: Final = 0o600
_DIRECTORY_MODE: Final = 0o700

_BUFFERS_MAX: Final = 1024
"""Linux' IOV_MAX: a call with more buffers fails."""

_READ_BYTES_MAX: Final = 0x7FFF_F000
"""Linux moves no more than this in one call."""

_NOT_WAITING: Final[int | None] = getattr(os, "RWF_NOWAIT", None)


@final
class OsFile:
    """One open file. Positions are explicit, so threads share it without a lock."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write_at(self, buffers: Sequence[Buffer], position: int) -> int:
        start = position
        for first in range(0, len(buffers), _BUFFERS_MAX):
            position += self._write_all(buffers[first : first + _BUFFERS_MAX], position)
        return position - start

    def read_at(self, size: int, position: int) -> bytes:
        data = os.pread(self._descriptor, size, position)
        if len(data) in (size, 0):
            return data
        pieces = [data]  # short reads are the file's end, a signal, or more than one call may move
        got = len(data)
        while got < size and (data := os.pread(self._descriptor, size - got, position + got)):
            pieces.append(data)
            got += len(data)
        return b"".join(pieces)

    def read_cached(self, size: int, position: int) -> Buffer | None:
        if _NOT_WAITING is None:
            return None
        data = bytearray(size)
        try:
            count = os.preadv(self._descriptor, [data], position, _NOT_WAITING)
        except OSError as error:
            # EAGAIN: not in the page cache. EOPNOTSUPP: the file system cannot tell (tmpfs).
            if error.errno in (errno.EAGAIN, errno.EOPNOTSUPP):
                return None
            raise
        if count == size:
            return data
        if position + count < self.size():
            return None  # only the first part is cached
        del data[count:]
        return data

    def sync(self) -> None:
        if sys.platform == "linux":
            os.fdatasync(self._descriptor)
        else:
            os.fsync(self._descriptor)

    def truncate(self, size: int) -> None:
        os.ftruncate(self._descriptor, size)

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def fileno(self) -> int | None:
        return self._descriptor

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        self.close()

    def _write_all(self, buffers: Sequence[Buffer], position: int) -> int:
        written = os.pwritev(self._descriptor, buffers, position)
        size = sum(len(buffer) for buffer in buffers)
        if written < size:
            rest = memoryview(b"".join(buffers))
            while written < size:
                written += os.pwrite(self._descriptor, rest[written:], position + written)
        return size


@final
class OsFileSystem:
    """The file port over the operating system."""

    def open(self, path: str, mode: OpenMode) -> OsFile:
        flags = _FLAGS[mode] | os.O_NOFOLLOW
        return OsFile(os.open(path, flags, _FILE_MODE))

    def list(self, path: str) -> list[str]:
        with os.scandir(path) as entries:
            names = []
            for entry in entries:
                if entry.is_symlink():
                    raise _symbolic_link(entry.path)
                names.append(entry.name)
        return sorted(names)

    def size(self, path: str) -> int | None:
        try:
            return os.lstat(path).st_size
        except (FileNotFoundError, NotADirectoryError):
            return None

    def is_directory(self, path: str) -> bool:
        try:
            return stat.S_ISDIR(os.lstat(path).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def make_directory(self, path: str) -> None:
        try:
            os.mkdir(path, _DIRECTORY_MODE)
        except FileExistsError:
            if not os.path.isdir(path):
                raise
        except FileNotFoundError:
            self.make_directory(os.path.dirname(path))
            os.mkdir(path, _DIRECTORY_MODE)

    def rename(self, source: str, target: str) -> None:
        os.replace(source, target)

    def remove(self, path: str) -> None:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        except (IsADirectoryError, PermissionError):
            # macOS says EPERM for a directory; a real refusal comes back from rmtree.
            if not self.is_directory(path):
                raise
            shutil.rmtree(path)

    def sync_directory(self, path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def lock(self, path: str) -> OsFile:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, _FILE_MODE)
        file = OsFile(descriptor)
        try:
            # The record lock is the one Java takes; it does not see a second taker in this process.
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            if error.errno in (errno.EACCES, errno.EAGAIN):
                raise BlockingIOError(errno.EAGAIN, "the lock is held", path) from error
            raise
        return file

    def free_bytes(self, path: str) -> int:
        facts = os.statvfs(path)
        return facts.f_bavail * facts.f_frsize


def _symbolic_link(path: str) -> OSError:
    return OSError(errno.ELOOP, "symbolic links are refused in a data directory", path)
