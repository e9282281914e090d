"""Whether the copy has every flight once, and the compacted topic every aircraft's latest.

Pure. A flight is known by its row in the data set, an aircraft by its tail number.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .dataset import Flight


@dataclass(slots=True, kw_only=True)
class Copies:
    """What a reader of committed records found in the copy before anything was compacted."""

    rows: set[int] = field(default_factory=set)
    doubled: int = 0
    """Records of flights that were copied before."""
    without_aircraft: dict[str, int] = field(default_factory=dict)
    """Flights without a tail number, by carrier."""

    def add(self, flight: Flight) -> None:
        if flight.row in self.rows:
            self.doubled += 1
        self.rows.add(flight.row)
        if flight.tailnum is None:
            count = self.without_aircraft.get(flight.carrier, 0)
            self.without_aircraft[flight.carrier] = count + 1


def copy_mismatches(copies: Copies, *, flight_count: int) -> list[str]:
    """What is wrong with the copy, one sentence each; empty when each flight is there once."""
    found = []
    if missing := flight_count - len(copies.rows):
        first = next((row for row in range(flight_count) if row not in copies.rows), None)
        found.append(f"{missing} flights were not copied, the first is row {first}")
    if copies.doubled:
        found.append(f"{copies.doubled} flights were copied twice")
    return found


def survivor_mismatches(survivors: list[Flight], expected: Mapping[str, int]) -> list[str]:
    """What differs between the records left by compaction and *expected*, the last row by aircraft.

    Empty when each aircraft has exactly one record, and that is its last flight.
    """
    found = []
    latest = {flight.tailnum: flight.row for flight in survivors}
    if surplus := len(survivors) - len(latest):
        found.append(f"{surplus} records are left beside the latest of their aircraft")
    wrong = [name for name in expected if latest.get(name) != expected[name]]
    if wrong:
        name = min(wrong)
        found.append(
            f"{len(wrong)} aircraft differ, such as {name}: the log's latest flight is row "
            f"{latest.get(name)}, pandas' is row {expected[name]}"
        )
    if strange := latest.keys() - expected.keys():
        found.append(f"{len(strange)} aircraft are in no flight, such as {min(map(str, strange))}")
    return found


def report(copies: Copies, *, survivor_count: int, aircraft_count: int) -> str:
    """The copy in numbers, a line each."""
    unknown = sum(copies.without_aircraft.values())
    carriers = sorted(copies.without_aircraft.items(), key=lambda item: (-item[1], item[0]))
    row = "{:>24}  {:>8}  {}\n"
    rows = [
        ("flights copied", len(copies.rows), f"{copies.doubled} of them twice"),
        ("by aircraft", len(copies.rows) - unknown, "compacted, the tail number is the key"),
        ("without tail number", unknown, ", ".join(f"{name} {n:,}" for name, n in carriers)),
        ("left by compaction", survivor_count, f"pandas knows {aircraft_count:,} aircraft"),
    ]
    return "".join(row.format(name, f"{n:,}", note).rstrip() + "\n" for name, n, note in rows)
