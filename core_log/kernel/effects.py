"""What a coordinator's shard asks its runtime to do: records to append, replies to send and when.

The runtime appends ``records``, sends ``replies`` at once, and sends ``replies_after_commit`` when
everything that the shard has asked to append so far is committed; ``orders_after_commit`` are then
carried out too. Records of one Effects go into one batch when ``atomic`` is true; otherwise they
may be cut into several, none above the bound. Records of a ``sender`` are part of its transaction.

When an append fails, the runtime answers each waiting reply with its ``on_failure``, drops the
shard (``unload`` gives the replies that waited inside) and builds a new one by replay: the shard's
memory runs ahead of its log, so only the log can say what is true.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from .errors import ErrorCode

Record: TypeAlias = tuple[bytes, bytes | None]
"""Key and value of a coordinator's record; a value of None is a tombstone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sent a request, as group descriptions show it."""

    client_id: str = ""
    client_host: str = ""  # as Kafka writes it: "/127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Send *response* to *reply_to* now, whatever becomes of the records."""

    reply_to: object
    response: msgspec.Struct


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyAfterCommit:
    """Send *response* once all appends so far are committed, else ``on_failure(code)``.

    *code* is what the append failed with; the factory turns it into what the client expects.
    """

    reply_to: object
    response: msgspec.Struct
    on_failure: Callable[[ErrorCode], msgspec.Struct]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One line for the log: the event's name and its facts."""

    event: str
    facts: dict[str, str | int]
    severe: bool = False
    """A person must look at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """The producer in whose open transaction records are written."""

    producer_id: int
    producer_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Everything one step asks for, in order.

    What an order is, and who carries it out, is between a shard and its runtime. Orders of a failed
    append are dropped: the shard that is built by replay gives them again.
    """

    records: tuple[Record, ...] = ()
    atomic: bool = True
    sender: Sender | None = None
    replies: tuple[Reply, ...] = ()
    replies_after_commit: tuple[ReplyAfterCommit, ...] = ()
    orders_after_commit: tuple[object, ...] = ()
    notes: tuple[Note, ...] = ()


NO_EFFECTS = Effects()


@dataclass(slots=True, kw_only=True)
class Turn:
    """The effects of the step at hand while they are being collected, and its moment."""

    now_ms: int
    atomic: bool = True
    sender: Sender | None = None
    records: list[Record] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    replies_after_commit: list[ReplyAfterCommit] = field(default_factory=list)
    orders_after_commit: list[object] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def append(self, key: bytes, value: bytes | None) -> None:
        self.records.append((key, value))

    def reply(self, reply_to: object, response: msgspec.Struct) -> None:
        self.replies.append(Reply(reply_to=reply_to, response=response))

    def reply_after_commit(
        self,
        reply_to: object,
        response: msgspec.Struct,
        on_failure: Callable[[ErrorCode], msgspec.Struct],
    ) -> None:
        self.replies_after_commit.append(
            ReplyAfterCommit(reply_to=reply_to, response=response, on_failure=on_failure)
        )

    def order_after_commit(self, order: object) -> None:
        self.orders_after_commit.append(order)

    def note(self, event: str, **facts: str | int) -> None:
        self.notes.append(Note(event=event, facts=facts))

    def effects(self) -> Effects:
        return Effects(
            records=tuple(self.records),
            atomic=self.atomic,
            sender=self.sender,
            replies=tuple(self.replies),
            replies_after_commit=tuple(self.replies_after_commit),
            orders_after_commit=tuple(self.orders_after_commit),
            notes=tuple(self.notes),
        )
