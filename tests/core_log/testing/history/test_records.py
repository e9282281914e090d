"""Every anomaly is planted in a small history and found; clean histories pass."""

import random

import msgspec
import pytest

from headwater.core_log.testing.history import (
    EVENT_DECODER,
    Acked,
    Event,
    Poll,
    PolledRecord,
    Refused,
    Rule,
    Send,
    check,
    read_history,
)


def send(value: str, *, process: str = "p", idempotent: bool = True) -> Send:
    return Send(process=process, value=value, idempotent=idempotent)


def acked(value: str, offset: int | None, *, partition: int = 0) -> Acked:
    return Acked(value=value, topic="t", partition=partition, offset=offset)


def poll(
    *records: tuple[int, str],
    process: str = "c",
    subscribed: bool = False,
    rebalanced: bool = False,
    partition: int = 0,
) -> Poll:
    return Poll(
        process=process,
        records=tuple(_record(partition, offset, value) for offset, value in records),
        subscribed=subscribed,
        rebalanced=rebalanced,
    )


def _record(partition: int, offset: int, value: str) -> PolledRecord:
    return ("t", partition, offset, value)


def written(*values: str, idempotent: bool = True) -> list[Event]:
    """The values sent by one producer, acknowledged at offsets 0, 1, ..."""
    sends = [send(value, idempotent=idempotent) for value in values]
    return [*sends, *(acked(value, offset) for offset, value in enumerate(values))]


def rules(history: list[Event], *, caught_up: bool = True, dense: bool = False) -> set[Rule]:
    return {anomaly.rule for anomaly in check(history, caught_up=caught_up, dense=dense)}


def test_an_empty_history_is_clean() -> None:
    """Nothing happened, nothing is wrong."""
    assert check([]) == []


def test_a_clean_history_passes_every_rule() -> None:
    """Written, acknowledged and read in order by an assigned and a subscribed reader."""
    history = [
        *written("a", "b", "c"),
        poll((0, "a"), (1, "b")),
        poll((2, "c")),
        poll((0, "a"), (1, "b"), (2, "c"), process="g", subscribed=True),
    ]
    assert check(history, dense=True) == []


PLANTED: dict[Rule, list[Event]] = {
    Rule.INCONSISTENT_OFFSETS: [
        *(send("a"), send("b")),
        *(poll((0, "a")), poll((0, "b"), process="d")),
    ],
    Rule.DUPLICATE: [send("a"), poll((0, "a"), (1, "a"))],
    Rule.LOST_WRITE: [*written("a", "b"), poll((1, "b"))],
    Rule.UNSEEN: [*written("a", "b"), poll((0, "a"))],
    Rule.REFUSED_READ: [send("a"), Refused(value="a"), poll((0, "a"))],
    Rule.PHANTOM: [poll((0, "a"))],
    Rule.NONMONOTONIC_SEND: [send("a"), send("b"), poll((0, "b"), (1, "a"))],
    Rule.POLL_SKIP: [
        *written("a", "b", "c"),
        *(poll((0, "a")), poll((2, "c"))),
        poll((0, "a"), (1, "b"), (2, "c"), process="d"),
    ],
    Rule.NONMONOTONIC_POLL: [*written("a", "b"), poll((0, "a"), (1, "b")), poll((0, "a"))],
    Rule.INT_POLL_SKIP: [
        *written("a", "b", "c"),
        poll((0, "a"), (2, "c"), subscribed=True),
        poll((0, "a"), (1, "b"), (2, "c"), process="d"),
    ],
    Rule.INT_NONMONOTONIC_POLL: [*written("a", "b"), poll((1, "b"), (0, "a"), subscribed=True)],
    Rule.SPARSE_OFFSETS: [send("a"), send("b"), poll((0, "a"), (2, "b"))],
}


@pytest.mark.parametrize("rule", list(PLANTED))
def test_a_planted_anomaly_is_found_and_nothing_else(rule: Rule) -> None:
    """Each rule has a history that breaks it and it alone."""
    assert rules(PLANTED[rule], dense=rule is Rule.SPARSE_OFFSETS) == {rule}


def test_an_anomaly_names_the_place() -> None:
    """What is printed leads to the record."""
    (anomaly,) = check(PLANTED[Rule.LOST_WRITE])
    assert str(anomaly) == "lost-write: 'a', acknowledged at t-0@0"


def test_a_plain_producer_may_repeat_and_reorder() -> None:
    """Without idempotence a retry after a lost answer writes twice and overtakes."""
    history: list[Event] = [
        *(send("a", idempotent=False), send("b", idempotent=False)),
        poll((0, "b"), (1, "a"), (2, "b")),
    ]
    assert check(history, dense=True) == []


def test_producers_do_not_order_each_other() -> None:
    """Order is promised within one producer's sends only."""
    history: list[Event] = [
        *(send("a", process="p"), send("b", process="q")),
        poll((0, "b"), (1, "a")),
    ]
    assert check(history) == []


def test_order_is_kept_per_partition_only() -> None:
    """The sends of one producer may come to lie in any order across partitions."""
    history: list[Event] = [
        *(send("a"), send("b")),
        *(poll((0, "b")), poll((0, "a"), partition=1)),
    ]
    assert check(history) == []


def test_each_record_behind_a_later_one_is_named() -> None:
    """The newest send so far counts, not the one just before."""
    history: list[Event] = [
        *(send("a"), send("b"), send("c"), send("x", process="q")),
        poll((0, "c"), (1, "x"), (2, "a"), (3, "b")),
    ]
    assert [anomaly.rule for anomaly in check(history)] == [Rule.NONMONOTONIC_SEND] * 2


def test_a_record_given_twice_in_one_poll_goes_back() -> None:
    """The position after a record is the next offset, not its own."""
    history = [*written("a"), poll((0, "a"), (0, "a"))]
    assert rules(history) == {Rule.INT_NONMONOTONIC_POLL}


def test_a_group_member_may_jump_between_polls() -> None:
    """A rebalance sends a member back to the committed offset, or on past another's work."""
    history = [
        *written("a", "b", "c"),
        *(poll((0, "a"), (1, "b"), subscribed=True), poll((0, "a"), subscribed=True)),
        *(poll((2, "c"), subscribed=True), poll((1, "b"), subscribed=True)),
    ]
    assert check(history) == []


def test_a_rebalance_inside_a_poll_excuses_a_jump() -> None:
    """Records from before and after a rebalance may sit in one poll."""
    history = [
        *written("a", "b", "c"),
        poll((0, "a"), (2, "c"), (0, "a"), subscribed=True, rebalanced=True),
        poll((1, "b"), process="d"),
    ]
    assert check(history) == []


def test_a_gap_that_holds_no_record_is_no_skip() -> None:
    """Offsets that transactions' markers take are passed over by everybody."""
    history: list[Event] = [send("a"), send("b"), poll((0, "a"), (2, "b"))]
    assert check(history) == []


def test_a_skip_counts_only_what_lies_between() -> None:
    """Records at both ends of the jump do not make it a skip; the one inside does."""
    history: list[Event] = [
        *(send("a"), send("b"), send("c")),
        *(poll((0, "a"), (4, "c")), poll((3, "b"), process="d")),
    ]
    assert rules(history) == {Rule.INT_POLL_SKIP}


def test_an_acknowledgement_without_offset_is_content_with_any_place() -> None:
    """A recognised duplicate is acknowledged without telling where it lies."""
    assert check([send("a"), acked("a", None), poll((7, "a"))]) == []
    assert rules([send("a"), acked("a", None), send("b"), poll((7, "b"))]) == {Rule.UNSEEN}


def test_an_acknowledged_offset_must_be_the_one_read() -> None:
    """An acknowledgement's offset is a statement about the log like a read."""
    assert rules([send("a"), acked("a", 0), poll((1, "a"))]) == {Rule.DUPLICATE}
    history: list[Event] = [send("a"), send("b"), acked("a", 0), poll((0, "b"), (1, "a"))]
    assert Rule.INCONSISTENT_OFFSETS in rules(history)


def test_unread_records_at_the_end_are_fine_until_readers_caught_up() -> None:
    """While a run lasts, the newest acknowledged records have not been polled yet."""
    history = [*written("a", "b"), poll((0, "a"))]
    assert check(history, caught_up=False) == []


def test_lost_is_judged_per_partition() -> None:
    """What was read of another partition says nothing of this one."""
    history: list[Event] = [
        *(send("a"), send("b"), acked("a", 0)),
        poll((9, "b"), partition=1),
    ]
    assert rules(history) == {Rule.UNSEEN}


def test_a_large_random_history_without_faults_is_clean() -> None:
    """Three producers, four partitions, readers of both kinds: no false alarm."""
    dice = random.Random(3)
    logs: list[list[str]] = [[], [], [], []]
    history: list[Event] = []
    for number in range(2_000):
        producer = dice.randrange(3)
        value = f"{producer}-{number}"
        partition = dice.randrange(4)
        history += [send(value, process=f"p{producer}")]
        history += [acked(value, len(logs[partition]), partition=partition)]
        logs[partition].append(value)
    for partition, log in enumerate(logs):
        position = 0
        while position < len(log):
            count = dice.randrange(1, 50)
            records = list(enumerate(log))[position : position + count]
            history.append(poll(*records, partition=partition))
            history.append(poll(*records, partition=partition, process="g", subscribed=True))
            position += count
    assert check(history, dense=True) == []


def test_events_survive_their_file_form() -> None:
    """Clients in other processes and languages write JSON lines."""
    events = [*written("a"), Refused(value="x"), poll((0, "a"), rebalanced=True)]
    lines = [msgspec.json.encode(event) + b"\n" for event in events]
    assert [EVENT_DECODER.decode(line) for line in lines] == events
    assert list(read_history(lines)) == events


def test_a_line_cut_short_by_its_writers_death_is_left_out() -> None:
    """Only the last line can be torn, and it has no end."""
    line = msgspec.json.encode(send("a"))
    assert list(read_history([line + b"\n", line[:-3]])) == [send("a")]
    with pytest.raises(msgspec.DecodeError):
        list(read_history([line[:-3] + b"\n"]))
