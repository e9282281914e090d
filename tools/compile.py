"""Compiles the measured hot modules with mypyc: a twin beside each; Python stays the source.

    python -m tools.compile            # in place: imports take the compiled twin from now on
    python -m tools.compile --remove   # back to Python alone

Only modules on the path of every request are here, because their gain was measured: over a third of
the CPU that small produce requests cost. Everything else stays Python, and the same tests run with
and without; docs/adr has the reasons. Needs a C compiler.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
SUFFIX: Final = str(sysconfig.get_config_var("EXT_SUFFIX"))
GROUP: Final = "headwater"
SHARED: Final = f"{GROUP}__mypyc"
"""mypyc puts the code of all modules into one library, which is imported by this name."""

MODULES: Final = (
    "core_log/records/batch.py",
    "core_log/records/validate.py",
    "core_log/storage/producers.py",
    "core_log/storage/index.py",
    "core_log/storage/segment.py",
    "core_log/storage/state.py",
    "core_log/storage/log.py",
    "core_log/replica/partition.py",
    "core_log/broker/deferred.py",
    "core_log/broker/timers.py",
    "core_log/broker/stats.py",
    "core_log/broker/session.py",
    "core_log/broker/partitions.py",
    "core_log/broker/purgatory.py",
    "core_log/broker/dispatch.py",
    "core_log/broker/handlers/produce.py",
    "core_log/broker/handlers/fetch.py",
)

_SETUP: Final = """
from mypyc.build import mypycify
from setuptools import setup

setup(
    name={group!r},
    ext_modules=mypycify(
        ["--namespace-packages", "--explicit-package-bases", *{sources!r}],
        opt_level="3",
        group_name={group!r},
    ),
)
"""


def build(target: Path) -> list[Path]:
    """Compile into *target*; the libraries' paths below it, as they must lie beside each other."""
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        (work / "src").mkdir()
        # A copy: mypyc must see the layout of an installation, and writes beside its sources.
        shutil.copytree(
            ROOT,
            work / "src" / GROUP,
            ignore=lambda folder, names: [
                name
                for name in names
                if name.startswith(".")
                or name.endswith(SUFFIX)
                or (Path(folder) == ROOT and name not in ("core_log", "service", "console"))
            ],
        )
        sources = [f"src/{GROUP}/{module}" for module in MODULES]
        script = work / "setup.py"
        script.write_text(_SETUP.format(group=GROUP, sources=sources))
        command = [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", str(target)]
        subprocess.run(command, cwd=work, check=True, env={**os.environ, "MYPYPATH": "src"})
    return sorted(path.relative_to(target) for path in target.rglob(f"*{SUFFIX}"))


def in_place() -> None:
    """Put a compiled twin beside each module of this checkout."""
    remove()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder)
        for library in build(target):
            inside = library.parts[0] == GROUP
            place = ROOT.joinpath(*library.parts[1:]) if inside else ROOT / "src" / library
            shutil.copy2(target / library, place)


def remove() -> None:
    """Take the twins away."""
    for module in MODULES:
        (ROOT / module).with_suffix(SUFFIX).unlink(missing_ok=True)
    (ROOT / "src" / f"{SHARED}{SUFFIX}").unlink(missing_ok=True)


if __name__ == "__main__":
    remove() if "--remove" in sys.argv[1:] else in_place()
