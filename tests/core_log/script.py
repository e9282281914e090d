"""Scripts of conversations with a coordinator's shard: what is said, indented what must follow."""

import difflib
import textwrap
from abc import ABC, abstractmethod


class Script(ABC):
    """Runs the lines of a script; what follows from each goes to the transcript."""

    def __init__(self) -> None:
        self.transcript: list[str] = []

    @abstractmethod
    def execute(self, line: str) -> None:
        """Carry out one line, write down what follows, and check the shard."""

    def run(self, script: str) -> str:
        """Execute the lines that are not indented; return them with what followed."""
        self.transcript.clear()
        for line in textwrap.dedent(script).splitlines():
            if line and not line[0].isspace():
                self.transcript.append(line)
                self.execute(line)
        return "\n".join(self.transcript)

    def check(self, script: str) -> None:
        """Run *script* and compare what follows with its indented lines."""
        expected = [line.rstrip() for line in textwrap.dedent(script).splitlines() if line.strip()]
        happened = self.run(script).splitlines()
        if happened != expected:
            difference = difflib.unified_diff(expected, happened, "expected", "happened", n=99)
            raise AssertionError("\n".join(("", *difference)))
