"""The run: both systems up, row by row, round by round, one after the other. A shell.

Both nodes stay up for the whole run and only one has work at a time; an idle node costs what the
``start/empty`` row says. The order within a round alternates, so that neither system always runs
on the disk that the other has just left.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from . import machine, measure, rows, systems
from .clients import ClientFailed
from .measure import Effort, Metrics
from .result import Result, RowResult
from .systems import System, SystemName

WARM_UP: Final = (
    rows.Produce(value_bytes=1024, batch="16K", codec="none", acks="all", flush="lazy"),
    rows.Produce(value_bytes=100, batch="1M", codec="none", acks="all", flush="lazy"),
)
WARM_UP_ROUNDS: Final = 3
"""A JVM's first seconds cost several times its later ones; they are nobody's steady state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    rows: Sequence[rows.Row]
    systems: Sequence[SystemName]
    rounds: int
    is_quick: bool
    scratch: Path
    """Holds the nodes' data while the run lasts."""

    @property
    def effort(self) -> Effort:
        return Effort.quick() if self.is_quick else Effort.full()


def run(options: Options) -> Result:
    """Measure all rows. A row that fails is recorded with its reason; the others go on."""
    described = machine.describe()
    began = time.monotonic()
    with ExitStack() as cleanup:
        scratch = Path(
            cleanup.enter_context(tempfile.TemporaryDirectory(dir=options.scratch, prefix="bench-"))
        )
        nodes = {
            name: cleanup.enter_context(_node(name, scratch / name, options))
            for name in options.systems
        }
        results = []
        for index, row in enumerate(options.rows):
            _progress(f"[{index + 1}/{len(options.rows)}] {row.name}", began)
            results.append(_measure(row, nodes, options, scratch))
            _progress(_summary(results[-1]), began)
        results.append(_memory_after(nodes))
    return Result(
        taken_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        commit=machine.commit(),
        machine=described,
        options={"rounds": options.rounds, "quick": options.is_quick},
        seconds=round(time.monotonic() - began, 1),
        rows=results,
    )


@contextmanager
def _node(name: SystemName, folder: Path, options: Options) -> Iterator[System]:
    system = systems.new(name, folder)
    system.start()
    try:
        for _ in range(WARM_UP_ROUNDS):
            for row in WARM_UP:
                measure.produce(system, row, options.effort)
        yield system
    finally:
        system.kill()


def _measure(
    row: rows.Row, nodes: dict[SystemName, System], options: Options, scratch: Path
) -> RowResult:
    rounds: dict[str, list[Metrics]] = {name: [] for name in nodes}
    try:
        with _prepared(row, nodes, options, scratch) as (once, round_count):
            for index in range(round_count):
                order = list(nodes)
                for name in order if index % 2 == 0 else reversed(order):
                    rounds[name].append(once(name))
    except (ClientFailed, subprocess.TimeoutExpired) as error:
        return RowResult(name=row.name, rounds=rounds, failure=str(error))
    return RowResult(name=row.name, rounds=rounds)


@contextmanager
def _prepared(
    row: rows.Row, nodes: dict[SystemName, System], options: Options, scratch: Path
) -> Iterator[tuple[Callable[[SystemName], Metrics], int]]:
    """How to measure the row once on a system, and how often."""
    effort, rounds = options.effort, options.rounds
    match row:
        case rows.Produce():
            yield lambda name: measure.produce(nodes[name], row, effort), rounds
        case rows.Requests():
            yield lambda name: measure.requests(nodes[name], row, effort), rounds
        case rows.Latency():
            yield lambda name: measure.latency(nodes[name], row, effort), rounds
        case rows.Start():
            yield lambda name: measure.start(name, scratch), rounds
        case rows.Partitions():  # takes tens of seconds per system: once
            yield lambda name: measure.partitions(name, row, effort, scratch), 1
        case rows.Consume():
            topics = {
                name: measure.prepare_consume(node, row, effort) for name, node in nodes.items()
            }
            yield lambda name: measure.consume(nodes[name], row, effort, topics[name]), rounds
            for name, node in nodes.items():
                measure.drop(node, topics[name])


def _memory_after(nodes: dict[SystemName, System]) -> RowResult:
    rounds = {name: [{"after_mb": machine.resident_mb(node.pid)}] for name, node in nodes.items()}
    return RowResult(name="memory/after", rounds={str(name): each for name, each in rounds.items()})


def _summary(result: RowResult) -> str:
    if result.failure is not None:
        return f"    failed: {result.failure}"
    metric = result.metrics()[0]
    parts = [f"{name} {result.median_of(name, metric):,.3g}" for name in result.rounds]
    ratio = result.ratio(metric)
    return f"    {metric}: {', '.join(parts)}" + ("" if ratio is None else f", ratio {ratio:.2f}")


def _progress(text: str, began: float) -> None:
    sys.stderr.write(f"{time.monotonic() - began:6.0f} s  {text}\n")
    sys.stderr.flush()
