"""What a host hands in: clock, dice, files. The log never reaches for them itself.

The file port is small so that a second implementation is honest work: ``storage.fs`` serves the
operating system, ``testing.memory_fs`` serves tests with torn writes, lost data and errors.
Every operation of the file port may raise OSError; callers translate it once, at their boundary.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview


class Clock(Protocol):
    """Two clocks: the wall for timestamps that users see, the monotonic one for waits."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        ...

    def monotonic_ms(self) -> int:
        """Milliseconds since some moment; never goes back."""
        ...


class Random(Protocol):
    """Dice. ``random.Random`` fits, and so does a seeded one in tests."""

    def random(self) -> float: ...
    def randrange(self, start: int, stop: int, /) -> int: ...
    def randbytes(self, size: int, /) -> bytes: ...


class OpenMode(StrEnum):
    READ = "read"
    """The file exists and is not written."""
    WRITE = "write"
    """The file exists and is written."""
    CREATE = "create"
    """The file must not exist; it is created empty."""
    REPLACE = "replace"
    """Created empty, whatever was there."""


class File(Protocol):
    """One open file, addressed by position: no cursor moves, so threads may share it."""

    def write_at(self, buffers: Sequence[Buffer], position: int) -> int:
        """Write all buffers one behind the other and return their total size in bytes.

        Short writes are continued inside. After an OSError the range holds anything.
        """
        ...

    def read_at(self, size: int, position: int) -> bytes:
        """Bytes in [position, position + size), fewer only at the end of the file."""
        ...

    def read_cached(self, size: int, position: int) -> Buffer | None:
        """The same without waiting for the disk; None when that is not possible.

        Not bytes: filling a fresh bytearray saves the copy that bytes would need.
        """
        ...

    def sync(self) -> None:
        """Data and size are on disk when this returns (fdatasync). Call it off the loop."""
        ...

    def truncate(self, size: int) -> None:
        """Cut or zero-extend the file to *size* bytes."""
        ...

    def size(self) -> int: ...

    def fileno(self) -> int | None:
        """The descriptor for sendfile, None when the file has none."""
        ...

    def close(self) -> None: ...


class FileSystem(Protocol):
    """Paths are text with ``/``; relative paths are the host's affair."""

    def open(self, path: str, mode: OpenMode) -> File:
        """Raises FileNotFoundError or FileExistsError as the mode says."""
        ...

    def list(self, path: str) -> list[str]:
        """Names in a directory, sorted."""
        ...

    def size(self, path: str) -> int | None:
        """Size of a file in bytes; None when nothing is there."""
        ...

    def is_directory(self, path: str) -> bool: ...

    def make_directory(self, path: str) -> None:
        """Create a directory and its missing parents; fine when it exists.

        Durable after sync_directory.
        """
        ...

    def rename(self, source: str, target: str) -> None:
        """Atomically put *source* in the place of *target*. Durable after sync_directory."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file, or a directory with all that is in it; fine when nothing is there."""
        ...

    def sync_directory(self, path: str) -> None:
        """Creations, renames and removals in this directory are on disk when this returns."""
        ...

    def lock(self, path: str) -> File:
        """Create the file if need be and lock it until the result is closed.

        Raises BlockingIOError when somebody else holds the lock.
        """
        ...

    def free_bytes(self, path: str) -> int:
        """Bytes a writer may still add to the file system that holds *path*."""
        ...
