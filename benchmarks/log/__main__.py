"""Apache Kafka and Headwater in turn on this machine, under the same clients: the command line."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import msgspec

from . import result, rows
from .run import Options, run
from .systems import SYSTEM_NAMES

RESULTS: Final = Path(__file__).parents[1] / "results"


def main() -> int:
    """Measure, print the table and the goals, keep the result; 1 when a row failed."""
    parser = argparse.ArgumentParser(prog="benchmarks.log", description=__doc__)
    parser.add_argument("--rows", nargs="+", default=["*"], help="patterns, as 'produce/*/16K/*'")
    parser.add_argument("--rounds", type=int, help="per row and system (default 3, quick: 1)")
    parser.add_argument("--quick", action="store_true", help="the main rows in under four minutes")
    parser.add_argument("--systems", nargs="+", choices=SYSTEM_NAMES, default=SYSTEM_NAMES)
    parser.add_argument("--output", type=Path, help="JSON file; default: under benchmarks/results")
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--list", action="store_true", help="print the rows' names and end")
    arguments = parser.parse_args()
    chosen = _choose(arguments.rows, is_quick=arguments.quick)
    if arguments.list:
        sys.stdout.write("".join(f"{row.name}\n" for row in chosen))
        return 0
    if not chosen:
        parser.error(f"no row matches {arguments.rows}; --list shows them")
    found = run(
        Options(
            rows=chosen,
            systems=tuple(arguments.systems),
            rounds=arguments.rounds or (1 if arguments.quick else 3),
            is_quick=arguments.quick,
            scratch=arguments.scratch,
        )
    )
    _print(found)
    _keep(found, arguments.output)
    return 1 if any(row.failure is not None for row in found.rows) else 0


def _choose(patterns: Sequence[str], *, is_quick: bool) -> list[rows.Row]:
    return [
        row
        for row in rows.all_rows()
        if (row.is_quick or not is_quick) and any(fnmatchcase(row.name, each) for each in patterns)
    ]


def _print(found: result.Result) -> None:
    described = found.machine
    sys.stdout.write(
        f"\n{described.processor}, {described.cores} cores, {described.memory_gib} GiB, "
        f"{described.kernel}; load before {described.load_1min_before:.2f}\n"
        f"Python {described.python}; {described.java}; librdkafka {described.librdkafka}; "
        f"{found.seconds:.0f} s\n\n"
    )
    for line in result.table(found):
        sys.stdout.write(line + "\n")
    sys.stdout.write("\n")
    for line in result.verdicts(found):
        sys.stdout.write(line + "\n")


def _keep(found: result.Result, named: Path | None) -> None:
    stamp = found.taken_at.replace(":", "").replace("-", "")
    path = named or RESULTS / f"log-{stamp}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
    sys.stdout.write(f"\nkept in {path}\n")


if __name__ == "__main__":
    sys.exit(main())
