"""``python -m tests.simulation``: long runs, and the replay of one seed.

Prints one line for each run that shows something wrong, with what replays it, and ends with 1.
"""

import argparse
import sys
import time

from .run import Run
from .seeds import first_seed
from .swarm import SCENARIOS, Swarm
from .transaction_swarm import SCENARIOS as TRANSACTION_SCENARIOS
from .transaction_swarm import TransactionSwarm


def main() -> int:
    """Run every seed of every scenario asked for."""
    options = _parser().parse_args()
    first = first_seed() if options.seed is None else options.seed
    wanted = [options.scenario] if options.scenario else [*SCENARIOS, *TRANSACTION_SCENARIOS]
    wrong = 0
    for scenario in wanted:
        started = time.monotonic()
        for seed in range(first, first + options.seeds):
            wrong += not _is_well(seed, scenario, steps=options.steps)
        seconds = time.monotonic() - started
        _say(f"{scenario}: seeds {first} to {first + options.seeds - 1} in {seconds:.1f} s")
    return 1 if wrong else 0


def _is_well(seed: int, scenario: str, *, steps: int) -> bool:
    try:
        _run(seed, scenario, steps).run()
    except Exception as error:  # noqa: BLE001 - whatever a run shows is what it is for
        _say(f"{type(error).__name__}: {error}")
        _say(f"  again: python -m tests.simulation --scenario {scenario} --seed {seed} --seeds 1")
        return False
    return True


def _run(seed: int, scenario: str, steps: int) -> Run:
    if scenario in TRANSACTION_SCENARIOS:
        return TransactionSwarm(seed, scenario=scenario, steps=steps)
    return Swarm(seed, scenario=scenario, steps=steps)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="the first seed; HEADWATER_SIM_SEED otherwise")
    parser.add_argument("--seeds", type=int, default=200, help="how many")
    parser.add_argument(
        "--scenario", choices=[*SCENARIOS, *TRANSACTION_SCENARIOS], help="only this one"
    )
    parser.add_argument("--steps", type=int, default=1_200, help="events of one run")
    return parser


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
