"""Which seeds a run takes: a few by default, others by environment.

``HEADWATER_SIM_SEED=7`` begins at seed 7 (``random`` at a random one), ``HEADWATER_SIM_SEEDS=500``
takes so many, ``HEADWATER_SIM_SCENARIO=disk`` only that scenario. ``make sim`` sets them.
"""

import os
import random
from typing import Final

from .swarm import SCENARIOS
from .transaction_swarm import SCENARIOS as TRANSACTION_SCENARIOS

SEEDS_BY_DEFAULT: Final = 20
TRANSACTION_SEEDS_BY_DEFAULT: Final = 2
"""A run with transactions takes half a second, and there are many scenarios."""


def first_seed() -> int:
    text = os.environ.get("HEADWATER_SIM_SEED", "0")
    return random.randrange(1_000_000) if text == "random" else int(text)


def seeds(by_default: int = SEEDS_BY_DEFAULT) -> range:
    """The seeds of this run."""
    first = first_seed()
    return range(first, first + int(os.environ.get("HEADWATER_SIM_SEEDS", by_default)))


def operation_step() -> int:
    """Of how many file operations one is the place of a crash: all of them in long runs."""
    return 1 if "HEADWATER_SIM_SEEDS" in os.environ else 3


def scenarios() -> list[str]:
    """The scenarios of this run."""
    wanted = os.environ.get("HEADWATER_SIM_SCENARIO", "")
    return [name for name in SCENARIOS if not wanted or name == wanted]


def transaction_scenarios() -> list[str]:
    """Those of the runs with transactions."""
    wanted = os.environ.get("HEADWATER_SIM_SCENARIO", "")
    return [name for name in TRANSACTION_SCENARIOS if not wanted or name == wanted]
