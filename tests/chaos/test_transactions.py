"""Transactions of three client libraries survive kills and a bad network: all or nothing, once."""

from pathlib import Path

import pytest

from headwater.core_log.testing.history import Outcome

from ..interop.target import TARGET_NAME
from ..interop.toolchain import needed
from .transactions.fleet import LIBRARIES, Fleet, history_in
from .transactions.run import run

SECONDS = 20.0
"""``python -m tests.chaos transactions`` goes on for ten minutes."""


@pytest.mark.slow
@pytest.mark.chaos
@pytest.mark.jvm
def test_transactions_are_atomic_under_fire(tmp_path: Path) -> None:
    """No anomaly of the kinds that may never be, no worker that gave up, no transaction that hangs;
    and every library committed something, or the test would show nothing."""
    needed(lambda: Fleet(tmp_path, "nowhere", seed=0))
    report = run(TARGET_NAME, tmp_path, seconds=SECONDS, seed=4)
    assert report.is_clean, str(report)
    assert report.verdict.outcomes[Outcome.COMMITTED] > 30, str(report)
    histories = tmp_path / "histories"
    for library in LIBRARIES:
        begun = {type(event).__name__ for event in history_in(histories, library)}
        assert {"Committed", "Aborted", "OffsetsSent"} <= begun, f"{library}: {report}"
