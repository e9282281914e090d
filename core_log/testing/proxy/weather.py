"""What goes wrong on the way by itself: delays, cuts, late requests, losses. Pure, seeded."""

import random
from dataclasses import dataclass
from typing import Final, TypeAlias, final

Range: TypeAlias = tuple[int, int]
"""Least and most, both included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """Some requests of one kind arrive late, and all that their connection sends behind them."""

    api_key: int
    share: float
    """Of the requests of that kind; from 0 to 1."""
    delay_ms: Range
    cuts_client: bool
    """Whether the client loses its connection at once: it goes on over a new one, and the late
    request arrives when nobody waits for it any more. Otherwise it waits until it times out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """What every connection goes through. Delays are drawn for each frame; frames of a connection
    stay in order, frames of two connections overtake each other.
    """

    latency_ms: Range = (0, 0)
    slice_bytes: Range | None = None
    """Frames are written in pieces of a size drawn from here."""
    reset_share: float = 0.0
    """Of all requests: instead of being carried on, the request is lost with its connection."""
    late: tuple[Late, ...] = ()


CALM: Final = Weather()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What happens to one frame."""

    delay_ms: int = 0
    is_lost: bool = False
    cuts_client: bool = False


@final
class Forecast:
    """The dice of one connection: a seed and the order of its frames give every fate."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)  # noqa: S311 - faults, not secrets

    def request(self, api_key: int, weather: Weather) -> Fate:
        if self._rng.random() < weather.reset_share:
            return Fate(is_lost=True)
        delay_ms = self._rng.randint(*weather.latency_ms)
        for late in weather.late:
            if late.api_key == api_key and self._rng.random() < late.share:
                late_ms = delay_ms + self._rng.randint(*late.delay_ms)
                return Fate(delay_ms=late_ms, cuts_client=late.cuts_client)
        return Fate(delay_ms=delay_ms)

    def answer(self, weather: Weather) -> Fate:
        return Fate(delay_ms=self._rng.randint(*weather.latency_ms))

    def slices(self, frame: bytes, weather: Weather) -> list[bytes]:
        """The pieces in which *frame* is written, at most ``SLICES_MAX``."""
        if weather.slice_bytes is None:
            return [frame]
        pieces: list[bytes] = []
        start = 0
        while start < len(frame) and len(pieces) < SLICES_MAX - 1:
            size = max(1, self._rng.randint(*weather.slice_bytes))
            pieces.append(frame[start : start + size])
            start += size
        return [*pieces, frame[start:]] if start < len(frame) else pieces


SLICES_MAX: Final = 64
"""A fetch of megabytes in pieces of a byte would take the run's time: the rest goes as one."""
