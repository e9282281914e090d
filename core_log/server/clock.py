"""The clocks of the operating system."""

import time
from typing import final


@final
class SystemClock:
    """The Clock port over ``time``."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000
