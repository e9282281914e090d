"""Broken transactions and compaction are caught, every variant within a few seeds."""

from collections.abc import Callable

import pytest

from .run import first_caught
from .transaction_swarm import TransactionSwarm
from .transaction_variants import VARIANTS
from .variants import Break

SEEDS_MAX = 60


@pytest.mark.slow
@pytest.mark.patches_code
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.__name__)
def test_a_broker_with_broken_transactions_is_caught(
    variant: Break, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    scenario = VARIANTS[variant]
    variant(monkeypatch)
    found = first_caught(
        lambda seed: TransactionSwarm(seed, scenario=scenario).run(), range(SEEDS_MAX)
    )
    assert found is not None, f"{variant.__name__} got away in {SEEDS_MAX} seeds of {scenario!r}"
    seed, caught_by = found
    record_property("caught_by", str(caught_by))
    print(f"{variant.__name__}: seed {seed} of {scenario!r}: {caught_by}")  # noqa: T201 - shown by -s
