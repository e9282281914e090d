"""A worker's history file: events of ``core_log.testing.history``, one JSON line each.

Used from several threads. What has to be in the file before something is done is written with
``before``: a worker that is killed then leaves no record that nobody had announced.
"""

import threading
import time
from pathlib import Path
from typing import final

import msgspec

from headwater.core_log.testing.history import Event


@final
class Journal:
    def __init__(self, file: Path) -> None:
        self._file = file.open("ab")
        self._encode = msgspec.json.Encoder().encode
        self._lock = threading.Lock()

    def after(self, *events: Event) -> None:
        """What has happened."""
        lines = b"".join(self._encode(event) + b"\n" for event in events)
        with self._lock:
            self._file.write(lines)

    def before(self, *events: Event) -> None:
        """What is about to happen."""
        self.after(*events)
        with self._lock:
            self._file.flush()

    def close(self) -> None:
        with self._lock:
            self._file.close()


def now_ms() -> int:
    """Milliseconds of the clock that all workers of a machine share."""
    return time.time_ns() // 1_000_000
