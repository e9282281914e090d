"""The broker among random clients: whatever happens, what was acknowledged holds."""

import pytest

from .seeds import scenarios, seeds
from .swarm import Swarm


@pytest.mark.slow
@pytest.mark.parametrize("scenario", scenarios())
def test_what_clients_were_told_holds(scenario: str) -> None:
    """No acknowledged record, offset or topic is lost, none comes twice, order is kept."""
    for seed in seeds():
        Swarm(seed, scenario=scenario).run()


def test_a_run_is_repeated_exactly_by_its_seed() -> None:
    """Same seed, same history: otherwise no failure could be looked at twice."""
    runs = [Swarm(3, steps=300) for _ in range(2)]
    for run in runs:
        run.run()
    assert runs[0].history == runs[1].history
    assert runs[0].fs.operations == runs[1].fs.operations


def test_runs_do_something() -> None:
    """Over a few seeds every kind of client gets somewhere, through restarts."""
    runs = [Swarm(seed) for seed in range(6)]
    for run in runs:
        run.run()
    assert sum(len(run.history) for run in runs) > 400
    assert sum(run.restarts for run in runs) > 20
    assert any(run.committed for run in runs)
    assert any(run.owners for run in runs)
    assert any(run.trimmed_below for run in runs)
    assert any(run.partition_count > run.tunables.partitions for run in runs)
    assert any(exists for run in runs for exists in run.topics.values())
