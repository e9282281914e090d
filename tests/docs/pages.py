"""Pages as programs: which blocks a page has, and what to do with each.

An HTML comment on the line before a block says what it is, and readers never see it:

- ``<!-- run -->``: ``sh`` or ``python``, run in the page's folder; ``<!-- run, exit 1 -->`` where
  the page shows a failure
- ``<!-- background -->``: ``sh`` that starts a broker on 127.0.0.1:9092; it is waited for
- ``<!-- output -->``: every line is found in what the block before printed, ``…`` is anything
- ``<!-- file: NAME -->``: written into the page's folder
- ``<!-- not run: REASON -->``

``<!-- interrupt -->`` without a block presses Ctrl-C in the background's terminal. 127.0.0.1:9092
stands for the page's own port.
"""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from headwater.core_log.testing.process import HOST, answers_metadata, free_port

ADDRESS = "127.0.0.1:9092"
START_TIMEOUT_SECONDS = 30.0
BLOCK_TIMEOUT_SECONDS = 60.0
_STEP = re.compile(
    r"(?:^<!-- (?P<what>[^\n]*?) -->\n)?^```(?P<language>[a-z]*)\n(?P<text>.*?)^```$"
    r"|^<!-- (?P<alone>interrupt) -->$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One block, or something that happens between blocks. *what* is the comment's text."""

    what: str
    language: str
    text: str
    line: int


def steps(page: str) -> list[Step]:
    """The blocks of a page in their order."""
    return [
        Step(
            what=match["alone"] or match["what"] or "",
            language=match["language"] or "",
            text=match["text"] or "",
            line=page.count("\n", 0, match.start()) + 1,
        )
        for match in _STEP.finditer(page)
    ]


class Page:
    """One reader who follows a page in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._printed = ""
        self._background: subprocess.Popen[bytes] | None = None
        self._environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HEADWATER_BOOTSTRAP": f"{HOST}:{self._port}",
            "HEADWATER_BROKER_LISTENERS": f"PLAINTEXT://{HOST}:{self._port}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def follow(self, step: Step) -> None:
        """Do what the step says, and check it."""
        kind, _, rest = step.what.partition(":")
        text = step.text.replace(ADDRESS, f"{HOST}:{self._port}")
        if kind == "file":
            (self._folder / rest.strip()).write_text(text)
        elif kind == "background":
            self._start(text)
        elif kind == "interrupt":
            self._interrupt()
        elif kind == "output":
            self._compare(text)
        elif kind != "not run":
            self._run(step.language, text, int(kind.removeprefix("run, exit ").replace("run", "0")))

    def close(self) -> None:
        """End what is still running."""
        if self._background is not None:
            self._background.kill()
            self._background.wait()

    def _run(self, language: str, text: str, expected_code: int) -> None:
        if language == "python":
            (self._folder / "block.py").write_text(text)
            command = [sys.executable, "-W", "error", "block.py"]
        else:
            command = ["bash", "-e", "-u", "-c", text]
        done = subprocess.run(  # noqa: S603 - our own pages
            command,
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=BLOCK_TIMEOUT_SECONDS,
            check=False,
        )
        self._printed = done.stdout.decode()
        assert done.returncode == expected_code, f"{text}\nprinted\n{self._printed}"

    def _compare(self, text: str) -> None:
        printed = [" ".join(line.split()) for line in self._printed.splitlines()]
        for line in text.splitlines():
            pattern = ".*".join(re.escape(part) for part in " ".join(line.split()).split("…"))
            assert any(re.fullmatch(pattern, other) for other in printed), (
                f"{line!r} is not in\n{self._printed}"
            )

    def _start(self, text: str) -> None:
        assert self._background is None, "a broker runs already"
        with (self._folder / "background.log").open("wb") as log:
            self._background = subprocess.Popen(  # noqa: S603 - our own pages
                ["bash", "-e", "-u", "-c", f"exec {text}"],  # noqa: S607 - the reader's shell
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        late = time.monotonic() + START_TIMEOUT_SECONDS
        while not answers_metadata(HOST, self._port):
            assert self._background.poll() is None, self._log()
            assert time.monotonic() < late, self._log()
            time.sleep(0.01)

    def _interrupt(self) -> None:
        assert self._background is not None, "nothing runs"
        self._background.send_signal(signal.SIGINT)
        code = self._background.wait(START_TIMEOUT_SECONDS)
        self._background = None
        assert code in {0, 130}, f"exit code {code}\n{self._log()}"

    def _log(self) -> str:
        return (self._folder / "background.log").read_text(errors="replace")
