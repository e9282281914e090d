"""The simulation is worth what it catches: every broken variant, within a few seeds."""

from collections.abc import Callable

import pytest

from .run import first_caught
from .swarm import ALL, Swarm
from .variants import (
    VARIANTS,
    Break,
    a_shard_keeps_what_was_not_appended,
    a_shard_serves_before_it_is_loaded,
    offset_commits_are_answered_before_they_are_committed,
    offset_commits_are_not_written,
    two_checkpoints_run_at_once,
)

SEEDS_MAX = 100
SCENARIO_OF: dict[Break, str] = {
    a_shard_keeps_what_was_not_appended: "groups",
    a_shard_serves_before_it_is_loaded: "groups",
    offset_commits_are_answered_before_they_are_committed: "groups",
    offset_commits_are_not_written: "groups",
    two_checkpoints_run_at_once: "trims",
}


@pytest.mark.slow
@pytest.mark.patches_code
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.__name__)
def test_a_broken_broker_is_caught(
    variant: Break, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    scenario = SCENARIO_OF.get(variant, ALL)
    variant(monkeypatch)
    found = first_caught(lambda seed: Swarm(seed, scenario=scenario).run(), range(SEEDS_MAX))
    assert found is not None, f"{variant.__name__} got away in {SEEDS_MAX} seeds of {scenario!r}"
    seed, caught_by = found
    record_property("caught_by", str(caught_by))
    print(f"{variant.__name__}: seed {seed} of {scenario!r}: {caught_by}")  # noqa: T201 - shown by -s
