"""Rules about transactions: all of them or nothing, and nobody reads what is not committed. Pure.

Kafka promises no isolation between writers, so circles of writes (G0) and foreign records between
a transaction's own are counted, not judged. What it promises are readers at read_committed.
"""

from collections import Counter
from collections.abc import Iterator

from .graph import circles
from .index import Index, Outcome, Record, Transaction
from .rules import Anomaly, Rule
from .writes import is_passed_over


def aborted_reads(index: Index) -> Iterator[Anomaly]:
    """G1a."""
    for transaction in index.transactions.values():
        if transaction.outcome is not Outcome.ABORTED:
            continue
        for record in transaction.sends:
            if record.is_seen:
                facts = f"{record.value!r} of {transaction.name}, read at {record.where()}"
                yield Anomaly(rule=Rule.G1A, facts=facts)


def precommitted_reads(index: Index) -> Iterator[Anomaly]:
    for transaction in index.transactions.values():
        for record in _read_in(index, transaction):
            if record.transaction == transaction.name:
                facts = f"{transaction.name} polled {record.value!r} at {record.where()}"
                yield Anomaly(rule=Rule.PRECOMMITTED_READ, facts=facts)


def torn_transactions(index: Index, *, caught_up: bool) -> Iterator[Anomaly]:
    """A client asks for a commit when all its sends are answered, so one visible means all."""
    for transaction in index.transactions.values():
        if transaction.outcome is Outcome.ABORTED:
            continue  # a record of it that can be seen is a G1a
        due = [record for record in transaction.sends if not record.is_refused]
        seen = [record for record in due if record.is_seen]
        if not seen:
            continue
        missing = [
            record
            for record in due
            if not record.is_seen and (caught_up or is_passed_over(index, record))
        ]
        if missing:
            facts = (
                f"{transaction.name} ({transaction.outcome}): {len(seen)} records were seen, as "
                f"{seen[0].value!r} at {seen[0].where()}; {len(missing)} not, as "
                f"{missing[0].value!r}"
            )
            yield Anomaly(rule=Rule.TORN_TRANSACTION, facts=facts)


def circular_reads(index: Index) -> Iterator[Anomaly]:
    """G1c, of write→read edges alone: with write→write edges circles are normal."""
    readers: dict[str, set[str]] = {}
    for transaction in index.transactions.values():
        if transaction.outcome is Outcome.ABORTED:
            continue
        for record in _read_in(index, transaction):
            writer = record.transaction
            if writer is not None and writer != transaction.name:
                readers.setdefault(writer, set()).add(transaction.name)
    for circle in circles(readers):
        facts = f"each read from another: {', '.join(sorted(circle))}"
        yield Anomaly(rule=Rule.G1C, facts=facts)


def count_interleaved_writes(index: Index, *, allowed: Counter[Rule]) -> None:
    """Adds G0 (groups of transactions in circles) and int-send-skip to *allowed*."""
    followers: dict[str, set[str]] = {}
    for log in index.logs.values():
        last: dict[str, int] = {}
        before: str | None = None
        for number, record in enumerate(log.records):
            transaction = record.transaction
            if transaction is None:
                continue
            if last.get(transaction, number - 1) != number - 1:
                allowed[Rule.INT_SEND_SKIP] += 1
            last[transaction] = number
            if before is not None and before != transaction:
                followers.setdefault(before, set()).add(transaction)
            before = transaction
    count = len(circles(followers))
    if count:
        allowed[Rule.G0] += count


def _read_in(index: Index, transaction: Transaction) -> Iterator[Record]:
    """What its reads at read_committed gave."""
    for poll in transaction.reads:
        if poll.read_committed:
            for _, _, _, value in poll.records:
                yield index.records[value]
