"""The group's three members as seen from the demo: processes whose reports are read.

A shell. Each member's reports are read by one thread that ends with the member.
"""

import contextlib
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final, final

STOP_TIMEOUT_SECONDS: Final = 20.0


@final
class MemberProcess:
    """A member: what it was assigned, how much it has consumed, and its end."""

    def __init__(self, name: str, bootstrap: str, topic: str, group: str, file: Path) -> None:
        self.name = name
        self.file = file
        self.assigned: list[int] = []
        self.consumed = 0
        self._log = file.with_suffix(".log").open("wb")
        self._process = subprocess.Popen(  # noqa: S603 - our own command line, no shell
            [
                *(sys.executable, "-m", "headwater.examples.flights.member"),
                *(bootstrap, topic, group, str(file)),
            ],
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self._reader = threading.Thread(target=self._read_reports, name=f"reports-{name}")
        self._reader.start()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """SIGKILL: no commit, no farewell to the group."""
        self._process.kill()
        self._ended()

    def stop(self) -> int:
        """SIGTERM: commit, leave the group, end. Returns the exit code."""
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        return self._ended()

    def _ended(self) -> int:
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
                report = json.loads(line)
                self.assigned = report.get("assigned", self.assigned)
                self.consumed = report.get("consumed", self.consumed)
