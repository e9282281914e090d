"""Waiting for a state, with a deadline and a word about what was seen instead."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

TIMEOUT_SECONDS = 30.0
POLL_INTERVAL_SECONDS = 0.02


def eventually(
    probe: Callable[[], T],
    accepts: Callable[[T], bool] = bool,
    *,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> T:
    """The first value of ``probe`` that ``accepts``. Raises AssertionError with the last one."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        value = probe()
        if accepts(value):
            return value
        assert time.monotonic() < deadline, f"still {value!r} after {timeout_seconds} s"
        time.sleep(POLL_INTERVAL_SECONDS)
