"""A process of the demo as the demo sees it: started by name, followed by its reports, killed.

A shell. A worker reports on standard output, one JSON object per line; one thread reads them and
ends with the worker.
"""

import contextlib
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Final, final

STOP_TIMEOUT_SECONDS: Final = 20.0


@final
class WorkerProcess:
    """``python -m headwater.examples.flights.MODULE ARGUMENTS``; complaints go to *log*."""

    def __init__(self, module: str, arguments: tuple[str, ...], log: Path) -> None:
        self.log = log
        self.reports: dict[str, Any] = {}
        """The newest value of each fact that the worker has told."""
        self.has_reported = threading.Event()
        """Set by every report; who waits for a certain one clears it first."""
        self._log = log.open("ab")
        self._process = subprocess.Popen(  # noqa: S603 - our own command line, no shell
            [sys.executable, "-m", f"headwater.examples.flights.{module}", *arguments],
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self._reader = threading.Thread(target=self._read_reports, name=f"reports-{module}")
        self._reader.start()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs."""
        return self._process.poll()

    def kill(self) -> None:
        """SIGKILL: it finishes nothing and says farewell to nobody."""
        self._process.kill()
        self.ended()

    def stop(self) -> int:
        """SIGTERM: it finishes and ends. Returns the exit code."""
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        return self.ended()

    def ended(self) -> int:
        """Wait for its end. Returns the exit code."""
        code = self._process.wait()
        self._reader.join()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._log.close()
        return code

    def _read_reports(self) -> None:
        assert self._process.stdout is not None, "asked for a pipe"
        for line in self._process.stdout:
            with contextlib.suppress(ValueError):  # a line cut short by the kill
                self.reports.update(json.loads(line))
                self.has_reported.set()
