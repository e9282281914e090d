r"""Structured logs: an event name and facts, one line each, as JSON or for a person's terminal.

    log = logger(out=sys.stderr, form=Form.AUTO, level=Level.INFO)
    log.info("segment_rolled", topic="orders", base_offset=1000)

    {"time": "2026-01-02T03:04:05.678Z", "level": "info", "event": "segment_rolled", …}
    03:04:05.678 info     segment_rolled  topic=orders base_offset=1000

A logger is made at the edge and handed down; there is no global one. The event is a constant of
the program and facts are values: nothing that came from outside is ever a format string, and
control characters are written as ``\x1b``, so a peer cannot forge a line or drive a terminal.
Secrets, and facts whose names say so, are written as ``[secret]``. See docs/adr/0002 for why
this is not one of the logging libraries.
"""

import json
import logging
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, IntEnum
from itertools import islice
from math import isfinite
from typing import Any, Final, Protocol, TextIO, TypeVar, final

from .places import escaped
from .secrets import REDACTED, Secret

FACT_CHARS_MAX: Final = 4096
"""A longer value is cut: a peer chooses the length of names and messages that end up here."""
FACT_ENTRIES_MAX: Final = 100
FACT_DEPTH_MAX: Final = 4

_T = TypeVar("_T")

SECRET_WORDS: Final = frozenset({"password", "passwd", "secret", "token", "credential", "apikey"})
"""A fact with one of these words in its name is redacted, whatever its type."""


class Level(IntEnum):
    """How much an event matters; the numbers are those of the standard library."""

    DEBUG = logging.DEBUG
    INFO = logging.INFO
    WARNING = logging.WARNING
    ERROR = logging.ERROR


class Form(Enum):
    """How lines look."""

    AUTO = "auto"
    """For a person on a terminal, JSON everywhere else."""
    CONSOLE = "console"
    JSON = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event, before it becomes a line."""

    time: datetime
    level: Level
    name: str
    facts: Mapping[str, Any]


class Stream(Protocol):
    """What a sink needs of a text stream."""

    def write(self, text: str, /) -> int: ...
    def flush(self) -> None: ...


@final
class Logger:
    """Writes events at or above its level. Loggers made by ``bind`` share the stream."""

    __slots__ = ("_facts", "_sink")

    def __init__(self, sink: "Sink", facts: Mapping[str, Any] | None = None) -> None:
        self._sink = sink
        self._facts: Mapping[str, Any] = {**(facts or {})}

    def bind(self, **facts: Any) -> "Logger":
        """A logger that adds *facts* to each of its events."""
        return Logger(self._sink, {**self._facts, **facts})

    def debug(self, event: str, /, **facts: Any) -> None:
        """Write what helps while looking for a mistake."""
        self._write(Level.DEBUG, event, facts)

    def info(self, event: str, /, **facts: Any) -> None:
        """Write what an operator wants to have known afterwards."""
        self._write(Level.INFO, event, facts)

    def warning(self, event: str, /, **facts: Any) -> None:
        """Write what works still, but will not for ever."""
        self._write(Level.WARNING, event, facts)

    def error(self, event: str, /, **facts: Any) -> None:
        """Write what failed. An exception among the facts is written with its traceback."""
        self._write(Level.ERROR, event, facts)

    @property
    def lost_count(self) -> int:
        """Lines that the stream did not take."""
        return self._sink.lost_count

    def enabled(self, level: Level) -> bool:
        """Whether events of *level* are written: ask before facts that cost something."""
        return level >= self._sink.level

    def _write(self, level: Level, event: str, facts: Mapping[str, Any]) -> None:
        if level >= self._sink.level:
            self._sink.write(level, event, {**self._facts, **facts})

    def __repr__(self) -> str:
        return f"<Logger [{self._sink.level.name.lower()}, {len(self._facts)} facts bound]>"


@final
class Sink:
    """A text stream, the least level written to it, and the form of lines."""

    def __init__(
        self,
        out: Stream,
        *,
        level: Level,
        render: Callable[[Event], str],
        now: Callable[[], datetime],
    ) -> None:
        self.level = level
        self.lost_count = 0
        self._out = out
        self._render = render
        self._now = now

    def write(self, level: Level, event: str, facts: Mapping[str, Any]) -> None:
        line = self._render(Event(time=self._now(), level=level, name=event, facts=facts))
        try:
            # One call per line: lines of several threads do not mix.
            self._out.write(line + "\n")
            self._out.flush()
        except (OSError, ValueError):
            # A full disk or a closed pipe must not take the process with it.
            self.lost_count += 1


def logger(
    *,
    out: TextIO,
    form: Form = Form.AUTO,
    level: Level = Level.INFO,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Logger:
    """A logger that writes to *out*."""
    for_person = form is Form.CONSOLE or (form is Form.AUTO and out.isatty())
    return Logger(Sink(out, level=level, render=console_line if for_person else json_line, now=now))


def capture(events: list[Event], *, level: Level = Level.DEBUG) -> Logger:
    """A logger for tests: events are appended to *events*, as they were written."""

    def render(event: Event) -> str:
        events.append(event)
        return ""

    return Logger(Sink(_Nowhere(), level=level, render=render, now=lambda: datetime.now(UTC)))


def adopt_standard_logging(log: Logger) -> Callable[[], None]:
    """Make libraries' own log records events of *log*; the result undoes it.

    asyncio and aiohttp report through the standard library; their words are facts here.
    """
    handler = _Adopted(log)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.WARNING)

    def undo() -> None:
        root.removeHandler(handler)
        root.setLevel(before)

    return undo


def json_line(event: Event) -> str:
    """The event as one line of ASCII JSON."""
    document = {
        "time": f"{event.time:%Y-%m-%dT%H:%M:%S}.{event.time.microsecond // 1000:03d}Z",
        "level": event.level.name.lower(),
        "event": event.name,
    }
    for name, value in event.facts.items():
        # A fact cannot take the place of time, level or event.
        document[f"{name}_" if name in document else name] = _plain(name, value)
    return json.dumps(document)


def console_line(event: Event) -> str:
    """The event for a person; tracebacks follow on lines of their own, indented."""
    facts, traces = [], []
    for name, value in event.facts.items():
        if isinstance(value, BaseException) and value.__traceback__ is not None:
            traces.extend(_trace(value).splitlines())
        facts.append(f"{escaped(name)}={_word(_plain(name, value, with_trace=False))}")
    clock = f"{event.time:%H:%M:%S}.{event.time.microsecond // 1000:03d}"
    line = f"{clock} {event.level.name.lower():<8} {event.name}  {' '.join(facts)}".rstrip()
    return "\n".join([line, *(f"    {escaped(trace)}" for trace in traces)])


def _plain(name: str, value: object, *, depth: int = 0, with_trace: bool = True) -> Any:
    """*value* as JSON takes it: bounded, redacted, exceptions spelled out."""
    if isinstance(value, Secret) or _is_secret(name):
        return REDACTED
    if isinstance(value, Enum):
        return _plain(name, value.value, depth=depth)
    if isinstance(value, float) and not isfinite(value):
        return str(value)  # JSON has no such numbers
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, BaseException):
        return _cut(_exception_text(value, with_trace=with_trace))
    if isinstance(value, bytes | bytearray | memoryview):
        return _cut(bytes(value[:FACT_CHARS_MAX]).decode("utf-8", "backslashreplace"))
    if isinstance(value, Mapping) and depth < FACT_DEPTH_MAX:
        return {str(key): _plain(str(key), v, depth=depth + 1) for key, v in _first(value.items())}
    if isinstance(value, list | tuple | set | frozenset) and depth < FACT_DEPTH_MAX:
        return [_plain(name, entry, depth=depth + 1) for entry in _first(value)]
    return _cut(str(value))


def _first(entries: Iterable[_T]) -> Iterator[_T]:
    """The first hundred of *entries*: a log line is no place for a list of partitions."""
    return islice(entries, FACT_ENTRIES_MAX)


def _is_secret(name: str) -> bool:
    return not SECRET_WORDS.isdisjoint(name.lower().replace("-", "_").replace(".", "_").split("_"))


def _cut(text: str) -> str:
    return text if len(text) <= FACT_CHARS_MAX else text[: FACT_CHARS_MAX - 1] + "…"


def _exception_text(error: BaseException, *, with_trace: bool) -> str:
    if with_trace and error.__traceback__ is not None:
        return _trace(error)
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error, limit=-20)).rstrip()


def _word(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    text = escaped(text)
    return f'"{text}"' if text == "" or " " in text or "=" in text else text


class _Adopted(logging.Handler):
    def __init__(self, log: Logger) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        facts: dict[str, Any] = {"logger": record.name, "message": record.getMessage()}
        if record.exc_info and record.exc_info[1] is not None:
            facts["error"] = record.exc_info[1]
        if record.levelno >= logging.ERROR:
            self._log.error("library_reported", **facts)
        elif record.levelno >= logging.WARNING:
            self._log.warning("library_reported", **facts)
        else:
            self._log.debug("library_reported", **facts)


class _Nowhere:
    """The stream behind captured events."""

    def write(self, text: str, /) -> int:
        return len(text)

    def flush(self) -> None:
        pass
