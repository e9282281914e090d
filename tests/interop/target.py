"""The system under test as a process: Headwater by default, Apache Kafka on request.

``HEADWATER_INTEROP_TARGET`` chooses: ``headwater`` (default) or ``kafka``. Every test must pass on
both; what Kafka does is what the tests check. The command line of our broker stands here and
nowhere else in the suite.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, final

from tools.kafka.server import HOST, KafkaServer, answers_metadata, free_port

TARGET_VARIABLE = "HEADWATER_INTEROP_TARGET"
TARGET_NAME = os.environ.get(TARGET_VARIABLE, "headwater")

START_TIMEOUT_SECONDS = 20.0
STOP_TIMEOUT_SECONDS = 15.0
POLL_INTERVAL_SECONDS = 0.01

SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",  # 3 s by default: a test would wait for each group
    "group.min.session.timeout.ms": "1000",  # 6 s by default: crashed members would linger
    "offsets.topic.num.partitions": "4",
}
"""Node settings of every target; the rest stays at Kafka's defaults."""


class TargetDidNotStart(Exception):
    """The process ended, or did not answer in time; the message carries the end of its log."""


class Target(Protocol):
    """A broker in its own process, with a folder that outlives it."""

    @property
    def bootstrap(self) -> str: ...
    @property
    def pid(self) -> int: ...
    @property
    def data_directory(self) -> Path: ...
    @property
    def log_file(self) -> Path: ...
    def start(self) -> float:
        """Start, and wait for an answer; the seconds it took."""
        ...

    def stop(self) -> None:
        """Shut down cleanly."""
        ...

    def kill(self) -> None:
        """SIGKILL."""
        ...


@final
class HeadwaterServer:
    """``headwater broker`` on a free loopback port. ``directory`` gets ``data/`` and the log."""

    def __init__(
        self,
        directory: Path,
        *,
        settings: Mapping[str, str] | None = None,
        port: int | None = None,
    ) -> None:
        self.directory = directory
        self.data_directory = directory / "data"
        self.log_file = directory / "broker.log"
        self.port = free_port() if port is None else port
        self.settings = {**SETTINGS, **(settings or {})}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "the broker was not started"
        return self._process.pid

    def command(self) -> list[str]:
        command = [
            *(sys.executable, "-m", "headwater.console.cli", "broker"),
            *("--listener", f"PLAINTEXT://{HOST}:{self.port}"),
            *("--data-dir", str(self.data_directory)),
        ]
        for name, value in self.settings.items():
            command += ["--set", f"{name}={value}"]
        return command

    def start(self) -> float:
        assert self._process is None, "the broker runs already"
        self.directory.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        while not answers_metadata(HOST, self.port):
            late = time.monotonic() - started > START_TIMEOUT_SECONDS
            if late or self._process.poll() is not None:
                self.kill()
                raise TargetDidNotStart(self.log_file.read_text(errors="replace")[-4000:])
            time.sleep(POLL_INTERVAL_SECONDS)
        return time.monotonic() - started

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired as error:
            self.kill()
            raise AssertionError("the broker did not stop within its time on SIGTERM") from error
        self._process = None

    def kill(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        self._process = None


def kafka_server(directory: Path, *, settings: Mapping[str, str] | None = None) -> KafkaServer:
    """Apache Kafka with the settings of this suite."""
    quick_restart = {"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "300"}
    overrides = {**SETTINGS, **quick_restart, **(settings or {})}
    return KafkaServer(directory, overrides=overrides)


def target(directory: Path, *, settings: Mapping[str, str] | None = None) -> Target:
    """The system under test, not started yet."""
    match TARGET_NAME:
        case "headwater":
            return HeadwaterServer(directory, settings=settings)
        case "kafka":
            return kafka_server(directory, settings=settings)
        case other:
            raise ValueError(f"{TARGET_VARIABLE}={other}: headwater or kafka")
