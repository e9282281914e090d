"""A broker as a process of its own on loopback: what tests kill, measure and feed with bad input.

A shell. It runs ``headwater broker`` with the interpreter that runs the caller, so that an
installed package and a checkout both test themselves::

    with BrokerProcess(Path("/tmp/node"), settings={"num.partitions": "4"}) as broker:
        client = Producer({"bootstrap.servers": broker.bootstrap})
"""

import contextlib
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self, final

HOST: Final = "127.0.0.1"
START_TIMEOUT_SECONDS: Final = 30.0
STOP_TIMEOUT_SECONDS: Final = 30.0
POLL_INTERVAL_SECONDS: Final = 0.005
LOG_TAIL_BYTES: Final = 4_000


class BrokerDidNotStart(Exception):
    """The process ended, or did not answer in time; the message carries the end of its log."""


@final
class BrokerProcess:
    """One broker and its folder: start, stop, kill, start again.

    ``directory`` receives ``data/`` and ``broker.log``. *settings* are the broker's, by Kafka's
    names. The port is chosen when the object is made and kept, so that clients find a restarted
    broker again; with *advertised* (``host:port``, a proxy's) they are sent there instead.
    """

    def __init__(
        self,
        directory: Path,
        *,
        settings: Mapping[str, str] | None = None,
        port: int | None = None,
        advertised: str | None = None,
    ) -> None:
        self.directory = directory
        self.data_directory = directory / "data"
        self.log_file = directory / "broker.log"
        self.port = free_port() if port is None else port
        self.settings = dict(settings or {})
        self.advertised = advertised
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def pid(self) -> int:
        """Process id of the running broker."""
        assert self._process is not None, "the broker was not started"
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self, *, timeout_seconds: float = START_TIMEOUT_SECONDS) -> float:
        """Start the broker and wait until it answers.

        Returns the seconds from the start of the process to its first answer to Metadata.
        Raises BrokerDidNotStart.
        """
        assert self._process is None, "the broker runs already"
        self.directory.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own command line, no shell
                self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        while not answers_metadata(HOST, self.port):
            late = time.monotonic() - started > timeout_seconds
            if late or self._process.poll() is not None:
                self.kill()
                raise BrokerDidNotStart(f"see {self.log_file}:\n{self._log_tail()}")
            time.sleep(POLL_INTERVAL_SECONDS)
        return time.monotonic() - started

    def stop(self) -> None:
        """Shut the broker down cleanly (SIGTERM); kill it when it does not end in time."""
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
        """End the broker at once (SIGKILL): nothing is flushed, no clean-shutdown marker."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        self._process = None

    def command(self) -> list[str]:
        """The command line, the one place that knows it."""
        settings = [f"{name}={value}" for name, value in self.settings.items()]
        return [
            *(sys.executable, "-m", "headwater.console.cli", "broker"),
            *("--listener", f"PLAINTEXT://{HOST}:{self.port}"),
            *(
                ("--advertised-listener", f"PLAINTEXT://{self.advertised}")
                if self.advertised
                else ()
            ),
            *("--data-dir", str(self.data_directory)),
            *(argument for setting in settings for argument in ("--set", setting)),
        ]

    def _log_tail(self) -> str:
        return self.log_file.read_text(errors="replace")[-LOG_TAIL_BYTES:]

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


def free_port() -> int:
    """A TCP port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def answers_metadata(host: str, port: int, *, timeout_seconds: float = 2.0) -> bool:
    """Whether the node at ``host:port`` answers Metadata (v1, no topics) with a broker in it."""
    # [4 length][2 api key 3][2 version 1][4 correlation id][2 no client id][4 no topics]
    request = struct.pack(">ihhihi", 14, 3, 1, 1, -1, 0)
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout_seconds) as s:
        s.settimeout(timeout_seconds)
        s.sendall(request)
        answer = b""
        while len(answer) < 12:
            received = s.recv(65_536)
            if not received:
                return False
            answer += received
        _, correlation_id, broker_count = struct.unpack_from(">iii", answer)
        return bool(correlation_id == 1 and broker_count > 0)
    return False
