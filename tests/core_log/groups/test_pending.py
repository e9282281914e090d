"""Offsets of open transactions against a list of everything that was ever written."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.core_log.groups.committed import CommittedOffset, Place
from headwater.core_log.groups.offsets import Offsets

PLACES = [Place("g", "t", 0), Place("g", "t", 1), Place("g", "u", 0), Place("h", "t", 0)]
PRODUCER_IDS = [7, 8, 9]
CROWDED = [PLACES[0]] * 4 + PLACES  # errors live where several transactions meet


def at(number: int) -> CommittedOffset:
    return CommittedOffset(offset=number, commit_timestamp_ms=0)


@dataclass
class History:
    """The log as a child would keep it: what was written, and how each transaction ended.

    Each entry is (place, producer id or None, number); a tombstone's number is None.
    """

    entries: list[tuple[Place, int | None, int | None]] = field(default_factory=list)
    open: dict[int, list[int]] = field(default_factory=dict)  # producer id -> its entries
    aborted: set[int] = field(default_factory=set)

    def write(self, place: Place, producer_id: int | None, number: int | None) -> None:
        if producer_id is not None:
            self.open.setdefault(producer_id, []).append(len(self.entries))
        self.entries.append((place, producer_id, number))

    def end(self, producer_id: int, *, is_commit: bool) -> None:
        mine = self.open.pop(producer_id, [])
        if not is_commit:
            self.aborted.update(mine)

    def stands(self, place: Place) -> int | None:
        """What a cleaned log says: the youngest decided record that was not aborted."""
        undecided = {index for mine in self.open.values() for index in mine}
        for index in reversed(range(len(self.entries))):
            where, _, number = self.entries[index]
            if where == place and index not in undecided and index not in self.aborted:
                return number
        return None

    def is_pending(self, place: Place) -> bool:
        """Whether an open transaction wrote here behind the last tombstone."""
        tombstones = [
            index
            for index, (where, _, number) in enumerate(self.entries)
            if where == place and number is None
        ]
        return any(
            self.entries[index][0] == place and index > max(tombstones, default=-1)
            for mine in self.open.values()
            for index in mine
        )


STEPS = st.tuples(
    st.sampled_from(["put", "send", "send", "send", "remove", "commit", "commit", "abort"]),
    st.sampled_from(CROWDED),
    st.sampled_from(PRODUCER_IDS),
)


@settings(max_examples=100)
@given(st.lists(STEPS, min_size=10, max_size=30))
def test_the_youngest_record_stands(script: list[tuple[str, Place, int]]) -> None:
    """However transactions are interleaved and end: as a cleaned log would say."""
    offsets, history = Offsets(), History()
    for number, (verb, place, producer_id) in enumerate(script):
        match verb:
            case "put":
                offsets.put(*place, at(number))
                history.write(place, None, number)
            case "send":
                offsets.put_pending(producer_id, place, at(number))
                history.write(place, producer_id, number)
            case "remove":
                offsets.remove(*place)
                history.write(place, None, None)
            case _:
                before = {p: offsets.get(*p) for p in PLACES}
                changed = offsets.end(producer_id, is_commit=verb == "commit")
                history.end(producer_id, is_commit=verb == "commit")
                assert set(changed) == {p for p in PLACES if offsets.get(*p) != before[p]}
        offsets.check()
        for where in PLACES:
            found = offsets.get(*where)
            assert (None if found is None else found.offset) == history.stands(where)
            assert offsets.is_pending(where) == history.is_pending(where)
            assert offsets.has(where) == (found is not None or history.is_pending(where))


def test_an_overtaken_offset_is_pending_until_its_transaction_ends() -> None:
    """It can never count, and yet its place is as unstable as before."""
    offsets, place = Offsets(), PLACES[0]
    offsets.put_pending(7, place, at(1))
    offsets.put(*place, at(2))
    assert offsets.is_pending(place)
    assert offsets.end(7, is_commit=True) == []
    assert offsets.get(*place) == at(2)
    assert not offsets.is_pending(place)


def test_the_second_word_of_a_transaction_is_its_younger_one() -> None:
    """Younger than what another transaction has sent in between."""
    offsets, place = Offsets(), PLACES[0]
    for number, producer_id in enumerate([7, 8, 7]):
        offsets.put_pending(producer_id, place, at(number))
    assert offsets.end(7, is_commit=True) == [place]
    assert offsets.end(8, is_commit=True) == []
    assert offsets.get(*place) == at(2)


def test_an_older_transaction_leaves_the_younger_one_alone() -> None:
    """Whichever ends first."""
    offsets, place = Offsets(), PLACES[0]
    offsets.put_pending(7, place, at(1))
    offsets.put_pending(8, place, at(2))
    assert offsets.end(7, is_commit=True) == [place]
    assert offsets.get(*place) == at(1)
    assert offsets.end(8, is_commit=True) == [place]
    assert offsets.get(*place) == at(2)
