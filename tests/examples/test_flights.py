"""The flights demo, told whole on a slice of the data."""

from pathlib import Path

import msgspec
import pytest

from headwater.examples.flights import dataset
from headwater.examples.flights.dataset import Flight
from headwater.examples.flights.demo import Options, run

SLICE = 30_000


def test_the_whole_data_set_is_there() -> None:
    """What the README promises: 336,776 flights."""
    assert len(dataset.load()) == dataset.FLIGHT_COUNT


def test_a_record_is_keyed_by_carrier_and_carries_its_time() -> None:
    """The first flight of the year: United 1545 to Houston, scheduled at 5:15 in New York."""
    key, value, timestamp_ms = next(dataset.records(dataset.load(1)))
    assert key == b"UA"
    assert timestamp_ms == 1_357_035_300_000  # 2013-01-01T10:15:00Z
    assert msgspec.json.decode(value, type=Flight) == Flight(
        row=0,
        carrier="UA",
        flight=1545,
        tailnum="N14228",
        origin="EWR",
        dest="IAH",
        distance=1400,
        dep_delay=2,
        arr_delay=11,
        air_time=227,
    )


@pytest.mark.slow
def test_flights_are_in_the_order_of_departure() -> None:
    """The data set has October right behind January; whoever is last there is not the latest."""
    times = [timestamp_ms for _, _, timestamp_ms in dataset.records(dataset.load(30_000))]
    assert times == sorted(times)


def test_the_last_flight_of_an_aircraft_is_its_row() -> None:
    """As pandas finds it; flights without a tail number belong to no aircraft."""
    frame = dataset.load(1_000)
    latest: dict[str, int] = {}
    for _, value, _ in dataset.records(frame):
        flight = msgspec.json.decode(value, type=Flight)
        if flight.tailnum is not None:
            latest[flight.tailnum] = flight.row
    assert dataset.expected_latest(frame) == latest


@pytest.mark.slow
def test_the_demo_counts_every_flight_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A reader is killed, then a copier and the broker; nothing is missed, nothing doubled.

    Compaction leaves the latest flight of each aircraft. The folder stays behind.
    """
    directory = tmp_path / "demo"
    assert run(Options(directory=directory, flight_limit=SLICE))
    told = capsys.readouterr().out
    assert "killed (SIGKILL)" in told
    assert "every sum equals pandas'" in told
    assert told.count("copier killed (SIGKILL)") == 2
    assert "broker killed (SIGKILL) too" in told
    assert f"{SLICE:,} distinct flights in the copy, 0 twice" in told
    assert "without tail number       156  9E 76, US 47, UA 32, AA 1" in told
    assert "the survivors are pandas' last flight per aircraft" in told
    assert (directory / "broker" / "broker.log").exists()
