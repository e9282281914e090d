"""The arithmetic of the flights demo: every distinct flight once, whatever came twice."""

from headwater.examples.flights.sums import CarrierSums, Ledger, mismatches

LINES = ["0,0,0,UA,1400,227,11\n", "0,1,2,UA,1416,,\n", "3,0,1,B6,1089,183,-18\n"]

UNITED = CarrierSums(flights=2, distance_miles=2816, air_time_minutes=227, arrival_delay_minutes=11)
JETBLUE = CarrierSums(
    flights=1, distance_miles=1089, air_time_minutes=183, arrival_delay_minutes=-18
)
EXPECTED = {"UA": UNITED, "B6": JETBLUE}


def ledger(*files: list[str]) -> Ledger:
    counted = Ledger()
    for lines in files:
        counted.add(lines)
    return counted


def test_sums_are_by_carrier_and_an_empty_cell_adds_nothing() -> None:
    """A cancelled flight has a distance and no minutes."""
    assert ledger(LINES).sums == EXPECTED


def test_a_record_that_came_twice_counts_once() -> None:
    """The killed member's last lines come again to another member."""
    counted = ledger(LINES, LINES[1:])
    assert (counted.sums, counted.redelivered) == (EXPECTED, 2)
    assert mismatches(counted, EXPECTED, flight_count=3) == []


def test_a_line_cut_by_the_kill_is_left_out() -> None:
    """Its record was not committed, so it comes again."""
    assert ledger([*LINES[:2], LINES[2][:-1]], LINES[2:]).sums == EXPECTED


def test_a_missed_flight_is_named() -> None:
    """The first missing row leads to the flight."""
    wrong = mismatches(ledger([LINES[0], LINES[1]]), EXPECTED, flight_count=3)
    assert wrong[0] == "1 flights were missed, the first is row 1"
    assert "carrier B6" in wrong[1]


def test_a_flight_that_lies_twice_in_the_log_is_wrong() -> None:
    """A redelivered record has the same place; a doubled one has two."""
    doubled = "0,2,2,UA,1416,,\n"
    wrong = mismatches(ledger([*LINES, doubled]), EXPECTED, flight_count=3)
    assert wrong[0] == "1 flights lie in the log twice"


def test_a_wrong_sum_is_said_with_both_sides() -> None:
    """Log and pandas are shown side by side."""
    (sentence,) = mismatches(ledger(LINES), {"UA": UNITED, "B6": UNITED}, flight_count=3)
    assert str(JETBLUE) in sentence
    assert str(UNITED) in sentence
