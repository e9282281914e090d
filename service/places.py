"""Where a value came from, and what is wrong with it: the words of every settings error.

Pure. A person who mistypes a value reads one line: the place to open, the value as written, the
reason, and what to write instead. All problems of a start are reported together.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

SHOWN_CHARS_MAX: Final = 80
"""A longer value is cut in messages; nobody reads a certificate in a log line."""


class Origin(Enum):
    """The layers, weakest first."""

    DEFAULT = "default"
    FILE = "file"
    VARIABLE = "variable"
    FLAG = "flag"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place a person can open and edit. Line and column count from 1; files only."""

    origin: Origin
    name: str = ""
    """Path of the file, name of the variable, or the flag with its dashes."""
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        if self.origin is Origin.FILE:
            return ":".join(str(part) for part in (self.name, self.line, self.column) if part)
        return f"{self.origin.value} {self.name}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing to correct."""

    place: Place | None
    """None when no single place is to blame, as for a required setting that is nowhere."""
    setting: str | None
    shown: str | None
    """The value as written, safe to print; None when there is none or it is secret."""
    reason: str

    def __str__(self) -> str:
        subject = self.setting or ""
        if self.shown is not None:
            subject = f"{subject} = {self.shown}" if subject else self.shown
        return ": ".join(part for part in (str(self.place or ""), subject, self.reason) if part)


class SettingsInvalid(Exception):
    """Settings that cannot be used. *problems* holds every one of them, in reading order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def shown(value: str) -> str:
    """*value* in quotes, short and without control characters: fit for a terminal."""
    cut = value if len(value) <= SHOWN_CHARS_MAX else value[: SHOWN_CHARS_MAX - 1] + "…"
    return f'"{escaped(cut)}"'


def escaped(text: str) -> str:
    r"""*text* with control and invisible characters as ``\n``, ``\x1b``, ``\u202e``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
