"""Where each leader epoch of a partition begins, and what that says about diverging logs.

Pure; the caller keeps the ``leader-epoch-checkpoint`` file. KIP-101 truncates a follower by
leader epoch and not by high watermark, KIP-279 makes that safe when epochs are missing on either
side, KIP-320 lets consumers ask the same. The file is text::

    0          version
    2          number of entries
    0 0        epoch, start offset
    3 1200

Epochs and start offsets both rise strictly from entry to entry.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import pairwise
from typing import Final, NamedTuple, final

from ..kernel.ids import NO_LEADER_EPOCH, NO_OFFSET

VERSION: Final = 0


class EpochEntry(NamedTuple):
    """A leader epoch and the offset of its first batch."""

    epoch: int
    start_offset: int


class EpochEnd(NamedTuple):
    """The answer to "where does this epoch end": -1 and -1 when the log cannot know."""

    epoch: int
    end_offset: int


UNKNOWN_END: Final = EpochEnd(NO_LEADER_EPOCH, NO_OFFSET)


class EpochFileCorrupt(ValueError):
    """``reason`` says which line of a ``leader-epoch-checkpoint`` makes no sense."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason: Final = reason


@final
class LeaderEpochs:
    """The leader epochs of one partition log.

    Invariant: epochs and start offsets rise strictly from entry to entry. Methods that change
    something return True, so that the caller knows when the file is stale.
    """

    __slots__ = ("_epochs", "_starts")

    def __init__(self, entries: Iterable[EpochEntry] = ()) -> None:
        """Start from *entries*, sorted. Raises ValueError when they break the invariant."""
        self._epochs: list[int] = []
        self._starts: list[int] = []
        for epoch, start_offset in entries:
            self._epochs.append(epoch)
            self._starts.append(start_offset)
        self.check()

    def __repr__(self) -> str:
        return f"<LeaderEpochs {self.entries}>"

    @property
    def entries(self) -> list[EpochEntry]:
        return [EpochEntry(*entry) for entry in zip(self._epochs, self._starts, strict=True)]

    @property
    def latest_epoch(self) -> int | None:
        return self._epochs[-1] if self._epochs else None

    @property
    def earliest(self) -> EpochEntry | None:
        return EpochEntry(self._epochs[0], self._starts[0]) if self._epochs else None

    def assign(self, epoch: int, start_offset: int) -> bool:
        """Note that *epoch* begins at *start_offset*; True when the entries changed.

        Called for every batch, it changes something for the first of an epoch only. Entries that
        an earlier offset or a lower epoch contradicts go: what is being written now is the truth.
        Raises ValueError for negative numbers.
        """
        epochs, starts = self._epochs, self._starts
        if epochs and epochs[-1] == epoch and start_offset >= starts[-1]:
            return False
        if epoch < 0 or start_offset < 0:
            raise ValueError(f"epoch and start offset are >= 0, got {epoch} and {start_offset}")
        while epochs and (epochs[-1] >= epoch or starts[-1] >= start_offset):
            epochs.pop()
            starts.pop()
        epochs.append(epoch)
        starts.append(start_offset)
        return True

    def end_offset_for(self, epoch: int, *, log_end_offset: int) -> EpochEnd:
        """The largest epoch at or below *epoch* that the log has, and where that one ends.

        For the latest epoch that is the log's end. An epoch below all of ours ends, under its own
        number, where our first begins; one above all of ours, and -1, are unknown.
        """
        epochs = self._epochs
        if epoch == NO_LEADER_EPOCH or not epochs:
            return UNKNOWN_END
        if epoch == epochs[-1]:
            return EpochEnd(epoch, log_end_offset)
        above = bisect_right(epochs, epoch)
        if above == len(epochs):
            return UNKNOWN_END
        floor = epochs[above - 1] if above else epoch
        return EpochEnd(floor, self._starts[above])

    def epoch_for_offset(self, offset: int) -> int | None:
        """The epoch under which the record at *offset* was written, None before the first entry."""
        index = bisect_right(self._starts, offset) - 1
        return self._epochs[index] if index >= 0 else None

    def previous_epoch(self, epoch: int) -> int | None:
        """The largest epoch below *epoch* that the log has."""
        index = bisect_left(self._epochs, epoch) - 1
        return self._epochs[index] if index >= 0 else None

    def truncate_from_end(self, end_offset: int) -> bool:
        """Forget the epochs that begin at or above *end_offset*; True when there were any."""
        keep = bisect_left(self._starts, end_offset)
        changed = keep < len(self._starts)
        del self._epochs[keep:]
        del self._starts[keep:]
        return changed

    def truncate_from_start(self, start_offset: int) -> bool:
        """Forget the epochs that end at or below *start_offset*; True when something changed.

        The epoch of the record at *start_offset* stays and now begins there.
        """
        holder = bisect_right(self._starts, start_offset) - 1
        if holder < 0 or (holder == 0 and self._starts[0] == start_offset):
            return False
        del self._epochs[:holder]
        del self._starts[:holder]
        self._starts[0] = start_offset
        return True

    def clear(self) -> bool:
        """Forget all; True when there was something."""
        return self.truncate_from_end(0)

    def check(self) -> None:
        """Raise ValueError when the invariant does not hold."""
        entries = self.entries
        for low, high in pairwise(entries):
            if not (low.epoch < high.epoch and low.start_offset < high.start_offset):
                raise ValueError(
                    f"leader epochs must rise: {tuple(low)} stands before {tuple(high)}"
                )
        if entries and min(entries[0]) < 0:
            raise ValueError(f"epoch and start offset are >= 0, got {tuple(entries[0])}")


def encode_epochs(entries: Iterable[EpochEntry]) -> bytes:
    """The text of a ``leader-epoch-checkpoint`` file."""
    lines = [f"{epoch} {start_offset}\n" for epoch, start_offset in entries]
    return f"{VERSION}\n{len(lines)}\n{''.join(lines)}".encode("ascii")


def decode_epochs(data: bytes) -> list[EpochEntry]:
    """The entries of a ``leader-epoch-checkpoint`` file.

    Raises EpochFileCorrupt, naming the line, for anything that Kafka would not have written.
    """
    try:
        lines = data.decode("ascii").splitlines()
    except UnicodeDecodeError as error:
        raise EpochFileCorrupt("it is not ASCII text") from error
    if len(lines) < 2 or lines[0] != str(VERSION):
        raise EpochFileCorrupt(f"it must begin with version {VERSION} and a number of entries")
    if lines[1] != str(len(lines) - 2):
        raise EpochFileCorrupt(f"line 2 promises {lines[1]!r} entries, {len(lines) - 2} follow")
    entries = [_decode_entry(line, number) for number, line in enumerate(lines[2:], start=3)]
    try:
        LeaderEpochs(entries)
    except ValueError as error:
        raise EpochFileCorrupt(str(error)) from error
    return entries


def _decode_entry(line: str, number: int) -> EpochEntry:
    try:
        epoch, start_offset = map(int, line.split(" "))
    except ValueError as error:
        raise EpochFileCorrupt(f"line {number} is {line!r}, not an epoch and an offset") from error
    return EpochEntry(epoch, start_offset)
