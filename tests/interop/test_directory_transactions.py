"""Directories change hands with transactions in them: finished, open, and about to be finished."""

from pathlib import Path

import pytest

from .client import FETCH_TIMEOUT_MS, Client
from .data import records
from .directories import Owner, serving
from .parity import API_BY_NAME, Context, Json, RawClient, Ref, converse
from .parity_steps import (
    NEW_END,
    commit,
    commit_offset,
    init,
    positions,
    settled,
    write,
)

pytestmark = pytest.mark.jvm

LONG_MS = 900_000
"""No time-out may end an open transaction before the next owner is asked about it."""
MANY = 24
QUIET_MS = 1_500
END_TXN = API_BY_NAME["EndTxn"]
UNSTABLE_OFFSET_COMMIT = 88
INVALID_PRODUCER_EPOCH = 47


@pytest.mark.parametrize("end", ["stopped", "killed"])
def test_transactions_change_hands_and_come_back(
    owners: tuple[Owner, Owner], end: str, tmp_path: Path
) -> None:
    """The next owner knows what was committed and aborted, holds readers back at what is open,
    and ends it as its producer asks."""
    first, second = owners
    with serving(first, tmp_path, end) as client:
        client.create_topic("t")
        kept = _finished(client, "first")
        open_one = _opened(client, "one")
    with serving(second, tmp_path, end) as client:
        assert _committed(client, 10) == kept
        assert _position(client, "finished") == (3, 0)
        assert _position(client, "of-one") == (-1, UNSTABLE_OFFSET_COMMIT)
        _commit(client, open_one)
        kept += [b"v"] * 2
        assert _committed(client, 12) == kept
        assert _position(client, "of-one") == (2, 0)
        assert _late_write(client, open_one) == INVALID_PRODUCER_EPOCH
        kept += _finished(client, "second")
        open_two = _opened(client, "two")
    with serving(first, tmp_path, end) as client:
        assert _committed(client, len(kept)) == kept
        with client.transactor("two") as heir:
            heir.begin()
            heir.commit()
        kept += _finished(client, "third")
        assert _committed(client, len(kept)) == kept
        assert _position(client, "of-two") == (-1, 0)
        third = _opened(client, "three")
        assert len({open_one["pid"], open_two["pid"], third["pid"]}) == 3


def test_what_was_about_to_end_is_ended_by_the_next_owner(
    owners: tuple[Owner, Owner], tmp_path: Path
) -> None:
    """Killed after the first answer to many EndTxn: an answered one is committed in both of its
    partitions, and none is committed in only one."""
    first, second = owners
    with serving(first, tmp_path, "stopped") as client:
        client.create_topic("t", partitions=2)
        client.transactor("who makes the coordinator's topic").close()
    system = first(tmp_path)
    system.start()
    try:
        open_ones = [_in_two_partitions(system.bootstrap, str(n)) for n in range(MANY)]
        askers = [_asked_to_commit(system.bootstrap, context) for context in open_ones]
        answers = [askers[0].receive(END_TXN, NEW_END)]
    finally:
        system.kill()
    answers += [asker.receive(END_TXN, NEW_END) for asker in askers[1:]]
    for asker in askers:
        asker.close()
    answered = {n for n, answer in enumerate(answers) if answer.get("error_code") == 0}
    assert 0 in answered
    with serving(second, tmp_path, "stopped") as client:
        for context in open_ones:
            converse(client.command[-1], [init(until=_is_initialised)], 5, context)
        read = [_committed(client, 2 * MANY, partition, quiet=True) for partition in (0, 1)]
    assert read[0] == read[1]
    assert {str(n).encode() for n in answered} <= set(read[0])


def _finished(client: Client, seed: str) -> list[bytes | None]:
    """A committed and an aborted transaction with positions; the values that stay."""
    kept, gone = records(f"kept {seed}", 10, partition=0), records("gone", 10, partition=0)
    with client.transactor(f"id-{seed}") as transactor:
        transactor.begin()
        transactor.send("t", kept)
        transactor.send_position("finished", "t", 0, 3)
        transactor.commit()
        transactor.begin()
        transactor.send("t", gone)
        transactor.send_position("finished", "t", 0, 9)
        transactor.abort()
    return [each.value for each in kept]


def _opened(client: Client, name: str) -> Context:
    """Two records and a position in an open transaction; what its producer knows."""
    context: Context = {"tx": name, "topic": "t", "group": f"of-{name}", "topic_id": bytes(16)}
    steps = [init(timeout_ms=LONG_MS), write(count=2), commit_offset(5)]
    answers = converse(client.command[-1], steps, 5, context)
    assert "'error_code': 0" in str(answers[-1])
    return context


def _in_two_partitions(bootstrap: str, name: str) -> Context:
    """An open transaction with a record that says its name in each partition."""
    context: Context = {"tx": name, "topic": "t", "topic_id": bytes(16)}
    values: list[tuple[bytes | None, bytes | None]] = [(b"k", name.encode())]
    steps = [write(partition=partition, values=values) for partition in (0, 1)]
    started = [init(timeout_ms=LONG_MS, until=_is_initialised), *steps]
    answers = converse(bootstrap, started, 5, context)
    assert "'error_code': 0" in str(answers[-1])
    return context


def _asked_to_commit(bootstrap: str, context: Context) -> RawClient:
    asker = RawClient(bootstrap)
    fields = {
        "transactional_id": context["tx"],
        "producer_id": context["pid"],
        "producer_epoch": context["epoch"],
        "committed": True,
    }
    asker.send(END_TXN, NEW_END, fields)
    return asker


def _is_initialised(answer: Json) -> bool:
    """Not before the coordinator has read its partition and ended what was open."""
    return bool(answer["error_code"] == 0)


def _commit(client: Client, context: Context) -> None:
    ((_, ended), _) = converse(client.command[-1], [commit(NEW_END), settled()], 5, context)
    assert ended["error_code"] == 0


def _late_write(client: Client, context: Context) -> int:
    """The code of a write with the epoch before the last."""
    ((_, answer),) = converse(client.command[-1], [write(epoch=Ref("epoch", -1))], 12, context)
    code: int = answer["responses"][0]["partition_responses"][0]["error_code"]
    return code


def _position(client: Client, group: str) -> tuple[int, int]:
    """Offset and error code of a stable look at the group's position in partition 0."""
    context: Context = {"topic": "t"}
    steps = [positions(stable=True, group=group)]
    ((_, answer),) = converse(client.command[-1], steps, 7, context)
    found = answer["topics"][0]["partitions"][0]
    return found["committed_offset"], found["error_code"]


def _committed(
    client: Client, count: int, partition: int = 0, *, quiet: bool = False
) -> list[bytes | None]:
    """The values that a reader of committed records gets, and no more than there should be."""
    wait_ms = QUIET_MS if quiet else FETCH_TIMEOUT_MS
    read = client.fetch("t", partition, count=count, timeout_ms=wait_ms, isolation="read_committed")
    more = client.fetch(
        "t",
        partition,
        start_offset=(read[-1].offset or 0) + 1,
        count=1,
        timeout_ms=QUIET_MS,
        isolation="read_committed",
    )
    assert more == [], "committed, and unexpected"
    return [each.value for each in read]
