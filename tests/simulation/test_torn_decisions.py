"""The power goes while the end of a transaction is under way, and its client with it."""

import pytest

from .trace import Trace
from .transaction_variants import markers_go_before_the_decision_is_durable

SEEDS = 40
BOTH = ["here", "there"]


def after_power_loss(seed: int) -> list[str]:
    """What readers see once the transaction has timed out, if it was not decided before."""
    trace = Trace(2, seed=seed)
    trace.write(0, "here")
    trace.write(1, "there")
    trace.send(trace.ending(commit=True))
    trace.network.deliver()
    for _ in range(1 + seed % 3):
        trace.network.broker.step(disk=False)
    trace.network.broker.crash()
    trace.network.broker.start()
    trace.network.advance(120_000)
    return trace.committed()


@pytest.mark.slow
def test_a_decision_holds_everywhere_or_nowhere() -> None:
    """Of the decision and the markers any part may have reached the disk."""
    seen = [after_power_loss(seed) for seed in range(SEEDS)]
    assert all(values in ([], BOTH) for values in seen)
    assert [] in seen
    assert BOTH in seen


@pytest.mark.slow
@pytest.mark.patches_code
def test_markers_before_the_decision_would_tear_it(monkeypatch: pytest.MonkeyPatch) -> None:
    markers_go_before_the_decision_is_durable(monkeypatch)
    seen = [after_power_loss(seed) for seed in range(SEEDS)]
    assert any(values not in ([], BOTH) for values in seen)
