"""The judge of the flights demo's copy: each flight once, each aircraft's latest at the end."""

from headwater.examples.flights.aircraft import (
    Copies,
    copy_mismatches,
    report,
    survivor_mismatches,
)
from headwater.examples.flights.dataset import Flight


def flight(row: int, tailnum: str | None = "N1", carrier: str = "UA") -> Flight:
    return Flight(
        row=row,
        carrier=carrier,
        flight=1,
        tailnum=tailnum,
        origin="EWR",
        dest="IAH",
        distance=1,
        dep_delay=None,
        arr_delay=None,
        air_time=None,
    )


def copies(*flights: Flight) -> Copies:
    found = Copies()
    for each in flights:
        found.add(each)
    return found


def test_a_copy_with_each_flight_once_is_right() -> None:
    """In any order: its partitions are read side by side."""
    assert copy_mismatches(copies(flight(1), flight(0)), flight_count=2) == []


def test_a_flight_that_was_not_copied_is_named() -> None:
    """The first one leads to the transaction that lost it."""
    assert copy_mismatches(copies(flight(0), flight(2)), flight_count=3) == [
        "1 flights were not copied, the first is row 1"
    ]


def test_a_flight_copied_twice_is_wrong() -> None:
    """What a copy without transactions does when it is killed."""
    found = copies(flight(0), flight(1), flight(1))
    assert copy_mismatches(found, flight_count=2) == ["1 flights were copied twice"]


def test_flights_without_aircraft_are_counted_by_carrier() -> None:
    """They have no place in a compacted topic, and are not lost in silence."""
    found = copies(flight(0, None), flight(1, None, "9E"), flight(2, None), flight(3))
    assert found.without_aircraft == {"UA": 2, "9E": 1}
    assert copy_mismatches(found, flight_count=4) == []


EXPECTED = {"N1": 5, "N2": 7}


def test_survivors_are_the_last_flight_of_each_aircraft() -> None:
    """Nothing else is left."""
    assert survivor_mismatches([flight(5, "N1"), flight(7, "N2")], EXPECTED) == []


def test_an_older_flight_that_survived_is_surplus() -> None:
    """Compaction has kept two records of one key."""
    left = [flight(4, "N1"), flight(5, "N1"), flight(7, "N2")]
    assert survivor_mismatches(left, EXPECTED) == [
        "1 records are left beside the latest of their aircraft"
    ]


def test_an_older_flight_in_the_place_of_the_last_is_wrong() -> None:
    """The log and pandas are shown side by side; the last record of a key is what counts."""
    [said] = survivor_mismatches([flight(4, "N1"), flight(7, "N2")], EXPECTED)
    assert said == (
        "1 aircraft differ, such as N1: the log's latest flight is row 4, pandas' is row 5"
    )
    [lost] = survivor_mismatches([flight(7, "N2")], EXPECTED)
    assert "N1: the log's latest flight is row None" in lost


def test_an_aircraft_nobody_flew_is_wrong() -> None:
    """A key that the source does not have."""
    left = [flight(5, "N1"), flight(7, "N2"), flight(8, "N3")]
    assert survivor_mismatches(left, EXPECTED) == ["1 aircraft are in no flight, such as N3"]


def test_the_report_shows_where_every_flight_is() -> None:
    """Those without an aircraft by carrier, the most of them first."""
    found = copies(flight(0, None), flight(1, None, "9E"), flight(2, None, "9E"), flight(3))
    assert report(found, survivor_count=1, aircraft_count=1).splitlines() == [
        "          flights copied         4  0 of them twice",
        "             by aircraft         1  compacted, the tail number is the key",
        "     without tail number         3  9E 2, UA 1",
        "      left by compaction         1  pandas knows 1 aircraft",
    ]
