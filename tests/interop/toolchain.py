"""What the clients of other languages need on this machine, and how their drivers are built.

Drivers are built once into ``.cache/interop``, in a folder named after a digest of their sources.
A missing toolchain is a skip that says its name; ``HEADWATER_TEST_REQUIRE=all`` makes it a failure.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn, TypeVar

import pytest
from tools.kafka.jars import KafkaNotAvailable, classpath, java
from tools.kafka.server import QUICK_JVM

REPOSITORY = Path(__file__).parents[2]
SOURCES = REPOSITORY / "tools" / "interop"
CACHE = REPOSITORY / ".cache" / "interop"

REQUIRE_VARIABLE = "HEADWATER_TEST_REQUIRE"
BUILD_TIMEOUT_SECONDS = 300

_RUN_DRIVER = f"""\
import runpy, sys
sys.path.insert(0, {str(REPOSITORY)!r})
runpy.run_module("tests.interop.drivers." + sys.argv.pop(1) + "_driver", run_name="__main__")
"""
"""The drivers are modules of the checkout, wherever the test run started."""

Command = list[str]
T = TypeVar("T")


class ToolMissing(Exception):
    """A program that a part of the suite needs is not on this machine."""


def needed(build: Callable[[], T]) -> T:
    """What ``build`` returns; skips the test, or fails it on request, where a tool is missing."""
    try:
        return build()
    except (ToolMissing, KafkaNotAvailable) as missing:
        _leave_out(str(missing))


def python_driver(name: str) -> Command:
    """The driver of a client in Python: a module of ``tests.interop.drivers``."""
    return [sys.executable, "-c", _RUN_DRIVER, name]


def jvm_driver() -> Command:
    """Apache's client and tools in one JVM."""
    return java_program("Driver", heap_mb=512)


def java_program(name: str, *, heap_mb: int) -> Command:
    """A class with a ``main`` of ``tools/interop/java``, with Apache's client on its path."""
    compiler = program("javac", "install a JDK, 17 or newer")

    def build(folder: Path) -> None:
        source = SOURCES / "java" / f"{name}.java"
        _run([compiler, "-cp", classpath(), "-d", str(folder), str(source)], folder)
        (folder / "log4j2.properties").write_text("rootLogger.level = off\n", encoding="utf-8")

    folder = _built("java", [f"{name}.java"], build)
    return [
        *(java(), *QUICK_JVM, f"-Xmx{heap_mb}m", "-Dslf4j.internal.verbosity=ERROR"),
        f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}",
        *("-cp", f"{folder}{os.pathsep}{classpath()}", name),
    ]


def node_driver(name: str) -> Command:
    """The driver of a client in Node: ``tools/interop/node/<name>.mjs``."""
    node = program("node", "install Node, 20 or newer")
    npm = program("npm", "install npm")
    sources = ["package.json", "package-lock.json", ".npmrc", "wire.mjs"]
    sources += ["kafkajs.mjs", "platformatic.mjs"]

    def build(folder: Path) -> None:
        for source in sources:
            shutil.copy(SOURCES / "node" / source, folder)
        _run([npm, "ci", "--silent", "--ignore-scripts"], folder)

    return [node, str(_built("node", sources, build) / f"{name}.mjs")]


def go_driver() -> Command:
    """franz-go."""
    compiler = program("go", "install Go, 1.26 or newer")
    sources = ["main.go", "go.mod", "go.sum"]

    def build(folder: Path) -> None:
        for source in sources:
            shutil.copy(SOURCES / "go" / source, folder)
        _run([compiler, "build", "-o", str(folder / "driver"), "."], folder)

    return [str(_built("go", sources, build) / "driver")]


def kcat() -> str:
    """Debian's kcat."""
    return program("kcat", "apt-get install kcat")


def program(name: str, way_out: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise ToolMissing(f"{name} is not on the PATH: {way_out}")
    return found


def _leave_out(reason: str) -> NoReturn:
    if os.environ.get(REQUIRE_VARIABLE) == "all":
        pytest.fail(f"{REQUIRE_VARIABLE}=all, but {reason}")
    pytest.skip(reason)


def _built(language: str, sources: Sequence[str], build: Callable[[Path], None]) -> Path:
    """The folder with the driver; filled in one step, so that a broken build leaves nothing."""
    digest = hashlib.sha256()
    for source in sources:
        digest.update((SOURCES / language / source).read_bytes())
    folder = CACHE / f"{language}-{digest.hexdigest()[:12]}"
    if folder.is_dir():
        return folder
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        made = Path(scratch) / language
        made.mkdir()
        build(made)
        if not folder.is_dir():
            made.rename(folder)
    return folder


def _run(command: Command, folder: Path) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=BUILD_TIMEOUT_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise ToolMissing(f"{command[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
