"""Sums over distinct flights, from what the group's members wrote down.

Pure. Each member appends a line ``partition,offset,row,carrier,distance,air_time,arr_delay`` per
record *before* it commits, so a killed member's last work is in its file and comes a second time
to somebody else. A record is one (partition, offset): it counts once, however often it came.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class CarrierSums:
    flights: int = 0
    distance_miles: int = 0
    air_time_minutes: int = 0
    arrival_delay_minutes: int = 0

    def __add__(self, other: "CarrierSums") -> "CarrierSums":
        return CarrierSums(
            flights=self.flights + other.flights,
            distance_miles=self.distance_miles + other.distance_miles,
            air_time_minutes=self.air_time_minutes + other.air_time_minutes,
            arrival_delay_minutes=self.arrival_delay_minutes + other.arrival_delay_minutes,
        )


@dataclass(slots=True, kw_only=True)
class Ledger:
    """What all members together have seen."""

    sums: dict[str, CarrierSums] = field(default_factory=dict)
    rows: set[int] = field(default_factory=set)
    """Flights seen, by their row in the data set."""
    places: set[tuple[int, int]] = field(default_factory=set)
    redelivered: int = 0
    """Lines whose record had been counted already."""
    doubled: int = 0
    """Flights that lie in the log twice: the producer's promise was broken."""

    def add(self, lines: Iterable[str]) -> None:
        """Count a member's lines. A last line without its end, cut by a kill, is left out."""
        for line in lines:
            if line.endswith("\n"):
                self._count(line.rstrip("\n").split(","))

    def _count(self, cells: list[str]) -> None:
        partition, offset, row, carrier, distance, air_time, delay = cells
        place = (int(partition), int(offset))
        if place in self.places:
            self.redelivered += 1
            return
        self.places.add(place)
        if int(row) in self.rows:
            self.doubled += 1
        self.rows.add(int(row))
        one = CarrierSums(
            flights=1,
            distance_miles=int(distance),
            air_time_minutes=int(air_time or 0),
            arrival_delay_minutes=int(delay or 0),
        )
        self.sums[carrier] = self.sums.get(carrier, CarrierSums()) + one


def mismatches(ledger: Ledger, expected: dict[str, CarrierSums], *, flight_count: int) -> list[str]:
    """What differs from pandas' sums, one sentence each; empty when all is as it should be."""
    found = []
    missing = flight_count - len(ledger.rows)
    if missing:
        first = next((row for row in range(flight_count) if row not in ledger.rows), None)
        found.append(f"{missing} flights were missed, the first is row {first}")
    if ledger.doubled:
        found.append(f"{ledger.doubled} flights lie in the log twice")
    for carrier in sorted(expected.keys() | ledger.sums.keys()):
        ours, theirs = ledger.sums.get(carrier), expected.get(carrier)
        if ours != theirs:
            found.append(f"carrier {carrier}: the log says {ours}, pandas says {theirs}")
    return found
