"""The workers as processes: started, killed, started anew, ended in good order, and their files."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, final

from headwater.core_log.testing.history import Event, read_history

from ...interop.toolchain import java_program
from .roles import HUNG

CHECKOUT: Final = Path(__file__).parents[3]
END_SECONDS: Final = 90.0
LIBRARIES: Final = ("java", "confluent", "kafka-python")


@final
class Fleet:
    """One process for each client library; histories lie in *directory*."""

    def __init__(self, directory: Path, bootstrap: str, *, seed: int) -> None:
        self.directory = directory
        self.failures: list[str] = []
        self.notes: list[str] = []
        """What went wrong and is known not to be the broker's fault."""
        self._bootstrap = bootstrap
        self._seed = seed
        self._numbers = dict.fromkeys(LIBRARIES, 0)
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._java = java_program("Transactor", heap_mb=256)

    def start(self, library: str) -> None:
        """A new process with the transactional ids of the one before."""
        number = self._numbers[library]
        self._numbers[library] += 1
        with self._log(library).open("ab") as log:
            self._running[library] = subprocess.Popen(
                self._command(library, number),
                cwd=CHECKOUT,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def kill(self, library: str) -> None:
        """SIGKILL, in the middle of whatever it does."""
        process = self._running.pop(library)
        process.kill()
        process.wait()
        _close(process)

    def look(self) -> None:
        """Notes a worker that ended by itself; it is not started again."""
        for library, process in list(self._running.items()):
            if process.poll() is not None:
                _close(self._running.pop(library))
                self.failures.append(
                    f"{library} ended with {process.returncode}: see {self._log(library)}"
                )

    @property
    def running(self) -> tuple[str, ...]:
        return tuple(self._running)

    def stop(self) -> None:
        """Let everybody finish what they are at; who does not is killed and noted."""
        self.look()
        for process in self._running.values():
            _close(process)
        for library, process in self._running.items():
            try:
                code = process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                self.failures.append(f"{library} did not end: see {self._log(library)}")
                continue
            if code == HUNG:
                # send_offsets_to_transaction of librdkafka 2.16 does not always come back in its
                # time limit when the broker dies meanwhile; commit_transaction of kafka-python 3.0
                # has none. Both were seen to hang on Apache Kafka. What such a worker left open
                # the final readers wait for.
                self.notes.append(f"{library} hangs: see {self._log(library)}")
            elif code != 0:
                self.failures.append(f"{library} ended with {code}: see {self._log(library)}")

    def kill_all(self) -> None:
        for library in self.running:
            self.kill(library)

    def _command(self, library: str, number: int) -> list[str]:
        place = [self._bootstrap, str(self.directory.absolute())]
        if library == "java":
            return [*self._java, *place, str(number), str(self._seed)]
        module = [sys.executable, "-m", "tests.chaos.transactions.worker"]
        return [*module, library, f"{library}#{number}", *place, str(self._seed)]

    def _log(self, library: str) -> Path:
        return self.directory / f"{library}.log"


def _close(process: subprocess.Popen[bytes]) -> None:
    """Close a worker's input, which tells it to end if it has not."""
    assert process.stdin is not None, "a pipe"
    process.stdin.close()


def history_in(directory: Path, library: str = "") -> Iterator[Event]:
    """What everybody wrote down, or the workers of one library; file by file."""
    for file in sorted(directory.glob(f"{library}*.jsonl")):
        with file.open("rb") as lines:
            yield from read_history(lines)
