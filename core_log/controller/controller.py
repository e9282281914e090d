"""The controller of a node: decides commands on the newest image, publishes what is committed.

Decisions see proposals that are not committed yet, so that two requests for one topic name cannot
both succeed; everybody else sees the committed image only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ..kernel.errors import ApiError
from ..raft.metadata_log import MetadataLog
from ..storage.log import FlushJob
from .commands import Decision
from .image import MetadataDelta, MetadataImage

R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What a flush brought: act on ``delta``, then call ``answers``."""

    delta: MetadataDelta
    answers: tuple[Callable[[], None], ...]


class Controller:
    """Owner of the metadata on this node."""

    def __init__(self, log: MetadataLog, *, cluster_id: str) -> None: ...

    image: MetadataImage
    """Committed metadata."""

    def submit(
        self,
        decide: Callable[[MetadataImage], Decision[R]],
        done: Callable[[R | ApiError], None],
        *,
        now_ms: int,
    ) -> None:
        """Decide now; *done* gets the response among ``answers`` when it is committed."""

    def write(self) -> None:
        """Put proposals into the file, once per turn; on DiskFull they are answered with errors."""

    def begin_flush(self) -> FlushJob | None: ...
    def end_flush(self, job: FlushJob) -> Committed:
        raise NotImplementedError
