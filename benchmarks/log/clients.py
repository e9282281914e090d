"""The clients in C: compiled on first use into the cache, run as processes, read as JSON.

A shell. They link the library that the confluent-kafka wheel carries, so that the librdkafka
measured is the one that users of that wheel run.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import msgspec

SOURCES: Final = Path(__file__).with_name("c")
CACHE: Final = Path(__file__).parents[2] / ".cache" / "benchmarks"
RUN_TIMEOUT_SECONDS: Final = 180.0


class ClientFailed(Exception):
    """A client could not be built, ended with an error, or lost records; the message says which."""


def program(name: str) -> Path:
    """The compiled client *name*; compiles it when its sources or the library changed."""
    library = _librdkafka()
    sources = [SOURCES / f"{name}.c", SOURCES / "rdkafka_abi.h"]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources))
    digest.update(str(library).encode())
    binary = CACHE / f"{name}-{digest.hexdigest()[:12]}"
    if not binary.exists():
        _compile(sources[0], library, binary)
    return binary


def run(name: str, *arguments: str) -> dict[str, Any]:
    """Run a client and return what it printed. Raises ClientFailed."""
    command = [str(program(name)), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=RUN_TIMEOUT_SECONDS, check=False
    )
    if done.returncode != 0:
        raise ClientFailed(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    answer: dict[str, Any] = msgspec.json.decode(done.stdout)
    lost = answer.get("failed", 0) + answer.get("refused", 0) + answer.get("unanswered", 0)
    if lost:
        why = answer.get("error") or answer.get("error_code")
        raise ClientFailed(f"{' '.join(command)}: {lost} records or requests failed, first: {why}")
    return answer


def _compile(source: Path, library: Path, binary: Path) -> None:
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise ClientFailed("no C compiler on the PATH: the benchmark's clients are written in C")
    CACHE.mkdir(parents=True, exist_ok=True)
    scratch = binary.with_suffix(f".{os.getpid()}")
    command = [compiler, "-O2", "-o", str(scratch), str(source), str(library)]
    done = subprocess.run(
        [*command, f"-Wl,-rpath,{library.parent}"],
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise ClientFailed(f"{source.name} does not compile:\n{done.stderr}")
    scratch.replace(binary)


def _librdkafka() -> Path:
    spec = importlib.util.find_spec("confluent_kafka")
    if spec is None or not spec.submodule_search_locations:
        raise ClientFailed("confluent-kafka is not installed; its librdkafka is the client")
    folder = Path(spec.submodule_search_locations[0]).with_name("confluent_kafka.libs")
    libraries = sorted(folder.glob("librdkafka-*.so*"))
    if not libraries:
        raise ClientFailed(f"no librdkafka in {folder}: install confluent-kafka as a wheel")
    return libraries[0]
