"""A valid history with transactions passes; one change to it, and the rule it breaks is named."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import pytest

from headwater.core_log.testing.history import (
    ALWAYS_ALLOWED,
    Aborted,
    Acked,
    Begun,
    Committed,
    Committing,
    Event,
    Moved,
    OffsetsAcked,
    OffsetsFetched,
    OffsetsSent,
    Outcome,
    Poll,
    PolledRecord,
    Refused,
    Rule,
    Send,
    check,
    judge,
)


def send(
    value: str,
    transaction: str | None = None,
    *,
    process: str = "p",
    source: str | None = None,
    idempotent: bool = True,
) -> Send:
    return Send(
        process=process, value=value, idempotent=idempotent, transaction=transaction, source=source
    )


def acked(value: str, topic: str, partition: int, offset: int, at_ms: int = 20) -> Acked:
    return Acked(value=value, topic=topic, partition=partition, offset=offset, at_ms=at_ms)


def poll(
    process: str,
    *records: PolledRecord,
    transaction: str | None = None,
    subscribed: bool = False,
    read_committed: bool = True,
    rebalanced: bool = False,
) -> Poll:
    return Poll(
        process=process,
        records=records,
        subscribed=subscribed,
        rebalanced=rebalanced,
        read_committed=read_committed,
        transaction=transaction,
        at_ms=100,
    )


def committed(transaction: str, at_ms: int = 40) -> list[Event]:
    return [
        Committing(transaction=transaction, at_ms=at_ms - 1),
        Committed(transaction=transaction, at_ms=at_ms),
    ]


def fetched(*offsets: tuple[str, int, int], asked_ms: int = 200, stable: bool = True) -> Event:
    return OffsetsFetched(
        process="admin", group="g", offsets=offsets, stable=stable, asked_ms=asked_ms, at_ms=201
    )


def sent_offsets(
    *offsets: tuple[str, int, int], transaction: str | None = None, at_ms: int = 35
) -> OffsetsSent:
    return OffsetsSent(
        process="w", group="g", offsets=offsets, transaction=transaction, at_ms=at_ms
    )


def acked_offsets(at_ms: int) -> Event:
    return OffsetsAcked(process="w", group="g", at_ms=at_ms)


# Where the records lie; what is missing between them are markers.
A: Final = ("in", 0, 0, "a")  # t1, committed
C: Final = ("in", 0, 1, "c")  # t2, aborted
N: Final = ("in", 0, 4, "n")  # plain
D: Final = ("in", 0, 5, "d")  # t3, unknown outcome, in truth committed
B: Final = ("in", 1, 0, "b")  # t1
E: Final = ("in", 1, 2, "e")  # t3
A2: Final = ("out", 0, 0, "A")  # u1, made of a
B2: Final = ("out", 0, 1, "B")  # u1, made of b
X: Final = ("mixed", 0, 0, "x")  # m1
Y: Final = ("mixed", 0, 2, "y")  # m2, which read x
Z: Final = ("mixed", 0, 3, "z")  # m2

T2_END: Final = Aborted(transaction="t2", at_ms=40)
READ_IN_U1: Final = poll("w", A, B, transaction="u1", subscribed=True)
READ_IN_M2: Final = poll("m", X, transaction="m2")
ACK_D: Final = acked("d", "in", 0, 5)
ACK_E: Final = acked("e", "in", 1, 2)
ACK_Z: Final = acked("z", "mixed", 0, 3)
FIRST_POLL: Final = poll("r", A, N)
SECOND_POLL: Final = poll("r", D, B, E, A2, B2, X, Y, Z)
DIRTY_POLL: Final = poll("dirty", A, C, N, D, B, E, A2, B2, X, Y, Z, read_committed=False)
OFFSETS_OF_U1: Final = sent_offsets(("in", 0, 1), ("in", 1, 1), transaction="u1")
LAST_FETCH: Final = fetched(("in", 0, 1), ("in", 1, 1), ("in", 2, -1))
COMMITTED_U1: Final = committed("u1")

VALID: Final[tuple[Event, ...]] = (
    Begun(process="p", transaction="t1", at_ms=10),
    *(send("a", "t1"), send("b", "t1"), acked(A[3], "in", 0, 0), acked("b", "in", 1, 0)),
    *committed("t1"),
    *(send("c", "t2", process="q"), acked("c", "in", 0, 1), T2_END),
    *(send("n", process="plain", idempotent=False), acked("n", "in", 0, 4)),
    *(send("d", "t3"), send("e", "t3"), ACK_D, ACK_E, Committing(transaction="t3")),
    READ_IN_U1,
    *(send("A", "u1", process="w", source="a"), send("B", "u1", process="w", source="b")),
    *(acked("A", "out", 0, 0), acked("B", "out", 0, 1), OFFSETS_OF_U1),
    *COMMITTED_U1,
    *(send("x", "m1", process="m1"), acked("x", "mixed", 0, 0), *committed("m1")),
    *(READ_IN_M2, send("y", "m2", process="m"), send("z", "m2", process="m")),
    *(acked("y", "mixed", 0, 2), ACK_Z, *committed("m2")),
    *(FIRST_POLL, SECOND_POLL, DIRTY_POLL, LAST_FETCH),
)


def changed(*changes: tuple[Event, Sequence[Event]], more: Sequence[Event] = ()) -> list[Event]:
    """VALID with each of the first events replaced by the second, and *more* behind it."""
    history: list[Event] = list(VALID)
    for old, new in changes:
        place = history.index(old)
        history[place : place + 1] = new
    return [*history, *more]


def without(poll_: Poll, *records: PolledRecord) -> Poll:
    kept = tuple(record for record in poll_.records if record not in records)
    return msgspec.structs.replace(poll_, records=kept)


def test_the_valid_history_is_clean() -> None:
    assert check(VALID) == []
    assert judge(VALID).anomalies == []


@dataclass(frozen=True, kw_only=True)
class Case:
    history: list[Event]
    breaks: set[Rule]


ANOMALIES: dict[str, Case] = {
    "an aborted record read at read_committed": Case(
        history=changed((FIRST_POLL, [poll("r", A, C, N)])), breaks={Rule.G1A}
    ),
    "a record of a transaction whose client never asked for a commit": Case(
        history=changed((Committing(transaction="t3"), [])), breaks={Rule.G1A}
    ),
    "a transaction that polls its own write": Case(
        history=changed((READ_IN_M2, [poll("m", X, Y, transaction="m2")])),
        breaks={Rule.PRECOMMITTED_READ},
    ),
    "half of a transaction of unknown outcome": Case(
        history=changed((SECOND_POLL, [without(SECOND_POLL, E)])), breaks={Rule.TORN_TRANSACTION}
    ),
    "half of a committed transaction, though more was read behind it": Case(
        history=changed(
            (SECOND_POLL, [without(SECOND_POLL, Y)]),
            (DIRTY_POLL, [without(DIRTY_POLL, Y)]),
        ),
        breaks={Rule.TORN_TRANSACTION, Rule.LOST_WRITE, Rule.INT_POLL_SKIP},
    ),
    "half of a committed transaction, at the end": Case(
        history=changed((SECOND_POLL, [without(SECOND_POLL, Z)])),
        breaks={Rule.TORN_TRANSACTION, Rule.UNSEEN},
    ),
    "a record of a committed transaction that was never acknowledged": Case(
        history=changed(
            (ACK_Z, []),
            (SECOND_POLL, [without(SECOND_POLL, Z)]),
            (DIRTY_POLL, [without(DIRTY_POLL, Z)]),
        ),
        breaks={Rule.TORN_TRANSACTION, Rule.UNSEEN},
    ),
    "two transactions that read from each other": Case(
        history=changed(more=[poll("m1", Y, transaction="m1")]), breaks={Rule.G1C}
    ),
    "a circle of three": Case(
        history=changed(
            more=[
                *(poll("u", Y, transaction="u1"), poll("v", A2, transaction="m1")),
            ]
        ),
        breaks={Rule.G1C},
    ),
    "sends of a transaction that changed places": Case(
        history=changed(
            more=[
                *(send("k", "t4", process="s"), send("l", "t4", process="s"), *committed("t4")),
                poll("r", ("more", 0, 0, "l"), ("more", 0, 1, "k")),
            ]
        ),
        breaks={Rule.INT_NONMONOTONIC_SEND},
    ),
    "transactions of one producer that changed places": Case(
        history=changed(
            more=[
                *(send("k", "t4", process="s"), *committed("t4")),
                *(send("l", "t5", process="s"), *committed("t5")),
                poll("r", ("more", 0, 0, "l"), ("more", 0, 1, "k")),
            ]
        ),
        breaks={Rule.NONMONOTONIC_SEND},
    ),
    "an assigned reader that passes over a committed record": Case(
        history=changed(more=[poll("s", X), poll("s", Z)]), breaks={Rule.POLL_SKIP}
    ),
    "... inside a poll": Case(history=changed(more=[poll("s", X, Z)]), breaks={Rule.INT_POLL_SKIP}),
    "... between two polls of one transaction": Case(
        history=changed(more=[poll("s", X, transaction="v"), poll("s", Z, transaction="v")]),
        breaks={Rule.INT_POLL_SKIP},
    ),
    "a subscribed reader that passes over a record inside a transaction without a rebalance": Case(
        history=changed(
            more=[
                poll("s", X, transaction="v", subscribed=True),
                poll("s", Z, transaction="v", subscribed=True),
            ]
        ),
        breaks={Rule.INT_POLL_SKIP},
    ),
    "a reader at read_uncommitted that passes over an aborted record": Case(
        history=changed((DIRTY_POLL, [without(DIRTY_POLL, C)])), breaks={Rule.INT_POLL_SKIP}
    ),
    "an assigned reader that goes back": Case(
        history=changed(more=[poll("s", Z), poll("s", Y)]), breaks={Rule.NONMONOTONIC_POLL}
    ),
    "... back inside a poll": Case(
        history=changed(more=[poll("s", Y, Y)]), breaks={Rule.INT_NONMONOTONIC_POLL}
    ),
    "a group offset that nobody committed": Case(
        history=changed(more=[fetched(("in", 0, 2))]),
        breaks={Rule.PHANTOM_OFFSET},
    ),
    "a group offset of an aborted transaction": Case(
        history=changed(
            (COMMITTED_U1[1], [Aborted(transaction="u1")]),
            (SECOND_POLL, [without(SECOND_POLL, A2, B2)]),
        ),
        breaks={Rule.PHANTOM_OFFSET},
    ),
    "no group offset where one is committed": Case(
        history=changed((LAST_FETCH, [fetched(("in", 0, -1))])), breaks={Rule.STALE_OFFSET}
    ),
    "a group offset replaced before it was asked for": Case(
        history=changed(
            more=[
                *(sent_offsets(("in", 3, 1), at_ms=300), acked_offsets(310)),
                *(sent_offsets(("in", 3, 2), at_ms=320), acked_offsets(330)),
                fetched(("in", 3, 1), asked_ms=331),
            ]
        ),
        breaks={Rule.STALE_OFFSET},
    ),
    "an input with two outputs": Case(
        history=changed(
            more=[
                *(send("A'", "u2", process="w", source="a"), acked("A'", "out", 0, 3)),
                *(sent_offsets(("in", 0, 1), transaction="u2"), *committed("u2")),
                poll("r", ("out", 0, 3, "A'")),
            ]
        ),
        breaks={Rule.PROCESSED_TWICE},
    ),
    "an input without an output below the committed offset": Case(
        history=changed(
            (OFFSETS_OF_U1, [sent_offsets(("in", 0, 5), ("in", 1, 1), transaction="u1")]),
            (LAST_FETCH, []),
        ),
        breaks={Rule.NOT_PROCESSED},
    ),
    "an input of a plain producer, once in the log, with two outputs": Case(
        history=changed(
            more=[
                *(send("N1", "u2", process="w", source="n"), acked("N1", "out", 0, 3)),
                *(send("N2", "u2", process="w", source="n"), acked("N2", "out", 0, 4)),
                *(sent_offsets(("in", 0, 1), transaction="u2"), *committed("u2")),
                poll("r", ("out", 0, 3, "N1"), ("out", 0, 4, "N2")),
            ]
        ),
        breaks={Rule.PROCESSED_TWICE},
    ),
    "the older of two commits that ran at once, of which the later begun ended first": Case(
        history=changed(
            more=[
                *(sent_offsets(("in", 3, 1), at_ms=290), acked_offsets(305)),
                sent_offsets(("in", 3, 2), at_ms=300),
                OffsetsSent(process="v", group="g", offsets=(("in", 3, 3),), at_ms=310),
                *(OffsetsAcked(process="v", group="g", at_ms=320), acked_offsets(340)),
                fetched(("in", 3, 1), asked_ms=350),
            ]
        ),
        breaks={Rule.STALE_OFFSET},
    ),
    "a record at two places that nobody sent": Case(
        history=changed(more=[poll("s", ("more", 0, 0, "ghost"), ("more", 0, 1, "ghost"))]),
        breaks={Rule.PHANTOM, Rule.DUPLICATE},
    ),
    "a refused record of a transaction": Case(
        history=changed(more=[Refused(value="d")]), breaks={Rule.REFUSED_READ}
    ),
}


@pytest.mark.parametrize("name", ANOMALIES)
def test_a_change_breaks_its_rule_and_no_other(name: str) -> None:
    case = ANOMALIES[name]
    assert {anomaly.rule for anomaly in check(case.history)} == case.breaks


def test_every_rule_for_transactions_has_a_case() -> None:
    """The rules for single records have theirs in test_records."""
    of_records = {Rule.INCONSISTENT_OFFSETS, Rule.SPARSE_OFFSETS}
    broken = {rule for case in ANOMALIES.values() for rule in case.breaks}
    assert broken == set(Rule) - of_records - ALWAYS_ALLOWED


ALLOWED: dict[str, tuple[list[Event], Rule]] = {
    "writes of transactions that lie before each other in a circle": (
        changed(
            more=[
                *(send("k", "t4", process="s"), send("l", "t4", process="s"), *committed("t4")),
                *(send("k2", "t5", process="v"), send("l2", "t5", process="v"), *committed("t5")),
                poll("r", ("more", 0, 0, "k"), ("more", 0, 1, "k2")),
                poll("r", ("more", 1, 0, "l2"), ("more", 1, 1, "l")),
            ]
        ),
        Rule.G0,
    ),
    "a record of others between those of a transaction": (
        changed(
            more=[
                *(send("k", "t4", process="s"), send("l", "t4", process="s"), *committed("t4")),
                send("between", process="plain", idempotent=False),
                poll("r", ("more", 0, 0, "k"), ("more", 0, 1, "between"), ("more", 0, 2, "l")),
            ]
        ),
        Rule.INT_SEND_SKIP,
    ),
    "a subscribed reader that is sent on": (
        changed(more=[poll("s", X, subscribed=True), poll("s", Z, subscribed=True)]),
        Rule.POLL_SKIP,
    ),
    "a subscribed reader that is sent back": (
        changed(more=[poll("s", Z, subscribed=True), poll("s", X, subscribed=True)]),
        Rule.NONMONOTONIC_POLL,
    ),
    "a plain producer's record written again": (
        changed(
            more=[
                poll("r", ("in", 0, 8, "n")),
                poll("dirty", ("in", 0, 8, "n"), read_committed=False),
            ]
        ),
        Rule.DUPLICATE,
    ),
    "a rebalance inside a poll, on": (
        changed(more=[poll("s", X, Z, subscribed=True, rebalanced=True)]),
        Rule.INT_POLL_SKIP,
    ),
    "a rebalance inside a poll, back": (
        changed(more=[poll("s", Z, X, subscribed=True, rebalanced=True)]),
        Rule.INT_NONMONOTONIC_POLL,
    ),
    "a rebalance inside a transaction": (
        changed(
            more=[
                poll("s", Z, transaction="v", subscribed=True),
                poll("s", X, transaction="v", subscribed=True, rebalanced=True),
            ]
        ),
        Rule.INT_NONMONOTONIC_POLL,
    ),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_kafka_does_not_promise_is_counted(name: str) -> None:
    history, rule = ALLOWED[name]
    verdict = judge(history)
    assert verdict.anomalies == []
    assert verdict.allowed == {rule: 1}


CLEAN: dict[str, list[Event]] = {
    "an aborted record read at read_uncommitted": [*VALID],
    "an unknown outcome of which nothing is seen": changed(
        (SECOND_POLL, [without(SECOND_POLL, D, E)])
    ),
    "a transaction that never asked for a commit and of which nothing is seen": changed(
        (Committing(transaction="t3"), []), (SECOND_POLL, [without(SECOND_POLL, D, E)])
    ),
    "an assigned reader put back on purpose": changed(
        more=[poll("s", Z), Moved(process="s"), poll("s", X)]
    ),
    "... after several polls": changed(
        more=[poll("s", X), poll("s", Y), Moved(process="s"), poll("s", X)]
    ),
    "... inside a transaction": changed(
        more=[
            *(poll("s", Z, transaction="v"), Moved(process="s"), poll("s", X, transaction="v")),
        ]
    ),
    "a reader inside a transaction that goes on where it was before": changed(
        more=[poll("s", X), poll("s", Y, transaction="v"), poll("s", Z, transaction="v")]
    ),
    "its own write polled by a transaction at read_uncommitted": changed(
        more=[poll("m", Y, transaction="m2", read_committed=False)]
    ),
    "a refused record of a committed transaction": changed(
        more=[send("k", "m2", process="m"), Refused(value="k")]
    ),
    "an aborted transaction that read what another aborted one wrote, in a circle": changed(
        more=[
            *(send("k", "t4", process="s"), send("l", "t5", process="v")),
            poll("s", ("more", 0, 1, "l"), transaction="t4", read_committed=False),
            poll("v", ("more", 0, 0, "k"), transaction="t5", read_committed=False),
        ]
    ),
    "a fetch that overlaps a commit finds the old offset": changed(
        more=[
            *(sent_offsets(("in", 3, 1), at_ms=300), acked_offsets(310)),
            *(sent_offsets(("in", 3, 2), at_ms=320), acked_offsets(330)),
            *(fetched(("in", 3, 1), asked_ms=325), fetched(("in", 3, 2), asked_ms=325)),
        ]
    ),
    "a commit without an answer may count or not": changed(
        more=[
            *(sent_offsets(("in", 3, 1), at_ms=300), acked_offsets(310)),
            sent_offsets(("in", 3, 2), at_ms=320),
            *(fetched(("in", 3, 1), asked_ms=400), fetched(("in", 3, 2), asked_ms=400)),
        ]
    ),
    "offsets set back on purpose": changed(
        more=[
            *(sent_offsets(("in", 3, 2), at_ms=300), acked_offsets(310)),
            *(sent_offsets(("in", 3, 1), at_ms=320), acked_offsets(330)),
            fetched(("in", 3, 1), asked_ms=340),
        ]
    ),
    "an unstable fetch just after a commit": changed(
        (LAST_FETCH, [fetched(("in", 0, -1), stable=False)])
    ),
    "an input whose first output was aborted": changed(
        more=[
            *(send("A'", "u2", process="w", source="a"), acked("A'", "out", 0, 3)),
            *(sent_offsets(("in", 0, 1), transaction="u2"), Aborted(transaction="u2")),
        ]
    ),
    "an input that a plain producer wrote twice, with two outputs": changed(
        more=[
            *(send("N1", "u2", process="w", source="n"), acked("N1", "out", 0, 3)),
            *(send("N2", "u2", process="w", source="n"), acked("N2", "out", 0, 4)),
            *(sent_offsets(("in", 0, 1), transaction="u2"), *committed("u2")),
            poll("r", ("out", 0, 3, "N1"), ("out", 0, 4, "N2"), ("in", 0, 8, "n")),
        ]
    ),
    "an input at the committed offset, which is the next to be processed": changed(
        (OFFSETS_OF_U1, [sent_offsets(("in", 0, 4), ("in", 1, 1), transaction="u1")]),
        (LAST_FETCH, []),
    ),
    "a transaction with the offsets of two groups": changed(
        more=[OffsetsSent(process="w", group="h", offsets=(("in", 0, 1),), transaction="u1")],
    ),
    "an input with outputs of two groups": changed(
        more=[
            *(send("A'", "u2", process="v", source="a"), acked("A'", "out", 0, 3)),
            OffsetsSent(process="v", group="h", offsets=(("in", 0, 1),), transaction="u2"),
            *(*committed("u2"), poll("r", ("out", 0, 3, "A'"))),
        ]
    ),
}


@pytest.mark.parametrize("name", CLEAN)
def test_what_may_be_is_no_anomaly(name: str) -> None:
    assert check(CLEAN[name]) == []


def test_torn_is_known_before_everybody_caught_up_where_readers_passed_by() -> None:
    """The missing half lies behind something that was read."""
    history = changed(
        (SECOND_POLL, [without(SECOND_POLL, D)]),
        more=[send("k", process="plain"), poll("r", ("in", 0, 7, "k"))],
    )
    broken = {anomaly.rule for anomaly in check(history, caught_up=False)}
    assert broken == {Rule.TORN_TRANSACTION}
    not_yet_read = changed((SECOND_POLL, [without(SECOND_POLL, D)]))
    assert check(not_yet_read, caught_up=False) == []


def test_what_is_not_processed_may_still_come_to_be_seen() -> None:
    """Until the readers caught up nobody can tell."""
    history = changed(
        (OFFSETS_OF_U1, [sent_offsets(("in", 0, 5), ("in", 1, 1), transaction="u1")]),
        (LAST_FETCH, []),
    )
    assert check(history, caught_up=False) == []


def test_offsets_of_another_group_in_the_same_transaction_say_nothing_of_this_one() -> None:
    """Group h is further than g, which is fine for g."""
    further = OffsetsSent(process="w", group="h", offsets=(("in", 0, 5),), transaction="u1")
    broken = check(changed(more=[further]))
    assert [anomaly.rule for anomaly in broken] == [Rule.NOT_PROCESSED]
    assert "group 'h' is at 5" in broken[0].facts


def test_a_verdict_counts() -> None:
    verdict = judge(VALID)
    assert verdict.sent_count == 11
    assert verdict.acked_count == 11
    assert verdict.polled_count == 10 + 11 + 3
    assert verdict.outcomes == {Outcome.COMMITTED: 4, Outcome.ABORTED: 1, Outcome.UNKNOWN: 1}


def test_a_transaction_ends_in_one_way() -> None:
    """A client that was told both is a client with a bug, and so is its history."""
    with pytest.raises(AssertionError, match="'t2' ended in both ways"):
        check([*VALID, Committed(transaction="t2")])


def test_order_between_clients_does_not_matter() -> None:
    """Files of clients are read one after the other, in any order."""
    by_client: dict[str, list[Event]] = {}
    for event in VALID:
        match event:
            case Poll():
                name = event.process
            case _:
                name = "producers"
        by_client.setdefault(name, []).append(event)
    for seed in range(5):
        names = sorted(by_client)
        random.Random(seed).shuffle(names)
        assert check([event for name in names for event in by_client[name]]) == []


def long_history(rng: random.Random, *, transactions: int) -> list[Event]:
    """Transactions of three producers interleaved in four partitions; two readers of all."""
    logs: list[list[PolledRecord]] = [[], [], [], []]
    ends = [0, 0, 0, 0]
    aborted: set[str] = set()
    history: list[Event] = []
    for number in range(transactions):
        process = f"p{rng.randrange(3)}"
        name = f"{process}#{number}"
        values = [f"{name}:{count}" for count in range(rng.randrange(1, 6))]
        history += [send(value, name, process=process) for value in values]
        touched = set()
        for value in values:
            partition = rng.randrange(4)
            touched.add(partition)
            logs[partition].append(("t", partition, ends[partition], value))
            history.append(acked(value, "t", partition, ends[partition], at_ms=number))
            ends[partition] += 1
        for partition in touched:  # the marker
            ends[partition] += 1
        if rng.random() < 0.2:
            aborted.update(values)
            history.append(Aborted(transaction=name))
        else:
            history += committed(name, at_ms=number)
    for read_committed in (True, False):
        for log in logs:
            seen = [record for record in log if not (read_committed and record[3] in aborted)]
            for start in range(0, len(seen), 7):
                batch = seen[start : start + 7]
                reader = f"r{read_committed}"
                history.append(poll(reader, *batch, read_committed=read_committed))
    return history


def test_a_long_history_without_faults_is_clean() -> None:
    assert judge(long_history(random.Random(5), transactions=500)).anomalies == []


@pytest.mark.parametrize("seed", range(20))
def test_one_record_moved_in_a_long_history_is_noticed(seed: int) -> None:
    """A reader is not given one record, or is given one of an aborted transaction."""
    rng = random.Random(seed)
    history = long_history(rng, transactions=60)
    number, victim = rng.choice(
        [
            (number, event)
            for number, event in enumerate(history)
            if isinstance(event, Poll) and event.read_committed and len(event.records) > 2
        ]
    )
    history[number] = without(victim, victim.records[1])
    assert check(history) != []


def test_two_places_of_a_record_are_one_duplicate() -> None:
    """Named once, however many readers saw it."""
    history = changed(
        more=[
            *(poll("s", ("more", 0, 9, "z")), poll("v", ("more", 0, 9, "z"))),
        ]
    )
    assert [anomaly.rule for anomaly in check(history)] == [Rule.DUPLICATE]
