"""Apache Avro for Java, asked about schemas in batches: what texts become, what is compatible.

Jars and the compiled program lie in ``.cache/avro``, in a folder named after their sources.
"""

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.interop.toolchain import ToolMissing, program

SOURCES = Path(__file__).with_name("java")
CACHE = Path(__file__).parents[4] / ".cache" / "avro"
TIMEOUT_SECONDS = 300

Json = Any  # questions and answers: JSON edge


def ask(questions: Sequence[Json]) -> list[Json]:
    """One answer for each question, in order; see ``AvroOracle.java``. Raises ToolMissing."""
    folder = _built()
    command = [program("java", "install a JRE, 17 or newer"), "-Xmx256m", "-XX:+UseSerialGC"]
    command += ["-XX:TieredStopAtLevel=1", "-Dslf4j.internal.verbosity=ERROR"]
    command += ["-cp", f"{folder}{os.pathsep}{folder}/*", "AvroOracle"]
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    answers = _run(command, lines).split("\n")[:-1]
    return [json.loads(answer) for answer in answers]


def _built() -> Path:
    digest = hashlib.sha256()
    for name in ("pom.xml", "AvroOracle.java"):
        digest.update((SOURCES / name).read_bytes())
    folder = CACHE / digest.hexdigest()[:12]
    if folder.is_dir():
        return folder
    maven = program("mvn", "install Maven")
    compiler = program("javac", "install a JDK, 17 or newer")
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        made = Path(scratch) / "oracle"
        fetch = [maven, "--quiet", "--batch-mode", "--file", str(SOURCES / "pom.xml")]
        fetch += ["dependency:copy-dependencies", "-DincludeScope=runtime"]
        _run([*fetch, f"-DoutputDirectory={made}"])
        _run([compiler, "-cp", f"{made}/*", "-d", str(made), str(SOURCES / "AvroOracle.java")])
        if not folder.is_dir():
            made.rename(folder)
    return folder


def _run(command: list[str], lines: str = "") -> str:
    done = subprocess.run(  # noqa: S603 - tools of the machine with arguments of ours
        command, input=lines, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
    )
    if done.returncode != 0:
        raise ToolMissing(f"{command[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout
