"""An Apache Kafka node of one, as a process on loopback: the reference for tests and benchmarks.

A shell. The node is broker and controller in one (KRaft), keeps its data in a folder the caller
names, and lives as long as the caller wants: ``start``, ``stop``, ``kill``, start again.

    with KafkaServer(Path("/tmp/reference"), overrides={"num.partitions": "4"}) as kafka:
        client = Producer({"bootstrap.servers": kafka.bootstrap})
"""

import contextlib
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, final

from .jars import KafkaNotAvailable, classpath, java

HOST = "127.0.0.1"
CLUSTER_ID = "aGVhZHdhdGVyaW50ZXJvcA"
"""Any 16 bytes in URL-safe base64 do; a fixed one makes two directories of one test agree."""

START_TIMEOUT_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 30.0
POLL_INTERVAL_SECONDS = 0.02

QUICK_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
"""For tests: a JVM that starts fast and stays small. Measurements must not use it."""
MEASURED_JVM = ("-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-server")
"""For benchmarks: what Kafka's own start script passes."""

_LOG4J = """\
status = error
appender.file.type = File
appender.file.name = file
appender.file.fileName = {path}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d %p %c %m%n
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
"""


class KafkaDidNotStart(Exception):
    """The process ended, or did not answer in time; the message carries the end of its log."""


@final
class KafkaServer:
    """One node of Apache Kafka and its folder.

    ``directory`` receives ``data/`` (the log directory), ``server.properties`` and ``kafka.log``.
    ``overrides`` win over the few settings that make a node of one. Ports are chosen when the
    object is made and kept, so that clients find a restarted node again.
    """

    def __init__(
        self,
        directory: Path,
        *,
        overrides: Mapping[str, str] | None = None,
        jvm_options: Sequence[str] = QUICK_JVM,
        heap_mb: int = 512,
        port: int | None = None,
    ) -> None:
        self.directory = directory
        self.data_directory = directory / "data"
        self.log_file = directory / "kafka.log"
        self.port = free_port() if port is None else port
        self.controller_port = free_port()
        self.overrides = dict(overrides or {})
        self.jvm_options = tuple(jvm_options)
        self.heap_mb = heap_mb
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def pid(self) -> int:
        """Process id of the running node."""
        assert self._process is not None, "the node was not started"
        return self._process.pid

    def start(self, *, timeout_seconds: float = START_TIMEOUT_SECONDS) -> float:
        """Format the folder if it is new, start the node, wait until it answers.

        Returns the seconds from the start of the process to its first answer to Metadata.
        Raises KafkaNotAvailable without Java or jars, KafkaDidNotStart otherwise.
        """
        assert self._process is None, "the node runs already"
        self.directory.mkdir(parents=True, exist_ok=True)
        properties = self._write_configuration()
        if not (self.data_directory / "meta.properties").exists():
            self._format(properties)
        started = time.monotonic()
        with (self.directory / "stdout.log").open("ab") as output:
            self._process = subprocess.Popen(
                self._java("kafka.Kafka", str(properties)),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        while not answers_metadata(HOST, self.port):
            late = time.monotonic() - started > timeout_seconds
            if late or self._process.poll() is not None:
                self.kill()
                raise KafkaDidNotStart(f"see {self.log_file}:\n{self._log_tail()}")
            time.sleep(POLL_INTERVAL_SECONDS)
        return time.monotonic() - started

    def stop(self) -> None:
        """Shut the node down cleanly (SIGTERM); kill it when it does not end in time."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def kill(self) -> None:
        """End the node at once (SIGKILL): nothing is flushed, no clean-shutdown marker."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _write_configuration(self) -> Path:
        settings = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@{HOST}:{self.controller_port}",
            "listeners": (
                f"PLAINTEXT://{HOST}:{self.port},CONTROLLER://{HOST}:{self.controller_port}"
            ),
            "advertised.listeners": f"PLAINTEXT://{HOST}:{self.port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": str(self.data_directory),
            **_REPLICATION_OF_ONE,
            **self.overrides,
        }
        lines = [f"{name}={value}\n" for name, value in settings.items()]
        properties = self.directory / "server.properties"
        properties.write_text("".join(lines), encoding="utf-8")
        (self.directory / "log4j2.properties").write_text(
            _LOG4J.format(path=self.log_file), encoding="utf-8"
        )
        return properties

    def _format(self, properties: Path) -> None:
        command = self._java(
            *("kafka.tools.StorageTool", "format", "--cluster-id", CLUSTER_ID),
            *("--config", str(properties)),
        )
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=START_TIMEOUT_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            raise KafkaDidNotStart(f"formatting {self.data_directory}:\n{done.stdout}{done.stderr}")

    def _java(self, *arguments: str) -> list[str]:
        return [
            *(java(), *self.jvm_options, f"-Xms{min(self.heap_mb, 256)}m", f"-Xmx{self.heap_mb}m"),
            f"-Dlog4j2.configurationFile={self.directory / 'log4j2.properties'}",
            *("-Djava.awt.headless=true", "-cp", classpath(), *arguments),
        ]

    def _log_tail(self) -> str:
        if not self.log_file.exists():
            return (self.directory / "stdout.log").read_text(errors="replace")[-2000:]
        return self.log_file.read_text(errors="replace")[-2000:]


_REPLICATION_OF_ONE = {
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",  # 50 by default: each costs start time and memory
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.num.partitions": "4",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.min.isr": "1",
}


def free_port() -> int:
    """A TCP port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def answers_metadata(host: str, port: int, *, timeout_seconds: float = 2.0) -> bool:
    """Whether the node at ``host:port`` answers Metadata (v0, all topics) with a broker in it."""
    # [4 length][2 api key 3][2 version 0][4 correlation 1][2 no client id][4 no topics: all]
    request = struct.pack(">ihhihi", 14, 3, 0, 1, -1, 0)
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout_seconds) as s:
        s.settimeout(timeout_seconds)
        s.sendall(request)
        answer = b""
        while len(answer) < 12:
            received = s.recv(65536)
            if not received:
                return False
            answer += received
        _, correlation_id, broker_count = struct.unpack_from(">iii", answer)
        return bool(correlation_id == 1 and broker_count > 0)
    return False


__all__ = [
    "MEASURED_JVM",
    "QUICK_JVM",
    "KafkaDidNotStart",
    "KafkaNotAvailable",
    "KafkaServer",
    "answers_metadata",
    "free_port",
]
