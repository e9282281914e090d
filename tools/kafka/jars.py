"""Apache Kafka's jars on this machine: fetched once, by coordinates, into a cache outside git.

The versions stand in ``pom.xml`` beside this module; the folder of the cache is named after a
digest of that file, so that a change of version fetches anew and leaves the old jars alone.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

POM = Path(__file__).with_name("pom.xml")
REPOSITORY = Path(__file__).parents[2]
LIBRARY_VARIABLE = "HEADWATER_KAFKA_LIB"
"""Environment variable that names a folder with the jars; nothing is fetched then."""

FETCH_TIMEOUT_SECONDS = 300


class KafkaNotAvailable(Exception):
    """The jars or a program needed to use them are missing; the message names what and why."""


def library() -> Path:
    """The folder with the jars of Kafka's broker and tools; fetches them on first use.

    Raises KafkaNotAvailable where neither the folder nor the programs to fill it exist.
    """
    named = os.environ.get(LIBRARY_VARIABLE)
    if named is not None:
        if not any(Path(named).glob("kafka_*.jar")):
            raise KafkaNotAvailable(f"{LIBRARY_VARIABLE}={named} holds no Kafka jars")
        return Path(named)
    digest = hashlib.sha256(POM.read_bytes()).hexdigest()[:12]
    folder = REPOSITORY / ".cache" / "kafka" / f"lib-{digest}"
    if not folder.is_dir():
        _fetch(folder)
    return folder


def java() -> str:
    """The path of the Java launcher. Raises KafkaNotAvailable without one."""
    return _program("java", "install a JRE, 17 or newer")


def classpath() -> str:
    """What ``java -cp`` takes to find Kafka's classes."""
    return f"{library()}/*"


def _fetch(folder: Path) -> None:
    """Fill ``folder`` in one step: a run cut short leaves no half a library behind."""
    maven = _program("mvn", "install Maven, or name a folder of jars in " + LIBRARY_VARIABLE)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        target = Path(scratch) / "lib"
        command = [
            *(maven, "--quiet", "--batch-mode", "--file", str(POM)),
            *("dependency:copy-dependencies", "-DincludeScope=runtime"),
            f"-DoutputDirectory={target}",
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=FETCH_TIMEOUT_SECONDS, check=False
        )
        if done.returncode != 0:
            raise KafkaNotAvailable(f"Maven could not fetch {POM}:\n{done.stdout[-4000:]}")
        try:
            target.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was quicker: its jars are as good
                raise


def _program(name: str, way_out: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise KafkaNotAvailable(f"{name} is not on the PATH: {way_out}")
    return found
