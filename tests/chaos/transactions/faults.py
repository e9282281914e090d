"""What goes wrong, and when: periods of random mixtures of faults, a quarter of them of none.

Pure; the dice come from the caller. A random subset per period finds what one fixed mixture hides:
under steady resets, for example, no request ever gets late enough to be dangerous.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from headwater.core_log.testing.proxy import CALM, Late, Weather

QUIET_SHARE: Final = 0.25
PERIOD_SECONDS: Final = (4.0, 15.0)
PAUSE_SECONDS: Final = (0.3, 3.0)
"""Between two acts in a period."""


class Fault(StrEnum):
    KILL_BROKER = "kill-broker"
    KILL_CLIENT = "kill-client"
    RESET = "reset"
    STALL = "stall"
    LATENCY = "latency"
    LATE_REQUESTS = "late-requests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    seconds: float
    faults: tuple[Fault, ...]
    weather: Weather

    @property
    def acts(self) -> tuple[Fault, ...]:
        """Those that happen at moments; the others are in the weather."""
        standing = (Fault.LATENCY, Fault.LATE_REQUESTS)
        return tuple(fault for fault in self.faults if fault not in standing)


PRODUCE, ADD_OFFSETS, ADD_PARTITIONS, END_TXN, INIT, TXN_OFFSETS = 0, 25, 24, 26, 22, 28
LATE_SHARES: Final = {
    END_TXN: 0.15,
    ADD_PARTITIONS: 0.05,
    ADD_OFFSETS: 0.05,
    TXN_OFFSETS: 0.05,
    INIT: 0.1,
    PRODUCE: 0.01,
}
"""A late EndTxn shows only when it meets a transaction that ends in the other way: of those there
have to be many."""
LATE_MS: Final = (20, 3_000)


def periods(rng: random.Random, faults: tuple[Fault, ...], *, seconds: float) -> Iterator[Period]:
    """Periods that fill *seconds*, the first without faults: everybody is to get going."""
    yield Period(seconds=min(3.0, seconds), faults=(), weather=CALM)
    left = seconds - 3.0
    while left > 0:
        duration = min(rng.uniform(*PERIOD_SECONDS), left)
        left -= duration
        chosen: tuple[Fault, ...] = ()
        if faults and rng.random() >= QUIET_SHARE:
            chosen = tuple(sorted(rng.sample(faults, rng.randint(1, min(3, len(faults))))))
        yield Period(seconds=duration, faults=chosen, weather=_weather(rng, chosen))


def _weather(rng: random.Random, faults: tuple[Fault, ...]) -> Weather:
    is_slow = Fault.LATENCY in faults
    late: tuple[Late, ...] = ()
    if Fault.LATE_REQUESTS in faults:
        late = tuple(
            Late(api_key=api_key, share=share, delay_ms=LATE_MS, cuts_client=rng.random() < 0.8)
            for api_key, share in LATE_SHARES.items()
        )
    return Weather(
        latency_ms=(0, rng.choice([2, 20, 100])) if is_slow else (0, 0),
        slice_bytes=(1, rng.choice([10, 1_000])) if is_slow and rng.random() < 0.5 else None,
        late=late,
    )
