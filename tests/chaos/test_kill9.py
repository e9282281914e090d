"""A broker that is killed under load loses, doubles and reorders nothing."""

import os
import random
from pathlib import Path
from typing import final

import pytest

from headwater.core_log.testing.history import Rule

from ..interop.target import Target, target
from .kill9 import TOPIC, run

ROUNDS = 3
"""``python -m tests.chaos kill9`` runs ten."""


@pytest.mark.slow
@pytest.mark.chaos
def test_kill_9_under_load_breaks_no_promise(tmp_path: Path) -> None:
    """Nothing acknowledged is lost, nothing idempotent doubled, offsets are dense, groups go on."""
    report = run(target(tmp_path / "node"), tmp_path, rounds=ROUNDS, rng=random.Random(9))
    assert report.is_clean, str(report)
    assert len(report.restart_seconds) == ROUNDS


@pytest.mark.slow
@pytest.mark.chaos
def test_a_broker_that_forgets_is_caught(tmp_path: Path) -> None:
    """The run notices what it is there to notice: here the end of a log is lost with each kill."""
    forgetful = Forgetful(target(tmp_path / "node"))
    # Not the idempotent ones: their sequences do not fit any more, and they say so and end.
    plain = {"plain": "plain"}
    report = run(forgetful, tmp_path, rounds=1, rng=random.Random(9), producers=plain)
    found = {anomaly.rule for anomaly in report.anomalies}
    assert found & {Rule.LOST_WRITE, Rule.UNSEEN, Rule.INCONSISTENT_OFFSETS}, str(report)


@final
class Forgetful:
    """A node that loses the last quarter of partition 0 when it is killed."""

    def __init__(self, node: Target) -> None:
        self._node = node

    @property
    def bootstrap(self) -> str:
        return self._node.bootstrap

    @property
    def pid(self) -> int:
        return self._node.pid

    @property
    def data_directory(self) -> Path:
        return self._node.data_directory

    @property
    def log_file(self) -> Path:
        return self._node.log_file

    def start(self) -> float:
        return self._node.start()

    def stop(self) -> None:
        self._node.stop()

    def kill(self) -> None:
        self._node.kill()
        segments = sorted(self.data_directory.glob(f"{TOPIC}-0/*.log"))
        if segments:
            os.truncate(segments[-1], segments[-1].stat().st_size * 3 // 4)
