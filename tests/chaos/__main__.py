"""``python -m tests.chaos kill9|fuzz|copy|transactions``: the long runs and what they found."""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from ..interop.target import TARGET_NAME, target
from . import copying, fuzz, kill9
from .transactions import run
from .transactions.faults import Fault
from .transactions.fleet import LIBRARIES


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.chaos", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    kill = commands.add_parser("kill9", help="kill the broker under load, then judge the clients")
    kill.add_argument("--rounds", type=int, default=10)
    shots = commands.add_parser("fuzz", help="random requests of every API and version")
    shots.add_argument("--requests", type=int, default=20_000)
    copy = commands.add_parser("copy", help="copy with exactly-once while worker and broker die")
    copy.add_argument("--records", type=int, default=1_000_000)
    copy.add_argument("--crashes", type=int, default=20)
    storm = commands.add_parser(
        "transactions", help="transactions of three clients in a bad network, while all is killed"
    )
    storm.add_argument("--minutes", type=float, default=10.0, help="of storm")
    storm.add_argument("--target", choices=("headwater", "kafka"), default=TARGET_NAME)
    storm.add_argument(
        "--faults", nargs="*", choices=list(Fault), default=list(Fault), help="all by default"
    )
    storm.add_argument("--clients", nargs="+", choices=LIBRARIES, default=LIBRARIES)
    for command in (kill, shots, copy, storm):
        command.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
        command.add_argument("--directory", type=Path, help="default: a new temporary folder")
    arguments = parser.parse_args()
    directory = arguments.directory or Path(tempfile.mkdtemp(prefix="chaos-"))
    directory.mkdir(parents=True, exist_ok=True)
    say(f"seed {arguments.seed}, files in {directory}")
    if arguments.command == "fuzz":
        return run_fuzz(directory, requests=arguments.requests, seed=arguments.seed)
    if arguments.command == "copy":
        return run_copy(
            directory,
            records=arguments.records,
            crashes=arguments.crashes,
            seed=arguments.seed,
        )
    if arguments.command == "transactions":
        return run_transactions(directory, arguments)
    return run_kill9(directory, rounds=arguments.rounds, seed=arguments.seed)


def run_kill9(directory: Path, *, rounds: int, seed: int) -> int:
    node = target(directory / "node")
    report = kill9.run(node, directory, rounds=rounds, rng=random.Random(seed), say=say)
    say(str(report))
    say("clean" if report.is_clean else "NOT CLEAN")
    return 0 if report.is_clean else 1


def run_transactions(directory: Path, arguments: argparse.Namespace) -> int:
    report = run.run(
        arguments.target,
        directory,
        seconds=arguments.minutes * 60,
        seed=arguments.seed,
        faults=[Fault(fault) for fault in arguments.faults],
        libraries=arguments.clients,
        say=say,
    )
    say(str(report))
    say("clean" if report.is_clean else "NOT CLEAN")
    return 0 if report.is_clean else 1


def run_fuzz(directory: Path, *, requests: int, seed: int) -> int:
    node = target(directory / "node")
    node.start()
    try:
        report = fuzz.run(node, requests=requests, rng=random.Random(seed), say=say)
    finally:
        node.kill()
    say(str(report))
    return 1 if report.failures else 0


def run_copy(directory: Path, *, records: int, crashes: int, seed: int) -> int:
    node = target(directory / "node")
    rng = random.Random(seed)
    report = copying.run(node, directory, records=records, crashes=crashes, rng=rng, say=say)
    say(str(report))
    say("clean: each record once, in order" if report.is_clean else "NOT CLEAN")
    return 0 if report.is_clean else 1


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
