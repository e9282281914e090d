"""How the demo talks: sentences with the seconds since the start, waits that show progress."""

import sys
import time
from collections.abc import Callable
from typing import Final, final

DEADLINE_SECONDS: Final = 90.0
"""For each wait. The group's session timeout, six seconds, is the longest one in a good run."""


class DemoFailed(Exception):
    """A step did not come to its end; the message says which and where to look."""


@final
class Story:
    """Says what happens; progress overwrites itself."""

    def __init__(self, *, quiet: bool) -> None:
        self._started = time.monotonic()
        self._quiet = quiet
        self._is_terminal = sys.stdout.isatty()

    def __call__(self, sentence: str) -> None:
        self._write(f"{self._clear()}{self.seconds:5.1f} s  {sentence}\n")

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._started

    def progress(self, state: str) -> None:
        if self._is_terminal:
            self._write(f"{self._clear()}         {state[:90]}")

    def lines(self, text: str) -> None:
        """Text as it is."""
        self._write(self._clear() + text)

    def wait(
        self,
        what: str,
        is_done: Callable[[], bool],
        state: Callable[[], str],
        obstacle: Callable[[], str | None] = lambda: None,
    ) -> None:
        """Look every tenth of a second.

        Raises DemoFailed after the deadline, or as soon as *obstacle* gives a reason.
        """
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not is_done():
            if reason := obstacle():
                raise DemoFailed(f"waiting for {what}, {reason}")
            if time.monotonic() > deadline:
                raise DemoFailed(f"waited {DEADLINE_SECONDS:.0f} s for {what}: {state()}")
            self.progress(state())
            time.sleep(0.1)

    def _clear(self) -> str:
        return "\r\x1b[K" if self._is_terminal else ""

    def _write(self, text: str) -> None:
        if not self._quiet:
            sys.stdout.write(text)
            sys.stdout.flush()
