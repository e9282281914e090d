"""The dice: a seed gives the fates of a connection's frames, and slices are the frame again."""

from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.testing.proxy import CALM, Late, Weather
from headwater.core_log.testing.proxy.weather import SLICES_MAX, Fate, Forecast

LATE = Late(api_key=26, share=0.5, delay_ms=(100, 200), cuts_client=True)
BAD = Weather(latency_ms=(5, 10), slice_bytes=(1, 10), reset_share=0.2, late=(LATE,))


def fates(seed: int, weather: Weather) -> list[Fate]:
    forecast = Forecast(seed)
    return [forecast.request(api_key, weather) for api_key in (0, 26, 1) * 200]


def test_a_seed_replays() -> None:
    assert fates(1, BAD) == fates(1, BAD)
    assert fates(1, BAD) != fates(2, BAD)


def test_calm_weather_does_nothing() -> None:
    assert set(fates(1, CALM)) == {Fate()}


def test_only_the_named_requests_are_late() -> None:
    """And about as many as asked for, within the delays asked for."""
    found = fates(1, BAD)
    late = [fate for fate in found if fate.cuts_client]
    assert 50 < len(late) < 110
    assert all(105 <= fate.delay_ms <= 210 for fate in late)
    others = [fate for number, fate in enumerate(found) if number % 3 != 1]
    assert not any(fate.cuts_client for fate in others)
    assert {fate.delay_ms for fate in others if not fate.is_lost} == {5, 6, 7, 8, 9, 10}
    assert 80 < sum(fate.is_lost for fate in found) < 160


@given(st.binary(max_size=2_000), st.integers(0, 100), st.integers(1, 50))
def test_slices_are_the_frame(frame: bytes, seed: int, most: int) -> None:
    pieces = Forecast(seed).slices(frame, Weather(slice_bytes=(0, most)))
    assert b"".join(pieces) == frame
    assert len(pieces) <= SLICES_MAX
    assert all(0 < len(piece) <= most for piece in pieces[:-1])


def test_a_large_frame_in_tiny_slices_is_cut_off_at_a_bound() -> None:
    """The rest goes as one: a fetch of megabytes byte by byte would take the run's time."""
    pieces = Forecast(1).slices(bytes(5_000), Weather(slice_bytes=(1, 1)))
    assert len(pieces) == SLICES_MAX
    assert len(pieces[-1]) == 5_000 - (SLICES_MAX - 1)
