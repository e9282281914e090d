"""The book of a run's transactions: what clients intended and were told, held against the log.

Pure. Clients write events; at the end ``Book.judge`` takes what the logs hold, each record with the
decision of the marker behind it, and says what is wrong: a transaction that is torn, one that was
committed though nobody asked, one that is not though its client was told, one that nobody decided,
an input that was processed twice or not at all, a compacted log that is no dictionary.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from headwater.core_log.testing.history import Aborted, Begun, Committed, Committing, Event, Send

Place: TypeAlias = tuple[str, int, int]
"""Topic, partition, offset."""

Entry: TypeAlias = tuple[bytes, str | None]
"""Key and value of a record in a compacted topic; None is a tombstone."""

SHOWN_MAX: Final = 3


@dataclass(slots=True)
class Transaction:
    """What is known of one transaction from its client."""

    name: str
    values: list[str] = field(default_factory=list)
    committing: bool = False
    """Its client has asked for the commit, so that it may be committed."""
    outcome: bool | None = None
    """What its client was told: committed, aborted, or nothing."""


@dataclass(frozen=True, slots=True)
class Found:
    """One record in a log; ``committed`` is None while no marker stands behind it."""

    place: Place
    value: str
    committed: bool | None


@dataclass(slots=True)
class Book:
    """Everything that clients wrote down."""

    transactions: dict[str, Transaction] = field(default_factory=dict)
    transaction_of: dict[str, str] = field(default_factory=dict)
    """By value."""
    source_of: dict[str, str] = field(default_factory=dict)
    """The input's value by that of the output made from it."""
    acked: dict[str, Place] = field(default_factory=dict)
    latest: dict[tuple[int, int], tuple[Entry, str]] = field(default_factory=dict)
    """What was acknowledged in the compacted topic: by partition and offset, with transaction."""

    def add(self, event: Event) -> None:
        """Take note of what a client wrote down; what concerns no transaction is passed over."""
        match event:
            case Begun(transaction=name):
                assert name not in self.transactions, f"{name} begins twice"
                self.transactions[name] = Transaction(name)
            case Send(value=value, transaction=str(name)):
                self.transactions[name].values.append(value)
                self.transaction_of[value] = name
                if event.source is not None:
                    self.source_of[value] = event.source
            case Committing(transaction=name):
                self.transactions[name].committing = True
            case Committed(transaction=name):
                self.transactions[name].outcome = True
            case Aborted(transaction=name):
                self.transactions[name].outcome = False
            case _:
                pass

    def may_be_read(self, value: str) -> bool:
        """Whether a ``read_committed`` reader may see *value*, as far as is known now."""
        transaction = self.transactions[self.transaction_of[value]]
        return transaction.committing and transaction.outcome is not False

    def judge(self, found: Iterable[Found]) -> Iterator[str]:
        """What the logs hold that must not be, or lack that must be."""
        records: dict[str, list[Found]] = {}
        for record in found:
            records.setdefault(record.value, []).append(record)
            if record.value not in self.transaction_of:
                yield f"{record.value!r} at {record.place} was sent by nobody"
        for transaction in self.transactions.values():
            yield from self._judge_places(transaction, records)
            yield from self._judge_decision(transaction, records)

    def committed_in(self, found: Iterable[Found]) -> set[str]:
        """The transactions that the logs say were committed."""
        return {self.transaction_of[record.value] for record in found if record.committed}

    def judge_copies(
        self, found: Iterable[Found], inputs: Mapping[str, Place], ends: Mapping[int, int]
    ) -> Iterator[str]:
        """Inputs without exactly one committed output; *ends* are the group's offsets."""
        copies: dict[str, list[str]] = {}
        for record in found:
            if record.committed and record.value in self.source_of:
                copies.setdefault(self.source_of[record.value], []).append(record.value)
        for value, (_, partition, offset) in inputs.items():
            outputs = copies.get(value, [])
            if len(outputs) > 1:
                yield f"input {value!r} was processed {len(outputs)} times: {outputs}"
            elif not outputs and offset < ends.get(partition, 0):
                yield f"input {value!r} at offset {offset} is behind the group, and has no output"

    def dictionary(self, partition: int, committed: set[str]) -> dict[bytes, tuple[int, Entry]]:
        """The newest record of each key in a partition of the compacted topic, with its offset."""
        newest: dict[bytes, tuple[int, Entry]] = {}
        for (index, offset), (entry, name) in sorted(self.latest.items()):
            if index == partition and name in committed:
                newest[entry[0]] = (offset, entry)
        return newest

    def _judge_places(
        self, transaction: Transaction, records: Mapping[str, list[Found]]
    ) -> Iterator[str]:
        """Each value lies in one place, the one that was acknowledged if any was."""
        for value in transaction.values:
            places = [record.place for record in records.get(value, ())]
            acked = self.acked.get(value)
            if len(places) > 1:
                yield f"{value!r} of {transaction.name} lies at {places}"
            if acked is not None and acked not in places:
                yield f"{value!r} of {transaction.name} was acknowledged at {acked}, not {places}"

    def _judge_decision(
        self, transaction: Transaction, records: Mapping[str, list[Found]]
    ) -> Iterator[str]:
        """All is committed or all is aborted, and as the client asked and was told."""
        name = transaction.name
        places = [record for value in transaction.values for record in records.get(value, ())]
        decisions = {record.committed for record in places}
        if None in decisions:
            yield f"nobody decided {name}: {_shown(places, None)}"
        if {True, False} <= decisions:
            yield f"{name} is torn: committed {_shown(places, True)}, not {_shown(places, False)}"
        elif True in decisions:
            missing = [value for value in transaction.values if value not in records]
            if missing:
                yield f"{name} is torn: committed without {missing[:SHOWN_MAX]}"
            if not transaction.committing:
                yield f"{name} is committed, though nobody asked for it: {_shown(places, True)}"
            if transaction.outcome is False:
                yield f"{name} is committed, its client was told that it is aborted"
        elif transaction.outcome and transaction.values:
            yield f"{name} is not committed, its client was told so: {_shown(places, False)}"


def _shown(places: list[Found], decision: bool | None) -> str:  # noqa: FBT001 - one of three
    shown = [
        f"{record.value!r}@{record.place}" for record in places if record.committed is decision
    ]
    return ", ".join(shown[:SHOWN_MAX])
