"""Progress is told in the form that fits, and not more often than helps."""

import io
import json

import pytest

from headwater.service.progress import BAR_INTERVAL_MS, LINE_INTERVAL_MS, Form, Progress


class Clock:
    def __init__(self) -> None:
        self.now_ms = 0

    def __call__(self) -> int:
        return self.now_ms


class Screen(io.StringIO):
    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


def made(
    form: Form, *, total: int | None = 100, is_terminal: bool = False
) -> tuple[Progress, Clock, Screen]:
    clock, out = Clock(), Screen(is_terminal=is_terminal)
    progress = Progress(
        "Sending", out=out, monotonic_ms=clock, total=total, unit="flights", form=form
    )
    return progress, clock, out


def test_lines_come_every_few_seconds() -> None:
    """A thousand steps within one interval write nothing; the end is always told."""
    progress, clock, out = made(Form.LINES, total=2000)
    for _ in range(1000):
        progress.add()
    clock.now_ms = LINE_INTERVAL_MS - 1
    progress.add(0)
    assert out.getvalue() == ""
    clock.now_ms = LINE_INTERVAL_MS
    progress.add(500)
    clock.now_ms = 6000
    progress.at(2000)
    progress.at(7)
    progress.finish()
    assert out.getvalue().splitlines() == [
        "Sending: 1,500 of 2,000 flights, 75 %, 300/s, 1.7 s left",
        "Sending: 2,000 of 2,000 flights, 100 %, 333/s, done in 6.0 s",
    ]


def test_a_bar_is_drawn_over_itself() -> None:
    """Each state replaces the one before, also a longer one; the last ends its line."""
    progress, clock, out = made(Form.BAR)
    clock.now_ms = BAR_INTERVAL_MS
    progress.add(50)
    clock.now_ms = 10 * BAR_INTERVAL_MS
    progress.add(49)
    progress.finish()
    first, second, last = out.getvalue().split("\r")[1:]
    assert first == "[############............] Sending: 50 of 100 flights, 50 %, 500/s, 0.1 s left"
    assert second.startswith("[#######################.] Sending: 99 of 100 flights, 99 %")
    assert len(second) >= len(first)
    assert last.endswith("done in 1.0 s\n")


def test_json_is_for_machines() -> None:
    """One document per line; what is not known is null."""
    progress, clock, out = made(Form.JSON, total=None)
    clock.now_ms = LINE_INTERVAL_MS
    progress.add(10)
    progress.finish(failed=True)
    running, failed = map(json.loads, out.getvalue().splitlines())
    assert running == {
        "progress": "Sending",
        "state": "running",
        "done": 10,
        "total": None,
        "unit": "flights",
        "elapsed_ms": 5000,
        "rate_per_second": 2.0,
        "left_ms": None,
    }
    assert failed["state"] == "failed"


@pytest.mark.parametrize(("is_terminal", "starts"), [(True, "\r["), (False, "Sending")])
def test_the_form_follows_the_stream(*, is_terminal: bool, starts: str) -> None:
    """A bar where somebody watches, lines in a file."""
    progress, _, out = made(Form.AUTO, is_terminal=is_terminal)
    progress.finish()
    assert out.getvalue().startswith(starts)


def test_without_a_total_there_is_no_percentage() -> None:
    """Count and rate only; nothing is divided by zero at the start."""
    progress, clock, out = made(Form.LINES, total=None)
    progress.finish()
    clock.now_ms = 1000
    progress.add(5)
    progress.finish()
    assert out.getvalue().splitlines() == [
        "Sending: 0 flights, done in 0.0 s",
        "Sending: 5 flights, 5/s, done in 1.0 s",
    ]


def test_an_empty_total_is_done_at_once() -> None:
    """Nothing to do is no division by zero either."""
    for form in Form:
        progress, _, out = made(form, total=0, is_terminal=True)
        progress.finish()
        assert "done" in out.getvalue()


def test_leaving_the_block_tells_the_end() -> None:
    """Done when all went well, failed otherwise; the error passes."""
    progress, _, out = made(Form.LINES)
    with progress:
        progress.add(100)
    assert out.getvalue().endswith("done in 0.0 s\n")
    progress, _, out = made(Form.LINES)
    with pytest.raises(ValueError, match="x"), progress:
        raise ValueError("x")
    assert out.getvalue().endswith("failed in 0.0 s\n")


@pytest.mark.parametrize(
    ("elapsed_ms", "text"),
    [
        (9_999, "10.0 s"),
        (10_000, "10 s"),
        (59_999, "59 s"),
        (125_000, "2 min 5 s"),
        (11_220_000, "3 h 7 min"),
    ],
)
def test_times_read_well(elapsed_ms: int, text: str) -> None:
    """Units grow with the wait."""
    progress, clock, out = made(Form.LINES)
    clock.now_ms = elapsed_ms
    progress.finish()
    assert out.getvalue().endswith(f"done in {text}\n")


def test_a_title_cannot_drive_the_terminal() -> None:
    """Names in titles come from other people."""
    out = Screen(is_terminal=True)
    with Progress("a\x1b[2J\n", out=out, monotonic_ms=Clock()):
        pass
    assert "\x1b" not in out.getvalue()
