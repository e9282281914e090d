"""The producer snapshots of one log: written at every roll and on a clean stop, read after it.

A snapshot spares the reading of all that lies before it. One that is missing or damaged costs time,
never truth: an older one and the batches behind it say the same.
"""

from bisect import bisect_right
from collections.abc import Callable, Container, Iterator, Sequence
from typing import final

from ..kernel.ids import NO_PRODUCER_ID
from ..records.batch import Batch
from . import names
from .producers import CompletedTransaction, ProducerStates, SnapshotCorrupt
from .scan import Found
from .segment import Segment
from .volume import Volume


@final
class ProducerSnapshots:
    """Those in files, and those that wait to be written. Any method may raise OSError."""

    __slots__ = ("_directory", "_offsets", "_queued", "_volume")

    def __init__(self, volume: Volume, directory: str, offsets: Sequence[int] = ()) -> None:
        """*offsets* are those of the files there are, rising."""
        self._volume = volume
        self._directory = directory
        self._offsets = list(offsets)
        self._queued: list[tuple[int, bytes]] = []

    @property
    def newest_offset(self) -> int | None:
        return self._offsets[-1] if self._offsets else None

    @property
    def is_queued(self) -> bool:
        return bool(self._queued)

    def queue(self, offset: int, content: bytes) -> None:
        """Keep the snapshot of everything below *offset* until save() writes it."""
        self._queued.append((offset, content))

    def save(self, bases: Container[int]) -> None:
        """Write what is queued; drop old ones but those at the *bases* of segments."""
        while self._queued:
            offset, content = self._queued[0]
            path = self._path(offset)
            self._volume.create(path).write_at([content], 0)
            self._volume.forget(path)
            self._offsets.append(offset)
            del self._queued[0]
        # Two stay in any case: a crash may have torn the newest.
        for offset in self._offsets[:-2]:
            if offset not in bases:
                self._remove(offset)

    def forget_above(self, end_offset: int) -> None:
        """Remove those that tell of more than the log below *end_offset*."""
        self._queued = [entry for entry in self._queued if entry[0] <= end_offset]
        for offset in self._offsets[bisect_right(self._offsets, end_offset) :]:
            self._remove(offset)

    def clear(self) -> None:
        """Forget what is queued; nothing is written any more."""
        self._queued = []

    def restore(
        self,
        segments: Sequence[Segment],
        *,
        end_offset: int,
        expiration_ms: int,
        refused: Callable[[int, str], None] | None = None,
    ) -> ProducerStates:
        """The producers of everything below *end_offset*: the newest snapshot and what follows.

        A snapshot that is not sound is told to *refused* with its reason and passed over. Raises
        LogDamaged.
        """
        producers = ProducerStates(expiration_ms=expiration_ms)
        now_ms = self._volume.clock.now_ms()
        start_offset = segments[0].base_offset
        for offset in reversed(self._offsets):
            if offset > end_offset:
                continue
            try:
                content = self._volume.read_all(self._path(offset)) or b""
                producers.load_snapshot(content, now_ms=now_ms)
            except SnapshotCorrupt as error:
                if refused is not None:
                    refused(offset, error.reason)
                continue
            start_offset = max(offset, start_offset)
            break
        for segment, found in _batches_between(segments, start_offset, end_offset):
            replay(producers, segment, found, now_ms=now_ms)
        return producers

    def _remove(self, offset: int) -> None:
        self._volume.fs.remove(self._path(offset))
        self._offsets.remove(offset)

    def _path(self, offset: int) -> str:
        return f"{self._directory}/{names.offset_name(offset, names.SNAPSHOT)}"


def replay(
    producers: ProducerStates, segment: Segment, found: Found, *, now_ms: int
) -> CompletedTransaction | None:
    """Tell *producers* of a stored batch; the transaction it ended. Raises CorruptBatch."""
    batch = found.batch
    if batch.producer_id == NO_PRODUCER_ID:
        return None
    if batch.is_control and len(batch.view) < batch.size_bytes:
        batch = Batch(memoryview(segment.file().read_at(batch.size_bytes, found.position)))
    return producers.update(batch, now_ms=now_ms)


def _batches_between(
    segments: Sequence[Segment], start_offset: int, end_offset: int
) -> Iterator[tuple[Segment, Found]]:
    first = bisect_right(segments, start_offset, key=lambda segment: segment.base_offset) - 1
    for segment in segments[max(first, 0) :]:
        if max(segment.base_offset, start_offset) >= end_offset:
            return
        located = segment.locate(start_offset)
        if located is None:
            continue
        for found in segment.batches(located.position):
            if found.batch.base_offset >= end_offset:
                return
            yield segment, found
