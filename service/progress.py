"""Progress of long work: a bar on a terminal, a line now and then elsewhere, JSON for machines.

Pure but for the stream: the caller brings the clock. Nothing is written more often than the form
allows, whatever the number of steps, so a loop may report every record.
"""

import json
from collections.abc import Callable
from enum import Enum
from types import TracebackType
from typing import Final, Self, TextIO, final

from .kinds import SECOND_MS
from .places import escaped

BAR_INTERVAL_MS: Final = 100
LINE_INTERVAL_MS: Final = 5 * SECOND_MS
BAR_CELLS: Final = 24


class Form(Enum):
    """How progress looks."""

    AUTO = "auto"
    """A bar on a terminal, lines elsewhere."""
    BAR = "bar"
    LINES = "lines"
    JSON = "json"


@final
class Progress:
    """Counts what is done and says so. As a context manager it ends with a last report.

    Invariants: *done* never shrinks; with a *total*, ``100 %`` is shown only when it is reached.
    """

    def __init__(
        self,
        title: str,
        *,
        out: TextIO,
        monotonic_ms: Callable[[], int],
        total: int | None = None,
        unit: str = "",
        form: Form = Form.AUTO,
    ) -> None:
        self.done = 0
        self.total = total
        self._title = escaped(title)
        self._unit = unit
        self._out = out
        self._monotonic_ms = monotonic_ms
        if form is Form.AUTO:
            form = Form.BAR if out.isatty() else Form.LINES
        self._form = form
        self._interval_ms = BAR_INTERVAL_MS if form is Form.BAR else LINE_INTERVAL_MS
        self._started_ms = monotonic_ms()
        self._shown_ms = self._started_ms
        self._shown_chars = 0

    def add(self, count: int = 1) -> None:
        """*count* more steps are done."""
        assert count >= 0, count
        self.done += count
        now_ms = self._monotonic_ms()
        if now_ms - self._shown_ms >= self._interval_ms:
            self._show(now_ms, state="running")

    def at(self, done: int) -> None:
        """*done* steps are done in all; a smaller number than before changes nothing."""
        self.add(max(0, done - self.done))

    def finish(self, *, failed: bool = False) -> None:
        """The last report: the count and the time it took."""
        self._show(self._monotonic_ms(), state="failed" if failed else "done")

    def _show(self, now_ms: int, *, state: str) -> None:
        self._shown_ms = now_ms
        elapsed_ms = now_ms - self._started_ms
        if self._form is Form.JSON:
            self._out.write(self._json(elapsed_ms, state) + "\n")
        elif self._form is Form.LINES:
            self._out.write(self._text(elapsed_ms, state) + "\n")
        else:
            self._draw(self._text(elapsed_ms, state), is_last=state != "running")
        self._out.flush()

    def _draw(self, text: str, *, is_last: bool) -> None:
        bar = "" if self.total is None else f"[{self._cells()}] "
        line = f"{bar}{text}"
        padding = " " * max(0, self._shown_chars - len(line))
        self._shown_chars = 0 if is_last else len(line)
        self._out.write(f"\r{line}{padding}" + ("\n" if is_last else ""))

    def _cells(self) -> str:
        full = BAR_CELLS * min(self.done, self.total or 0) // max(1, self.total or 0)
        return "#" * full + "." * (BAR_CELLS - full)

    def _text(self, elapsed_ms: int, state: str) -> str:
        counted = f"{self.done:,}" if self.total is None else f"{self.done:,} of {self.total:,}"
        parts = [f"{self._title}: {counted}" + (f" {self._unit}" if self._unit else "")]
        if self.total:
            parts.append(f"{100 * self.done // self.total} %")
        rate = self._rate(elapsed_ms)
        if rate is not None:
            parts.append(f"{rate:,.0f}/s")
        left_ms = self._left_ms(elapsed_ms)
        if state != "running":
            parts.append(f"{state} in {_span(elapsed_ms)}")
        elif left_ms is not None:
            parts.append(f"{_span(left_ms)} left")
        return ", ".join(parts)

    def _json(self, elapsed_ms: int, state: str) -> str:
        rate = self._rate(elapsed_ms)
        document = {
            "progress": self._title,
            "state": state,
            "done": self.done,
            "total": self.total,
            "unit": self._unit,
            "elapsed_ms": elapsed_ms,
            "rate_per_second": None if rate is None else round(rate, 1),
            "left_ms": self._left_ms(elapsed_ms),
        }
        return json.dumps(document)

    def _rate(self, elapsed_ms: int) -> float | None:
        return None if elapsed_ms <= 0 else self.done * SECOND_MS / elapsed_ms

    def _left_ms(self, elapsed_ms: int) -> int | None:
        if self.total is None or self.done == 0:
            return None
        return elapsed_ms * max(0, self.total - self.done) // self.done

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.finish(failed=error is not None)


def _span(span_ms: int) -> str:
    """A time for people: ``0.4 s``, ``59 s``, ``2 min 5 s``, ``3 h 7 min``."""
    seconds = span_ms // SECOND_MS
    if seconds < 10:
        return f"{span_ms / SECOND_MS:.1f} s"
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"
