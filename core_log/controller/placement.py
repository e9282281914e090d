"""Where the replicas of new partitions go.

Pure. After the goals of Kafka's striped placement (KIP-36 and the KRaft controller): spread
leaders and replicas evenly over racks first and over the brokers of a rack second; never two
replicas on one broker; a fenced broker never leads, and takes replicas only when the others do not
suffice. The order starts at random, so that many one-partition topics spread as well.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar, final

from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ports import Random

T = TypeVar("T")

_NO_RACK: Final = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A registered broker that can take replicas."""

    broker_id: int
    rack: str | None
    fenced: bool


def place(
    candidates: Iterable[Candidate], *, partition_count: int, replication_factor: int, rng: Random
) -> list[tuple[int, ...]]:
    """Replicas for each new partition, the preferred leader first.

    Raises INVALID_REPLICATION_FACTOR when there are too few brokers, or none that may lead.
    """
    brokers = sorted(candidates, key=lambda candidate: candidate.broker_id)
    _check(brokers, replication_factor)
    racks = _racks(brokers, rng)
    return [_one(racks, number, replication_factor) for number in range(partition_count)]


@final
class _Rack:
    """The brokers of a rack, each list in the order in which it is used, round and round."""

    def __init__(self, unfenced: list[int], fenced: list[int]) -> None:
        self.unfenced = _Ring(unfenced)
        self.fenced = _Ring(fenced)

    def take(self, taken: Sequence[int]) -> int | None:
        """The next broker that is not *taken*; fenced ones last; None when all are."""
        found = self.unfenced.next_beside(taken)
        return self.fenced.next_beside(taken) if found is None else found


@final
class _Ring:
    def __init__(self, members: list[int]) -> None:
        self.members = members
        self._position = 0

    def next_beside(self, taken: Sequence[int]) -> int | None:
        for _ in self.members:
            member = self.members[self._position % len(self.members)]
            self._position += 1
            if member not in taken:
                return member
        return None


def _one(racks: list[_Rack], number: int, replication_factor: int) -> tuple[int, ...]:
    leading = [rack for rack in racks if rack.unfenced.members]
    start = racks.index(leading[number % len(leading)])
    leader = racks[start].unfenced.next_beside(())
    assert leader is not None
    replicas = [leader]
    step = 1
    while len(replicas) < replication_factor:
        broker = racks[(start + step) % len(racks)].take(replicas)
        if broker is not None:
            replicas.append(broker)
        step += 1
    return tuple(replicas)


def _racks(brokers: list[Candidate], rng: Random) -> list[_Rack]:
    members: dict[str, tuple[list[int], list[int]]] = {}
    for broker in brokers:
        unfenced, fenced = members.setdefault(broker.rack or _NO_RACK, ([], []))
        (fenced if broker.fenced else unfenced).append(broker.broker_id)
    racks = [
        _Rack(_shuffled(unfenced, rng), _shuffled(fenced, rng))
        for unfenced, fenced in members.values()
    ]
    return _shuffled(racks, rng)


def _shuffled(items: list[T], rng: Random) -> list[T]:
    """A random order; the port has no shuffle."""
    for last in range(len(items) - 1, 0, -1):
        other = rng.randrange(0, last + 1)
        items[last], items[other] = items[other], items[last]
    return items


def _check(brokers: list[Candidate], replication_factor: int) -> None:
    problem = None
    if all(broker.fenced for broker in brokers):
        problem = "All brokers are currently fenced, or have all their log directories cordoned."
    elif replication_factor > len(brokers):
        problem = (
            f"The target replication factor of {replication_factor} cannot be reached because "
            f"only {len(brokers)} broker(s) are registered or some brokers have all their log "
            "directories cordoned."
        )
    if problem is not None:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {replication_factor} time(s): {problem}",
        )
