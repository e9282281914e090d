"""The group's members as seen from the demo."""

from pathlib import Path
from typing import final

from .worker import WorkerProcess


@final
class MemberProcess:
    """A member: what it was assigned, how much it has consumed, and its end."""

    def __init__(self, name: str, bootstrap: str, topic: str, group: str, file: Path) -> None:
        self.name = name
        self.file = file
        self.log = file.with_suffix(".log")
        self._worker = WorkerProcess("member", (bootstrap, topic, group, str(file)), self.log)

    @property
    def assigned(self) -> list[int]:
        """Its partitions."""
        return list(self._worker.reports.get("assigned", ()))

    @property
    def consumed(self) -> int:
        """How many records it has written down."""
        return int(self._worker.reports.get("consumed", 0))

    @property
    def is_running(self) -> bool:
        return self._worker.is_running

    def kill(self) -> None:
        """SIGKILL: no commit, no farewell to the group."""
        self._worker.kill()

    def stop(self) -> int:
        """SIGTERM: commit, leave the group, end. Returns the exit code."""
        return self._worker.stop()
