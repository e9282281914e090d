"""Compaction by Apache Kafka's cleaner and by ours, over the same files: the command line."""

import argparse
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from headwater.core_log.records.compression import Codec
from headwater.core_log.storage import names
from headwater.core_log.storage.compaction.job import SECRET_BYTES, CleanJob

from ..log import clients
from ..log.machine import Machine, commit, describe
from ..log.systems import SYSTEM_NAMES, Flush
from . import alone, live
from .dataset import DataSet, Shape, check_survivors, write

RESULTS: Final = Path(__file__).parents[1] / "results"
WARM_RECORDS: Final = 2_000_000


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One run."""

    taken_at: str
    commit: str
    machine: Machine
    shape: dict[str, int]
    flush: str
    size_before_bytes: int
    alone: alone.Taken
    alone_cpu_seconds_per_gb: float
    live: dict[str, live.Live]
    """By system."""


def main() -> int:
    """Measure, print, keep the result. Survivors that are not the dictionary's end it."""
    parser = argparse.ArgumentParser(prog="benchmarks.compaction", description=__doc__)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--value-bytes", type=int, default=100)
    parser.add_argument("--batch-records", type=int, default=140)
    parser.add_argument("--codec", choices=[codec.name.lower() for codec in Codec], default="none")
    parser.add_argument(
        "--flush", choices=["flushed", "lazy"], default="flushed", help="of the waiting producer"
    )
    parser.add_argument("--systems", nargs="*", choices=SYSTEM_NAMES, default=SYSTEM_NAMES)
    parser.add_argument("--output", type=Path, help="JSON file; default: under benchmarks/results")
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()))
    arguments = parser.parse_args()
    shape = Shape(
        record_count=arguments.records,
        key_count=arguments.keys,
        value_bytes=arguments.value_bytes,
        batch_records=arguments.batch_records,
        codec=Codec[arguments.codec.upper()],
    )
    clients.program("bulk")
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as folder:
        result = run(Path(folder), shape, tuple(arguments.systems), arguments.flush)
    _print(result)
    stamp = result.taken_at.replace(":", "").replace("-", "")
    path = arguments.output or RESULTS / f"compaction-{stamp}.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    sys.stdout.write(f"\nkept in {path}\n")
    return 0


def run(scratch: Path, shape: Shape, systems: tuple[str, ...], flush: Flush) -> Result:
    """The algorithm alone, then each broker, over links to one set of files."""
    machine = describe()
    main_set = write(scratch / "main", shape)
    warm_set = write(
        scratch / "warm",
        msgspec.structs.replace(shape, record_count=min(shape.record_count, WARM_RECORDS)),
    )
    taken = _run_alone(scratch, main_set)
    found: dict[str, live.Live] = {}
    for name in SYSTEM_NAMES:
        if name in systems:
            found[name] = live.measure(name, scratch, main=main_set, warm=warm_set, flush=flush)
    return Result(
        taken_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        commit=commit(),
        machine=machine,
        shape={name: int(value) for name, value in msgspec.structs.asdict(shape).items()},
        flush=flush,
        size_before_bytes=main_set.size_bytes,
        alone=taken,
        alone_cpu_seconds_per_gb=taken.cpu_seconds / (main_set.size_bytes / 1e9),
        live=found,
    )


def _run_alone(scratch: Path, data_set: DataSet) -> alone.Taken:
    directory = scratch / "alone"
    directory.mkdir()
    data_set.link_into(directory)
    job = CleanJob(
        directory=str(directory),
        topic="compacted",
        partition=0,
        segments=data_set.segments,
        first_dirty_offset=0,
        end_offset=data_set.end_offset,
        now_ms=int(time.time() * 1000),
        delete_retention_ms=86_400_000,
        producers=(),
        aborted=(),
        secret=bytes(SECRET_BYTES),
        segment_bytes=1 << 30,
        segment_index_bytes=10 << 20,
        index_interval_bytes=4096,
        batch_bytes_max=1 << 20,
        unpacked_bytes_max=100 << 20,
        map_bytes_max=128 << 20,
        io_buffer_bytes=512 << 10,
    )
    taken = alone.run(job, scratch)
    check_survivors(directory.glob("*" + names.LOG + names.CLEANED), data_set)
    return taken


def _print(result: Result) -> None:
    machine, size_mb = result.machine, result.size_before_bytes / 1e6
    print(
        f"{machine.processor}, {machine.cores} cores, {machine.memory_gib} GiB, {machine.kernel}; "
        f"load before {machine.load_1min_before:.2f}\n{result.shape}, {size_mb:.0f} MB"
    )
    stats = result.alone.result.stats
    print(
        f"\nalone: {result.alone.cpu_seconds:.2f} CPU s, "
        f"{result.alone_cpu_seconds_per_gb:.2f} CPU s/GB, {result.alone.seconds:.2f} s "
        f"(map {stats.map_seconds:.2f}, rest {stats.clean_seconds:.2f}), "
        f"peak {result.alone.peak_mb:.0f} MB, map {stats.map_bytes / 1e6:.1f} MB"
    )
    for name, found in result.live.items():
        peak = "" if found.worker_peak_mb is None else f", worker peak {found.worker_peak_mb:.0f}"
        print(
            f"\n{name}: {found.cleaner_cpu_seconds:.2f} CPU s, "
            f"{found.cleaner_cpu_seconds_per_gb:.2f} CPU s/GB, {found.seconds:.2f} s; with the "
            f"whole broker {found.process_cpu_seconds:.2f} CPU s\n"
            f"  resident MB: {found.resident_before_mb:.0f} before, "
            f"{found.resident_after_mb:.0f} after{peak}\n"
            f"  producer elsewhere, us, idle and cleaning: p50 {_both(found.p50_us)}, "
            f"p99 {_both(found.p99_us)}, p99.9 {_both(found.p999_us)}"
        )


def _both(values: dict[str, float]) -> str:
    return f"{values['idle']:.0f} / {values['cleaning']:.0f}"


if __name__ == "__main__":
    sys.exit(main())
