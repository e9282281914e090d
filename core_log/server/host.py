"""What a broker runs on and what kind of broker it is to be, as values."""

from collections.abc import Callable
from dataclasses import dataclass

from ..broker.broker import Disk
from ..broker.compaction import Cleaner
from ..broker.config import BrokerConfig
from ..broker.housekeeping import Intervals
from ..groups.config import GroupConfig
from ..kernel.effects import Note as ShardNote
from ..kernel.ports import Clock, FileSystem, Random
from ..storage.errors import LogDirectoryFailed
from ..storage.notes import Note
from ..transactions.config import TransactionConfig
from .notify import Notify


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What a broker runs on."""

    fs: FileSystem
    clock: Clock
    rng: Random
    disk: Disk
    schedule_turn: Callable[[], None]
    timer_set: Callable[[], None]
    """A timer has become the next one to fire."""
    failed: Callable[[LogDirectoryFailed], None]
    """A data directory failed; the host decides whether the node goes on."""
    notify: Notify
    unread_bytes: Callable[[], int]
    """Answers in memory that their peers do not take."""
    newest_connection: Callable[[], int]
    """Number of the connection accepted last, 0 before the first."""
    cleaner: Cleaner
    """Does the work of compaction away from the loop."""

    def tell(self, note: Note) -> None:
        """Pass on what happened to a file."""
        self.notify(note.event, note.severe, {"path": note.path, **note.facts})

    def tell_of_shard(self, note: ShardNote) -> None:
        """Pass on what a coordinator noted."""
        self.notify(note.event, note.severe, dict(note.facts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Specification:
    """What kind of broker it is to be."""

    config: BrokerConfig
    groups: GroupConfig
    transactions: TransactionConfig
    intervals: Intervals
    data_dirs: tuple[str, ...]
    cluster_id: str | None = None
    producer_id_expiration_ms: int = 86_400_000
    open_files_max: int = 512
    """Segment and index files kept open at once; further ones are reopened when needed."""
