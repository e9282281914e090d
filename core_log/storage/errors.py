"""What can go wrong with a log directory, as conditions a caller can act on.

Those that reach a client are ApiErrors already, so that a handler needs no table of its own.
"""

from typing import Final

from ..kernel.errors import ApiError, ErrorCode


class OffsetOutOfRange(ApiError):
    """The log holds no record at *offset*, and will not get one there by waiting."""

    def __init__(self, *, offset: int, start_offset: int, end_offset: int) -> None:
        super().__init__(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"offset {offset} is outside the log, which holds [{start_offset}, {end_offset})",
        )
        self.offset: Final = offset
        self.start_offset: Final = start_offset
        self.end_offset: Final = end_offset


class LogDirectoryFailed(ApiError):
    """A file operation failed: nothing of this directory is served until a restart.

    A failed fsync is not repeated: the kernel may have dropped the pages and report success the
    second time. The restart recovers what the disk really holds.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            ErrorCode.KAFKA_STORAGE_ERROR,
            f"log directory {path} is offline: {reason}; check the disk, then restart the node",
        )
        self.path: Final = path
        self.reason: Final = reason


class DiskFull(ApiError):
    """There was no space for what was appended since the last write; it is gone from the log.

    The log holds what it held before, stays readable, and takes appends again once there is space.
    """

    def __init__(self, path: str) -> None:
        super().__init__(
            ErrorCode.KAFKA_STORAGE_ERROR,
            f"no space left for {path}: free some, or shorten the retention of large topics",
        )
        self.path: Final = path


class LogDamaged(ApiError):
    """Bytes that had been on disk are no longer what they were; the files stay untouched."""

    def __init__(self, path: str, *, offset: int, reason: str) -> None:
        super().__init__(
            ErrorCode.KAFKA_STORAGE_ERROR,
            f"{path} is damaged at offset {offset}: {reason}; restore the file from a replica or "
            "a backup, or delete the partition's directory to start it anew",
        )
        self.path: Final = path
        self.offset: Final = offset
        self.reason: Final = reason


class LogDirectoryRefused(Exception):
    """The directory is not one this node may use; nothing in it was changed."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path: Final = path
        self.reason: Final = reason

    def __str__(self) -> str:
        return f"log directory {self.path} cannot be used: {self.reason}"
