"""The broker among transactional clients: nothing is torn, shown too early, or done twice."""

import pytest

from .seeds import TRANSACTION_SEEDS_BY_DEFAULT, seeds, transaction_scenarios
from .transaction_swarm import TransactionSwarm


@pytest.mark.slow
@pytest.mark.parametrize("scenario", transaction_scenarios())
def test_transactions_keep_their_promises(scenario: str) -> None:
    """Decided everywhere alike, as clients were told; read committed only; each input once."""
    for seed in seeds(TRANSACTION_SEEDS_BY_DEFAULT):
        TransactionSwarm(seed, scenario=scenario).run()


@pytest.mark.slow
def test_a_run_with_transactions_is_repeated_exactly_by_its_seed() -> None:
    runs = [TransactionSwarm(3, steps=300) for _ in range(2)]
    for run in runs:
        run.run()
    assert runs[0].history == runs[1].history
    assert runs[0].fs.operations == runs[1].fs.operations


@pytest.mark.slow
def test_runs_with_transactions_do_something() -> None:
    """Over a few seeds transactions end in every way, through restarts, in both versions."""
    runs = [TransactionSwarm(seed) for seed in range(6)]
    for run in runs:
        run.run()
    outcomes = [entry.outcome for run in runs for entry in run.book.transactions.values()]
    assert all(outcomes.count(outcome) > 3 for outcome in (True, False, None))
    assert {engine.version for run in runs for engine in run.engines if engine.count > 1} == {1, 2}
    assert sum(run.restarts for run in runs) > 15
    assert any(run.book.source_of for run in runs)
    assert any(run.book.latest for run in runs)
    assert sum(run.events["log_compacted"] for run in runs) > 20


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["late-1", "late-copies"])
def test_the_dice_bring_late_requests(scenario: str) -> None:
    """Requests of version 1 arrive behind their own retries, several in a run (KAFKA-17754)."""
    runs = [TransactionSwarm(seed, scenario=scenario) for seed in range(4)]
    for run in runs:
        run.run()
    assert sum(run.events["stale_connection_fenced"] for run in runs) >= 2 * len(runs)
