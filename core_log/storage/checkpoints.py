"""Kafka's checkpoint files of a data directory: one offset per partition, as text. Pure.

::

    0                  version
    2                  number of lines that follow
    topic 0 1200       topic, partition, offset
    topic 1 1180

``recovery-point-offset-checkpoint`` says what is on disk for sure, ``log-start-offset-checkpoint``
what is deleted, ``replication-offset-checkpoint`` the high watermarks, and
``cleaner-offset-checkpoint`` how far the last compaction of each log came.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

VERSION: Final = 0

RECOVERY_POINTS: Final = "recovery-point-offset-checkpoint"
LOG_STARTS: Final = "log-start-offset-checkpoint"
HIGH_WATERMARKS: Final = "replication-offset-checkpoint"
CLEANED: Final = "cleaner-offset-checkpoint"

Offsets: TypeAlias = Mapping[tuple[str, int], int]


class CheckpointCorrupt(ValueError):
    """``reason`` says which line of a checkpoint file makes no sense."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason: Final = reason


def encode_offsets(offsets: Offsets) -> bytes:
    """The text of a checkpoint file, in order of topic and partition."""
    lines = [f"{topic} {partition} {offset}\n" for (topic, partition), offset in offsets.items()]
    return f"{VERSION}\n{len(lines)}\n{''.join(sorted(lines))}".encode()


def decode_offsets(data: bytes) -> dict[tuple[str, int], int]:
    """Offset by topic and partition. Raises CheckpointCorrupt, naming the line."""
    lines = data.decode("utf-8", "replace").splitlines()
    if len(lines) < 2 or lines[0] != str(VERSION):
        raise CheckpointCorrupt(f"it must begin with version {VERSION} and a number of lines")
    if lines[1] != str(len(lines) - 2):
        raise CheckpointCorrupt(f"line 2 promises {lines[1]!r} lines, {len(lines) - 2} follow")
    return dict(_decode_line(line, number) for number, line in enumerate(lines[2:], start=3))


def _decode_line(line: str, number: int) -> tuple[tuple[str, int], int]:
    try:
        topic, partition, offset = line.split()
        entry = (topic, int(partition)), int(offset)
    except ValueError as error:
        reason = f"line {number} is {line!r}, not a topic, a partition and an offset"
        raise CheckpointCorrupt(reason) from error
    if entry[0][1] < 0 or entry[1] < 0:
        raise CheckpointCorrupt(f"line {number} has a number below 0: {line!r}")
    return entry
