"""What clients write down: the events of a history, and their form in a file.

Values. A client writes an intent down before it acts and the outcome after it was told; of what it
was not told it writes nothing, and the rules take it for possible. Each client (``process``) keeps
its own order; events of different clients may come in any order.

Times are milliseconds of one clock that all clients of a history share; they are optional, and the
rules that need them pass over events without.

In a file each event is one line of JSON, an object whose ``type`` is the tag below.
"""

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

import msgspec

Partition: TypeAlias = tuple[str, int]
"""Topic and partition index."""

PolledRecord: TypeAlias = tuple[str, int, int, str]
"""Topic, partition index, offset, value."""

GroupOffset: TypeAlias = tuple[str, int, int]
"""Topic, partition index, the offset to go on from; -1 where nothing was committed."""


class Send(msgspec.Struct, frozen=True, kw_only=True, tag="send", gc=False):
    """A client is about to hand a record to its producer.

    A value is sent once in a history: it is how a record is recognised. A producer that gives up
    and begins anew under the same name (``init_transactions``) goes on as the same process only if
    its order holds across both.
    """

    process: str
    value: str
    idempotent: bool
    """Whether the producer promises each record once and in order; true for transactional ones."""
    transaction: str | None = None
    """The transaction it belongs to; None outside of any."""
    source: str | None = None
    """The value of the input record that this one was made from: one output for each input, in
    every group that commits the input's offset in the same transaction."""


class Acked(msgspec.Struct, frozen=True, kw_only=True, tag="acked", gc=False):
    """The broker acknowledged it (acks=all)."""

    value: str
    topic: str
    partition: int
    offset: int | None
    """None when the producer was not told, as after a duplicate that the broker recognised."""
    at_ms: int | None = None


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag="refused", gc=False):
    """The record certainly was not written. A timeout is no refusal: write nothing down for it."""

    value: str


class Poll(msgspec.Struct, frozen=True, kw_only=True, tag="poll", gc=False):
    """One poll's records, in the order they came."""

    process: str
    records: tuple[PolledRecord, ...]
    subscribed: bool
    """True for a group member, whose partitions come and go; False for assigned partitions."""
    rebalanced: bool = False
    """Whether partitions were given or taken while these records came in."""
    read_committed: bool = True
    """The reader's isolation level. Where nobody uses transactions both see the same."""
    transaction: str | None = None
    """The transaction whose reads these are: it was open, or will commit their offsets."""
    at_ms: int | None = None


class Moved(msgspec.Struct, frozen=True, kw_only=True, tag="moved", gc=False):
    """The reader was put elsewhere on purpose (seek, a new assignment): its positions are void."""

    process: str


class Begun(msgspec.Struct, frozen=True, kw_only=True, tag="begun", gc=False):
    """A transaction begins. Its name occurs once in a history."""

    process: str
    transaction: str
    at_ms: int | None = None


class Committing(msgspec.Struct, frozen=True, kw_only=True, tag="committing", gc=False):
    """The commit is about to be asked for. Without this event the transaction cannot commit."""

    transaction: str
    at_ms: int | None = None


class Committed(msgspec.Struct, frozen=True, kw_only=True, tag="committed", gc=False):
    """The client was told that the transaction is committed."""

    transaction: str
    at_ms: int | None = None


class Aborted(msgspec.Struct, frozen=True, kw_only=True, tag="aborted", gc=False):
    """The client was told that the transaction is aborted, whatever it had asked for before."""

    transaction: str
    at_ms: int | None = None


class OffsetsSent(msgspec.Struct, frozen=True, kw_only=True, tag="offsets-sent", gc=False):
    """A group's offsets are about to be committed: with *transaction*, or plainly when None."""

    process: str
    group: str
    offsets: tuple[GroupOffset, ...]
    transaction: str | None = None
    at_ms: int | None = None


class OffsetsAcked(msgspec.Struct, frozen=True, kw_only=True, tag="offsets-acked", gc=False):
    """The process's newest plain ``OffsetsSent`` for the group was acknowledged."""

    process: str
    group: str
    at_ms: int | None = None


class OffsetsFetched(msgspec.Struct, frozen=True, kw_only=True, tag="offsets-fetched", gc=False):
    """A group's committed offsets, as somebody asked and was told."""

    process: str
    group: str
    offsets: tuple[GroupOffset, ...]
    stable: bool
    """Whether the broker was asked to wait for pending transactions (``require_stable``, which
    clients ask with read_committed): without it a transaction's end may show late."""
    asked_ms: int | None = None
    at_ms: int | None = None


Event: TypeAlias = (
    Send
    | Acked
    | Refused
    | Poll
    | Moved
    | Begun
    | Committing
    | Committed
    | Aborted
    | OffsetsSent
    | OffsetsAcked
    | OffsetsFetched
)

EVENT_DECODER: Final = msgspec.json.Decoder(Event)
"""Reads one event from the JSON that ``msgspec.json.encode`` makes of it: one line of a file."""


def read_history(lines: Iterable[bytes]) -> Iterator[Event]:
    """Events of a file of JSON lines.

    A last line without its end, cut short when its writer died, is left out.
    Raises msgspec.DecodeError for any other line that is no event.
    """
    for line in lines:
        if line.endswith(b"\n"):
            yield EVENT_DECODER.decode(line)
