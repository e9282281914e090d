"""How files and directories of a data directory are called, in Kafka's words. Pure.

::

    topic-0/                              a partition
        00000000000000000000.log          a segment, named after its base offset
        00000000000000000000.index        and its indexes
        00000000000000000000.timeindex
        00000000000000000000.txnindex
        00000000000000000042.snapshot     producers of everything below offset 42
        leader-epoch-checkpoint
        partition.metadata                the topic's id
        *.deleted                         waits for file.delete.delay.ms
        *.cleaned, *.swap                 compaction at work, see swap
        headwater.replaced                likewise
    topic-0.0f…-delete/                   a deleted partition, likewise
"""

import re
from typing import Final, NamedTuple

LOG: Final = ".log"
OFFSET_INDEX: Final = ".index"
TIME_INDEX: Final = ".timeindex"
TRANSACTION_INDEX: Final = ".txnindex"
SNAPSHOT: Final = ".snapshot"
SEGMENT_SUFFIXES: Final = (LOG, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)

DELETED: Final = ".deleted"
CLEANED: Final = ".cleaned"
SWAP: Final = ".swap"
TEMPORARY: Final = ".tmp"

EPOCHS: Final = "leader-epoch-checkpoint"
PARTITION_METADATA: Final = "partition.metadata"
REPLACED: Final = "headwater.replaced"
"""Its suffix must be none that Kafka looks at: it reads an offset out of such a name."""
CLUSTER_METADATA_TOPIC: Final = "__cluster_metadata"

_DELETED_DIRECTORY: Final = "-delete"
_OFFSET_NAME: Final = re.compile(r"([0-9]{20})(\.[a-z]+)")
_PARTITION_NAME: Final = re.compile(r"([a-zA-Z0-9._-]{1,249})-(0|[1-9][0-9]{0,9})")
_NAME_BYTES_MAX: Final = 255


class PartitionName(NamedTuple):
    topic: str
    partition: int


def offset_name(offset: int, suffix: str) -> str:
    """The name of a file that belongs to an offset: ``00000000000000000042.log``."""
    return f"{offset:020d}{suffix}"


def parse_offset_name(name: str) -> tuple[int, str] | None:
    """Offset and suffix of such a name; None for any other."""
    match = _OFFSET_NAME.fullmatch(name)
    return (int(match[1]), match[2]) if match else None


def partition_directory(topic: str, partition: int) -> str:
    """``topic-0``. Raises ValueError for a topic name that must not become a path."""
    name = f"{topic}-{partition}"
    if _PARTITION_NAME.fullmatch(name) is None or topic in (".", ".."):
        raise ValueError(f"{topic!r} partition {partition} cannot be the name of a directory")
    return name


def parse_partition_directory(name: str) -> PartitionName | None:
    """Topic and partition of a directory; None when it is not a live partition's."""
    match = _PARTITION_NAME.fullmatch(name)
    if match is None or match[1] in (".", ".."):
        return None
    return PartitionName(match[1], int(match[2]))


def deleted_directory(topic: str, partition: int, unique: str) -> str:
    """The name under which a deleted partition waits: ``topic-0.<unique>-delete``."""
    suffix = f"-{partition}.{unique}{_DELETED_DIRECTORY}"
    return topic[: _NAME_BYTES_MAX - len(suffix)] + suffix


def is_deleted_directory(name: str) -> bool:
    return name.endswith(_DELETED_DIRECTORY) and "." in name
