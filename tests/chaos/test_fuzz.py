"""Random requests, whole and broken, of every API and version that is served."""

import random
from pathlib import Path

import pytest

from ..interop.target import target
from .fuzz import Report, mutate, run
from .wire import PREFIX

REQUESTS = 1_500
"""``python -m tests.chaos fuzz`` fires twenty thousand."""


@pytest.mark.slow
@pytest.mark.chaos
def test_requests_of_every_kind_leave_the_broker_well(tmp_path: Path) -> None:
    """No exception outside the error path, nobody else disturbed, memory within the budget."""
    node = target(tmp_path / "node")
    node.start()
    try:
        report = run(node, requests=REQUESTS, rng=random.Random(2026))
    finally:
        node.kill()
    assert not report.failures, str(report)
    assert report.answered > REQUESTS // 10, str(report)
    assert report.closed > REQUESTS // 10, str(report)


@pytest.mark.parametrize("seed", range(20))
def test_a_mutation_keeps_the_key_and_the_version(seed: int) -> None:
    """Otherwise most requests would end in the first check, and test that only."""
    frame = b"".join([PREFIX.pack(40), bytes(range(40))])
    changed = mutate(frame, random.Random(seed))
    assert changed[4:8] == frame[4:8]


def test_a_report_says_what_went_wrong_first() -> None:
    """The counts, then the failures."""
    report = Report(requests=3, answered=1, closed=1, silent=1, failures=["late"])
    assert str(report).splitlines() == [
        "3 requests: 1 answered, 1 closed, 1 silent; 0.0 MiB more memory",
        "late",
    ]
