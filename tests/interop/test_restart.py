"""Clients live through a restart of the broker: sessions, members and offsets go on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .client import Client, DriverFailed, Member, Record, Refused
from .conftest import CLIENT_COMMANDS
from .data import records
from .target import Target, target
from .toolchain import needed
from .waiting import eventually

pytestmark = [pytest.mark.jvm, pytest.mark.node, pytest.mark.go]


@pytest.fixture
def system(tmp_path: Path) -> Iterator[Target]:
    """A broker of the test's own, to stop and kill."""
    own = needed(lambda: target(tmp_path))
    needed(own.start)
    yield own
    own.kill()


@pytest.mark.parametrize("end", ["stopped", "killed"])
def test_every_client_goes_on_after_a_restart(system: Target, end: str) -> None:
    """A member of each make was reading; afterwards it reads on, commits, and shares anew."""
    makes = {
        name: Client(name, [*needed(build), system.bootstrap])
        for name, build in CLIENT_COMMANDS.items()
    }
    try:
        sent: dict[str, list[Record]] = {}
        members: dict[str, Member] = {}
        for name, client in makes.items():
            client.create_topic(name, partitions=2)
            sent[name] = _sent("before", name)
            client.produce(name, sent[name])
            members[name] = client.join(f"group-of-{name}", [name], session_timeout_ms=10_000)
        for name, member in members.items():
            _reads(member, sent[name])
            member.commit()
        if end == "stopped":
            system.stop()
        else:
            system.kill()
        system.start()
        for name, client in makes.items():
            more = _sent("after", name)
            client.produce(name, more)
            sent[name] += more
        for name, member in members.items():
            _reads(member, sent[name])
            _commit(member)
            assert makes[name].committed(f"group-of-{name}", name, 1) == 40
            member.leave()
    finally:
        for client in makes.values():
            client.close()


def _sent(seed: str, name: str) -> list[Record]:
    return [
        each for part in (0, 1) for each in records(f"{seed} {name} {part}", 20, partition=part)
    ]


def _reads(member: Member, sent: list[Record]) -> None:
    """At least once: what was committed just before a kill may come again."""
    eventually(lambda: set(member.refresh().records) >= set(sent))
    assert set(member.records) == set(sent)


def _commit(member: Member) -> None:
    """Some clients hand the caller an error while they join anew; the caller tries again."""

    def commits() -> bool:
        try:
            member.commit()
        except (Refused, DriverFailed):
            return False
        return True

    eventually(commits)
