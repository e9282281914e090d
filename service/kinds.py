"""The types a setting can have: text in, value out, with a reason when that is not possible.

Pure. Every layer (file, environment, flags) hands over text, so a value means the same wherever it
is written; YAML's own guesses (``no`` is false, ``1:30`` is 90) play no part. A kind also says
what it accepts, for documentation and JSON Schema. The module is long because there are many kinds;
each is one class of a few lines that stands alone.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Generic, TypeAlias, TypeVar

from .secrets import Secret

T = TypeVar("T")
E = TypeVar("E", bound=Enum)

Raw: TypeAlias = str | Sequence["Raw"] | Mapping[str, "Raw"] | None
"""A value as written: text, nothing, or lists and mappings of such."""

SECOND_MS: Final = 1000
MINUTE_MS: Final = 60 * SECOND_MS
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS
KIB: Final = 1024
MIB: Final = 1024 * KIB
GIB: Final = 1024 * MIB
TIB: Final = 1024 * GIB

DURATION_UNITS: Final = {
    "ms": 1,
    "s": SECOND_MS,
    "m": MINUTE_MS,
    "h": HOUR_MS,
    "d": DAY_MS,
    "w": 7 * DAY_MS,
}
SIZE_UNITS: Final = {
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": KIB,
    "MiB": MIB,
    "GiB": GIB,
    "TiB": TIB,
}
_DIGITS_MAX: Final = 30  # int() of a longer text costs more than it can be worth


class Invalid(ValueError):
    """A value that its kind does not take. *path* leads to the culprit inside a list or mapping."""

    def __init__(self, reason: str, path: tuple[int | str, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path


class Kind(ABC, Generic[T]):
    """One type of setting."""

    @property
    @abstractmethod
    def accepts(self) -> str:
        """What one may write, as a short noun phrase with bounds."""

    @abstractmethod
    def parse(self, raw: Raw) -> T:
        """The value. Raises Invalid with the reason."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """JSON Schema of what one may write."""

    def render(self, value: T) -> str:
        """The value as one would write it."""
        return str(value)

    @property
    def is_secret(self) -> bool:
        """Values are never shown."""
        return False

    @property
    def is_repeated(self) -> bool:
        """The flag may be given several times, one entry each."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Kind[int]):
    """A whole number in [minimum, maximum]. *unit* is for people: ``bytes``, ``partitions``."""

    minimum: int | None = None
    maximum: int | None = None
    unit: str = ""

    @property
    def accepts(self) -> str:
        return f"whole number{_bounds(self.minimum, self.maximum, str)}" + _unit(self.unit)

    def parse(self, raw: Raw) -> int:
        text = _text(raw).replace("_", "")
        if not re.fullmatch(r"[+-]?[0-9]+", text) or len(text) > _DIGITS_MAX:
            raise Invalid("not a whole number")
        return _bounded(int(text), self.minimum, self.maximum, str)

    def schema(self) -> dict[str, Any]:
        return {"type": "integer"} | _schema_bounds(self.minimum, self.maximum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Kind[float]):
    """A number with a fraction, in [minimum, maximum]."""

    minimum: float | None = None
    maximum: float | None = None
    unit: str = ""

    @property
    def accepts(self) -> str:
        return f"number{_bounds(self.minimum, self.maximum, str)}" + _unit(self.unit)

    def parse(self, raw: Raw) -> float:
        try:
            value = float(_text(raw))
        except ValueError:
            raise Invalid("not a number") from None
        if not isfinite(value):
            raise Invalid("not a finite number")
        return _bounded(value, self.minimum, self.maximum, str)

    def schema(self) -> dict[str, Any]:
        return {"type": "number"} | _schema_bounds(self.minimum, self.maximum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Duration(Kind[int]):
    """A span of time in milliseconds, written ``500ms``, ``1h30m`` or ``7d``.

    A bare number is milliseconds, as the names of settings say. *unlimited* is a value that one
    may also write as ``unlimited``; Kafka's is -1.
    """

    minimum_ms: int = 0
    maximum_ms: int | None = None
    unlimited: int | None = None

    @property
    def accepts(self) -> str:
        bounds = _bounds(self.minimum_ms or None, self.maximum_ms, duration_text)
        return f"duration such as 500ms, 30s, 7d{bounds}" + _or_unlimited(self.unlimited)

    def parse(self, raw: Raw) -> int:
        return _quantity(
            _text(raw),
            units=DURATION_UNITS,
            unlimited=self.unlimited,
            bounds=(self.minimum_ms, self.maximum_ms, duration_text),
            reason="not a duration; write a number and a unit, such as 500ms, 30s, 10m, 2h or 7d",
        )

    def render(self, value: int) -> str:
        return "unlimited" if value == self.unlimited else duration_text(value)

    def schema(self) -> dict[str, Any]:
        return {"type": ["integer", "string"], "examples": ["500ms", "30s", "7d"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Size(Kind[int]):
    """A number of bytes, written ``512``, ``64 KiB`` or ``1 GB``; *unlimited* as in Duration."""

    minimum_bytes: int = 0
    maximum_bytes: int | None = None
    unlimited: int | None = None

    @property
    def accepts(self) -> str:
        bounds = _bounds(self.minimum_bytes or None, self.maximum_bytes, size_text)
        return f"size such as 64 KiB, 1 GiB{bounds}" + _or_unlimited(self.unlimited)

    def parse(self, raw: Raw) -> int:
        return _quantity(
            _text(raw),
            units=SIZE_UNITS,
            unlimited=self.unlimited,
            bounds=(self.minimum_bytes, self.maximum_bytes, size_text),
            reason="not a size; write bytes, or a number and a unit, such as 64 KiB or 1 GiB",
        )

    def render(self, value: int) -> str:
        return "unlimited" if value == self.unlimited else size_text(value)

    def schema(self) -> dict[str, Any]:
        return {"type": ["integer", "string"], "examples": ["64 KiB", "1 GiB"]}


@dataclass(frozen=True, slots=True)
class Flag(Kind[bool]):
    """Yes or no."""

    @property
    def accepts(self) -> str:
        return "true or false"

    def parse(self, raw: Raw) -> bool:
        text = _text(raw).lower()
        if text in ("true", "yes", "on", "1"):
            return True
        if text in ("false", "no", "off", "0"):
            return False
        raise Invalid("neither true nor false")

    def render(self, value: bool) -> str:  # noqa: FBT001 - a value of this kind is a bool
        return "true" if value else "false"

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


class Choice(Kind[E]):
    """One member of an enumeration whose values are text; letter case does not matter."""

    def __init__(self, members: type[E]) -> None:
        self._by_text = {str(member.value).lower(): member for member in members}
        self._texts = [str(member.value) for member in members]

    @property
    def accepts(self) -> str:
        return "one of " + ", ".join(self._texts)

    def parse(self, raw: Raw) -> E:
        text = _text(raw)
        member = self._by_text.get(text.lower())
        if member is None:
            close = nearest(text, self._texts)
            raise Invalid(f"not {self.accepts}" + (f"; did you mean {close}?" if close else ""))
        return member

    def render(self, value: E) -> str:
        return str(value.value)

    def schema(self) -> dict[str, Any]:
        return {"enum": self._texts}


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Kind[str]):
    """Text of 1 to *chars_max* characters. *pattern* must match all of it; *form* describes it."""

    pattern: str | None = None
    form: str = "text"
    chars_max: int = 1000
    may_be_empty: bool = False

    @property
    def accepts(self) -> str:
        return self.form

    def parse(self, raw: Raw) -> str:
        text = _scalar(raw)
        if not text and not self.may_be_empty:
            raise Invalid("empty")
        if len(text) > self.chars_max:
            raise Invalid(f"{len(text)} characters, at most {self.chars_max} are taken")
        if self.pattern is not None and not re.fullmatch(self.pattern, text):
            raise Invalid(f"not {self.form}")
        return text

    def schema(self) -> dict[str, Any]:
        pattern = {} if self.pattern is None else {"pattern": f"^(?:{self.pattern})$"}
        return {"type": "string", "maxLength": self.chars_max} | pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretText(Kind[Secret]):
    """A secret, best written as a reference: ``${env:NAME}`` or ``${file:/run/secrets/name}``."""

    chars_max: int = 64 * KIB

    @property
    def accepts(self) -> str:
        return "secret, or a reference such as ${env:NAME}"

    def parse(self, raw: Raw) -> Secret:
        text = _scalar(raw)
        if not text:
            raise Invalid("empty")
        if len(text) > self.chars_max:
            raise Invalid(f"longer than {self.chars_max} characters")
        return Secret(text)

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "writeOnly": True}

    @property
    def is_secret(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class FilePath(Kind[Path]):
    """A path. ``~`` is the home directory; relative ones stay relative to the process."""

    @property
    def accepts(self) -> str:
        return "path"

    def parse(self, raw: Raw) -> Path:
        text = _scalar(raw)
        if not text:
            raise Invalid("empty")
        if "\0" in text:
            raise Invalid("a path holds no zero byte")
        try:
            return Path(text).expanduser()
        except RuntimeError as error:  # ~ of a user who does not exist
            raise Invalid(str(error)) from None

    def schema(self) -> dict[str, Any]:
        return {"type": "string"}


@dataclass(frozen=True, slots=True)
class ListenerAddress:
    """``NAME://host:port``. An empty host is every interface; port 0 lets the system choose."""

    name: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Listener(Kind[ListenerAddress]):
    """A listener as Kafka writes it: ``PLAINTEXT://127.0.0.1:9092``, ``INTERNAL://[::1]:0``."""

    @property
    def accepts(self) -> str:
        return "listener such as PLAINTEXT://127.0.0.1:9092"

    def parse(self, raw: Raw) -> ListenerAddress:
        form = r"(?P<name>[A-Za-z][A-Za-z0-9_-]*)://(?P<host>\[[0-9A-Fa-f:.]+\]|[^:/\[\]\s]*)"
        match = re.fullmatch(form + r":(?P<port>[0-9]{1,5})", _text(raw), re.ASCII)
        if match is None:
            raise Invalid("not a listener; write NAME://host:port, as PLAINTEXT://127.0.0.1:9092")
        port = int(match["port"])
        if port > _PORT_MAX:
            raise Invalid(f"port {port} is above {_PORT_MAX}")
        return ListenerAddress(match["name"].upper(), match["host"].strip("[]"), port)

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "examples": ["PLAINTEXT://127.0.0.1:9092"]}


_PORT_MAX: Final = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A host and a port to connect to or to serve on."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class HostPort(Kind[Address]):
    """``host:port``, ``[::1]:9092``."""

    @property
    def accepts(self) -> str:
        return "host:port"

    def parse(self, raw: Raw) -> Address:
        form = r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:/\[\]\s]+):(?P<port>[0-9]{1,5})"
        match = re.fullmatch(form, _text(raw), re.ASCII)
        if match is None:
            raise Invalid("not host:port, as 127.0.0.1:9092 or [::1]:9092")
        port = int(match["port"])
        if port > _PORT_MAX:
            raise Invalid(f"port {port} is above {_PORT_MAX}")
        return Address(host=match["host"].strip("[]"), port=port)

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "examples": ["127.0.0.1:9092"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Kind[tuple[T, ...]]):
    """Several values of one kind: a list in the file, ``a,b`` in a variable, a repeated flag."""

    of: Kind[T]
    count_min: int = 0
    count_max: int = 1000

    @property
    def accepts(self) -> str:
        return f"list of: {self.of.accepts}"

    def parse(self, raw: Raw) -> tuple[T, ...]:
        entries = _entries(raw)
        if not self.count_min <= len(entries) <= self.count_max:
            wanted = f"{self.count_min} to {self.count_max}"
            raise Invalid(f"{len(entries)} entries, {wanted} are taken")
        return tuple(_inside(index, self.of, entry) for index, entry in enumerate(entries))

    def render(self, value: tuple[T, ...]) -> str:
        return ",".join(self.of.render(entry) for entry in value)

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.of.schema(), "maxItems": self.count_max}

    @property
    def is_secret(self) -> bool:
        return self.of.is_secret

    @property
    def is_repeated(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingOf(Kind[Mapping[str, T]]):
    """Values by name: a mapping in the file, ``a=1;b=2`` in a variable, a repeated flag ``a=1``.

    Layers add to each other name by name; the stronger one wins a name that both have.
    """

    of: Kind[T]
    count_max: int = 1000

    @property
    def accepts(self) -> str:
        return f"name=value with value: {self.of.accepts}"

    def parse(self, raw: Raw) -> Mapping[str, T]:
        pairs = _pairs(raw)
        if len(pairs) > self.count_max:
            raise Invalid(f"{len(pairs)} entries, at most {self.count_max} are taken")
        return MappingProxyType({name: _inside(name, self.of, pairs[name]) for name in pairs})

    def render(self, value: Mapping[str, T]) -> str:
        return ";".join(f"{name}={self.of.render(value[name])}" for name in value)

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.of.schema()}

    @property
    def is_secret(self) -> bool:
        return self.of.is_secret

    @property
    def is_repeated(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class OrNone(Kind[T | None]):
    """A value or none: empty, ``null`` or ``~`` in the file, empty text elsewhere."""

    of: Kind[T]

    @property
    def accepts(self) -> str:
        return f"{self.of.accepts}; or nothing"

    def parse(self, raw: Raw) -> T | None:
        return None if raw is None or raw == "" else self.of.parse(raw)

    def render(self, value: T | None) -> str:
        return "" if value is None else self.of.render(value)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [self.of.schema(), {"type": "null"}]}

    @property
    def is_secret(self) -> bool:
        return self.of.is_secret

    @property
    def is_repeated(self) -> bool:
        return self.of.is_repeated


def duration_text(duration_ms: int) -> str:
    """The duration in the largest unit that divides it: ``7d``, ``90s``, ``1500ms``, ``0``."""
    if duration_ms == 0:
        return "0"
    return _largest(duration_ms, DURATION_UNITS, separator="", without=("w",))


def size_text(size_bytes: int) -> str:
    """The size in the largest binary unit that divides it: ``1 GiB``, ``1000 B``, ``0``."""
    if size_bytes == 0:
        return "0"
    decimal = ("kB", "KB", "MB", "GB", "TB")
    return _largest(size_bytes, SIZE_UNITS, separator=" ", without=decimal)


def nearest(word: str, known: Sequence[str]) -> str | None:
    """The known word that *word* was probably meant to be, None when none is near."""
    import difflib  # noqa: PLC0415 - only a mistake pays for it

    lowered = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    return lowered[found[0]] if found else None


def _largest(
    value: int, units: Mapping[str, int], *, separator: str, without: Sequence[str]
) -> str:
    fitting = [
        (factor, unit)
        for unit, factor in units.items()
        if unit not in without and value % factor == 0
    ]
    factor, unit = max(fitting)
    return f"{value // factor}{separator}{unit}"


def _quantity(
    text: str,
    *,
    units: Mapping[str, int],
    unlimited: int | None,
    bounds: tuple[int | None, int | None, Callable[[int], str]],
    reason: str,
) -> int:
    if unlimited is not None and text.lower() in ("unlimited", str(unlimited)):
        return unlimited
    if len(text) > _DIGITS_MAX:
        raise Invalid(reason)
    if re.fullmatch(r"-?[0-9][0-9_]*", text):
        return _bounded(int(text.replace("_", "")), *bounds)
    if not re.fullmatch(r"(?:[0-9]+(?:\.[0-9]+)?\s*[A-Za-z]+\s*)+", text, re.ASCII):
        raise Invalid(reason)
    total = 0
    for number, unit in re.findall(r"([0-9.]+)\s*([A-Za-z]+)", text):
        factor = units.get(unit)
        if factor is None:
            raise Invalid(reason)
        total += _product(number, factor)
    return _bounded(total, *bounds)


def _product(number: str, factor: int) -> int:
    whole, _, fraction = number.partition(".")
    scaled = int(whole + fraction) * factor
    if scaled % 10 ** len(fraction):
        raise Invalid("not a whole number of the smallest unit")
    return int(scaled // 10 ** len(fraction))


def _text(raw: Raw) -> str:
    return _scalar(raw).strip()


def _scalar(raw: Raw) -> str:
    if raw is None:
        raise Invalid("no value")
    if not isinstance(raw, str):
        raise Invalid("a single value is wanted here, not a list or mapping")
    return raw


def _entries(raw: Raw) -> Sequence[Raw]:
    if raw is None or raw == "":
        return ()
    if isinstance(raw, str):
        return [entry.strip() for entry in raw.split(",")]
    if isinstance(raw, Mapping):
        raise Invalid("a list is wanted here, not a mapping")
    return raw


def _pairs(raw: Raw) -> Mapping[str, Raw]:
    if raw is None or raw == "":
        return {}
    if isinstance(raw, Mapping):
        return raw
    entries = [entry for entry in raw.split(";") if entry.strip()] if isinstance(raw, str) else raw
    pairs: dict[str, Raw] = {}
    for index, entry in enumerate(entries):
        name, equals, value = _scalar(entry).partition("=")
        if not equals or not name.strip():
            raise Invalid("not name=value", (index,))
        pairs[name.strip()] = value.strip()
    return pairs


def _inside(step: int | str, kind: Kind[T], raw: Raw) -> T:
    try:
        return kind.parse(raw)
    except Invalid as error:
        raise Invalid(error.reason, (step, *error.path)) from None


N = TypeVar("N", int, float)


def _bounded(value: N, minimum: N | None, maximum: N | None, text_of: Callable[[N], str]) -> N:
    if minimum is not None and value < minimum:
        raise Invalid(f"below the minimum of {text_of(minimum)}")
    if maximum is not None and value > maximum:
        raise Invalid(f"above the maximum of {text_of(maximum)}")
    return value


def _bounds(minimum: N | None, maximum: N | None, text_of: Callable[[N], str]) -> str:
    if minimum is None and maximum is None:
        return ""
    if maximum is None:
        return f", at least {text_of(minimum)}" if minimum is not None else ""
    low = f"{text_of(minimum)} to " if minimum is not None else "at most "
    return f", {low}{text_of(maximum)}"


def _schema_bounds(minimum: float | None, maximum: float | None) -> dict[str, Any]:
    bounds = {"minimum": minimum, "maximum": maximum}
    return {name: bound for name, bound in bounds.items() if bound is not None}


def _unit(unit: str) -> str:
    return f" ({unit})" if unit else ""


def _or_unlimited(unlimited: int | None) -> str:
    return "" if unlimited is None else f", or unlimited ({unlimited})"
