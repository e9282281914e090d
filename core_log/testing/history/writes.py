"""Rules about records: none lost, none twice, none from nowhere, each producer's in order. Pure."""

from collections import Counter
from collections.abc import Iterator

from .index import Index, Log, Record, at
from .rules import Anomaly, Rule


def duplicates(index: Index, *, allowed: Counter[Rule]) -> Iterator[Anomaly]:
    """A plain producer may write a record again after an answer it did not get; others may not."""
    for record in index.records.values():
        if not record.elsewhere:
            continue
        if record.is_sent and not record.idempotent:
            allowed[Rule.DUPLICATE] += 1
        else:
            facts = f"{record.value!r} lies at {record.where()}"
            yield Anomaly(rule=Rule.DUPLICATE, facts=facts)


def unread(index: Index, *, caught_up: bool) -> Iterator[Anomaly]:
    """What was promised and is not there."""
    for record in index.records.values():
        if record.is_seen or not record.is_promised:
            continue
        if record.acked_partition is None:
            if caught_up:
                facts = f"{record.value!r}, of a committed transaction, never acknowledged itself"
                yield Anomaly(rule=Rule.UNSEEN, facts=facts)
            continue
        facts = (
            f"{record.value!r}, acknowledged at {at(record.acked_partition, record.acked_offset)}"
        )
        if is_passed_over(index, record):
            yield Anomaly(rule=Rule.LOST_WRITE, facts=facts)
        elif caught_up:
            yield Anomaly(rule=Rule.UNSEEN, facts=facts)


def is_passed_over(index: Index, record: Record) -> bool:
    """Whether read_committed readers got further than the record, which none of them saw."""
    partition, offset = record.acked_partition, record.acked_offset
    if partition is None or offset is None:
        return False
    return offset < index.logs[partition].offset_last_seen


def unexpected(index: Index) -> Iterator[Anomaly]:
    """What should not be there."""
    for record in index.records.values():
        if not record.is_read:
            continue
        if not record.is_sent:
            yield Anomaly(rule=Rule.PHANTOM, facts=f"{record.value!r} was read at {record.where()}")
        elif record.is_refused:
            facts = f"{record.value!r} was read at {record.where()}"
            yield Anomaly(rule=Rule.REFUSED_READ, facts=facts)


def out_of_order_sends(index: Index) -> Iterator[Anomaly]:
    """Walk each partition by offset: the sends of one idempotent producer must only go up."""
    for log in index.logs.values():
        newest: dict[str, Record] = {}
        for record in log.records:
            if not record.idempotent:
                continue
            last = newest.get(record.process)
            if last is None or record.position >= last.position:
                newest[record.process] = record
            else:
                yield _changed_places(log, record, last)


def _changed_places(log: Log, record: Record, later: Record) -> Anomaly:
    is_inside = record.transaction is not None and record.transaction == later.transaction
    rule = Rule.INT_NONMONOTONIC_SEND if is_inside else Rule.NONMONOTONIC_SEND
    facts = (
        f"{record.process}: {record.value!r} in {at(log.partition, record.offset)} is behind "
        f"{later.value!r}, sent later"
    )
    return Anomaly(rule=rule, facts=facts)


def sparse_offsets(index: Index) -> Iterator[Anomaly]:
    """Offsets that hold nothing, below the last one seen."""
    for log in index.logs.values():
        offsets = log.offsets
        missing = offsets[-1] + 1 - len(offsets) if offsets else 0
        if missing:
            first = next(offset for offset in range(offsets[-1]) if offset not in log.at)
            facts = f"{missing} offsets hold nothing, the first is {at(log.partition, first)}"
            yield Anomaly(rule=Rule.SPARSE_OFFSETS, facts=facts)
