"""What a history can break, and what it may: the names, which are those of Jepsen's Kafka workload
where it has one. Values.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Rule(StrEnum):
    """Each member's comment says what breaks it."""

    INCONSISTENT_OFFSETS = "inconsistent-offsets"  # one offset held two values
    DUPLICATE = "duplicate"  # an idempotent producer's value lies at two offsets
    LOST_WRITE = "lost-write"  # promised, read by nobody, though later offsets were read
    UNSEEN = "unseen"  # promised, read by nobody, at the end of the log
    REFUSED_READ = "refused-read"  # a value that the broker had refused was read all the same
    PHANTOM = "phantom"  # read, but sent by nobody
    NONMONOTONIC_SEND = "nonmonotonic-send"  # an idempotent producer's records changed places
    INT_NONMONOTONIC_SEND = "int-nonmonotonic-send"  # ... inside one transaction
    POLL_SKIP = "poll-skip"  # a reader with assigned partitions passed over a record
    NONMONOTONIC_POLL = "nonmonotonic-poll"  # ... or went back
    INT_POLL_SKIP = "int-poll-skip"  # a record was passed over inside one poll or transaction
    INT_NONMONOTONIC_POLL = "int-nonmonotonic-poll"  # ... or the order went back inside one
    SPARSE_OFFSETS = "sparse-offsets"  # an offset below the last one holds nothing
    G1A = "g1a"  # a record of an aborted transaction was read at read_committed
    PRECOMMITTED_READ = "precommitted-read"  # a transaction polled what it was writing itself
    TORN_TRANSACTION = "torn-txn"  # of one transaction's writes some can be seen and others not
    G1C = "g1c"  # transactions read each other's writes in a circle
    G0 = "g0"  # transactions' writes lie before each other's in a circle
    INT_SEND_SKIP = "int-send-skip"  # others' records lie between the writes of a transaction
    PHANTOM_OFFSET = "phantom-offset"  # a group's committed offset that nobody committed
    STALE_OFFSET = "stale-offset"  # ... that had been replaced before it was asked for
    PROCESSED_TWICE = "processed-twice"  # two outputs of one group can be seen for one input
    NOT_PROCESSED = "not-processed"  # ... or none, though the input's offset is committed


ALWAYS_ALLOWED: Final = frozenset({Rule.G0, Rule.INT_SEND_SKIP})
"""Kafka does not isolate writes: producers share a partition record by record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomaly:
    rule: Rule
    facts: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.facts}"
