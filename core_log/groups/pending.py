"""Offsets that open transactions have sent: they count when their transaction commits (KIP-98).

Kafka's rule, ours too: of two offsets for one partition the one whose *record* is younger stands,
however their transactions end. Compaction keeps the youngest record of a key, so any other rule
would say one thing before the log is cleaned and another one after. Kafka compares the offsets of
the records; here their order is enough, and ``put`` and ``overtake`` are called in it.
"""

from collections.abc import Iterator

from .committed import CommittedOffset, Place


class PendingOffsets:
    """A map producer id → place → offset, and back.

    An offset that a younger one has overtaken is None: it can never count, yet its transaction is
    open, and the place is as unstable as before. Invariant, see ``check``: both maps hold the same
    pairs, and no level of them is empty.
    """

    def __init__(self) -> None:
        self._places: dict[int, dict[Place, CommittedOffset | None]] = {}
        # For each group and place the producers whose transactions are open, oldest record first.
        self._producers: dict[str, dict[Place, dict[int, None]]] = {}

    def group_ids(self) -> Iterator[str]:
        """Every group that an open transaction has sent an offset for."""
        return iter(self._producers)

    def places(self, group_id: str) -> list[Place]:
        """Where offsets of the group are pending."""
        return list(self._producers.get(group_id, ()))

    def is_pending(self, place: Place) -> bool:
        """Whether an open transaction has sent an offset for *place*."""
        return place in self._producers.get(place.group_id, ())

    def put(self, producer_id: int, place: Place, offset: CommittedOffset) -> None:
        """Keep what the producer's transaction has sent; anything before it for *place* is gone."""
        self._places.setdefault(producer_id, {})[place] = offset
        producers = self._producers.setdefault(place.group_id, {}).setdefault(place, {})
        producers.pop(producer_id, None)
        producers[producer_id] = None

    def overtake(self, place: Place) -> None:
        """An offset that stands was written for *place*: nothing pending can count any more."""
        for producer_id in self._producers.get(place.group_id, {}).get(place, ()):
            self._places[producer_id][place] = None

    def remove(self, place: Place) -> None:
        """Forget what all transactions have sent for *place*; fine when there is nothing."""
        for producer_id in list(self._producers.get(place.group_id, {}).get(place, ())):
            self._forget(producer_id, place)

    def end(self, producer_id: int, *, is_commit: bool) -> list[tuple[Place, CommittedOffset]]:
        """The producer's transaction is over: nothing of it is pending. Returns what stands now.

        Older offsets that other transactions have pending for these places can not count any more.
        """
        stands = []
        for place, offset in list(self._places.get(producer_id, {}).items()):
            if is_commit and offset is not None:
                stands.append((place, offset))
                for older in self._producers[place.group_id][place]:
                    if older == producer_id:
                        break
                    self._places[older][place] = None
            self._forget(producer_id, place)
        return stands

    def check(self) -> None:
        """Assert the invariant; simulation calls this after every event."""
        assert all(self._places.values())
        assert all(places and all(places.values()) for places in self._producers.values())
        assert {(p, place) for p, places in self._places.items() for place in places} == {
            (producer_id, place)
            for group_id, places in self._producers.items()
            for place, producers in places.items()
            for producer_id in producers
            if place.group_id == group_id
        }

    def _forget(self, producer_id: int, place: Place) -> None:
        places = self._places[producer_id]
        del places[place]
        if not places:
            del self._places[producer_id]
        group = self._producers[place.group_id]
        producers = group[place]
        del producers[producer_id]
        if not producers:
            del group[place]
        if not group:
            del self._producers[place.group_id]
