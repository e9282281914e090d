"""How a configuration that Kafka's tools can see is declared: name, type, default, bounds, doc.

Pure. Values travel and are stored as text, as in Kafka; a key turns text into a typed value or says
what is wrong with it in Kafka's words, because tools and tests of other people show those words.
The tables beside this module (``topic_configs``, ``broker_configs``, ``group_configs``) are the
single source for parsing, DescribeConfigs and documentation.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Final, TypeAlias

INT_MIN: Final = -(2**31)
INT_MAX: Final = 2**31 - 1
LONG_MIN: Final = -(2**63)
LONG_MAX: Final = 2**63 - 1
SHORT_MIN: Final = -(2**15)
SHORT_MAX: Final = 2**15 - 1

ConfigValue: TypeAlias = bool | int | float | str | tuple[str, ...] | None


class ConfigType(IntEnum):
    """Types of values; the numbers are those of the DescribeConfigs response."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Dynamic(Enum):
    """Whether a broker configuration can change while the broker runs, and for whom."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


class ConfigInvalid(ValueError):
    """A value that its key does not take. The message is Kafka's."""


class Check:
    """What a value must fulfil beyond its type; this one accepts everything."""

    def explain(self, name: str, value: ConfigValue) -> str | None:
        """What is wrong with the value, None when nothing is."""
        del name, value
        return None

    def shown(self, value: ConfigValue) -> str:
        """The value as the message shows it."""
        return render(value)


@dataclass(frozen=True, slots=True)
class Range(Check):
    """A number in [low, high]; None leaves a side open."""

    low: float | None = None
    high: float | None = None

    def explain(self, name: str, value: ConfigValue) -> str | None:
        del name
        assert isinstance(value, int | float)
        if self.low is not None and not value >= self.low:
            return f"Value must be at least {self.low}"
        if self.high is not None and not value <= self.high:
            return f"Value must be no more than {self.high}"
        return None


@dataclass(frozen=True, slots=True)
class GzipLevel(Check):
    """-1 for the codec's own choice, or 1 to 9."""

    def explain(self, name: str, value: ConfigValue) -> str | None:
        del name
        assert isinstance(value, int)
        if value == -1 or 1 <= value <= 9:
            return None
        return "Value must be between 1 and 9 or equal to -1"


@dataclass(frozen=True, slots=True)
class OneOf(Check):
    """A text, or every entry of a list, from a fixed set."""

    choices: tuple[str, ...]

    def explain(self, name: str, value: ConfigValue) -> str | None:
        del name
        if self._stranger(value) is None:
            return None
        return f"String must be one of: {', '.join(self.choices)}"

    def shown(self, value: ConfigValue) -> str:
        return self._stranger(value) or render(value)

    def _stranger(self, value: ConfigValue) -> str | None:
        entries = value if isinstance(value, tuple) else (value,)
        return next((str(entry) for entry in entries if entry not in self.choices), None)


@dataclass(frozen=True, slots=True)
class ThrottledReplicas(Check):
    """``*``, or ``partition:broker`` pairs."""

    def explain(self, name: str, value: ConfigValue) -> str | None:
        assert isinstance(value, tuple)
        if value == ("*",) or all(re.fullmatch(r"[0-9]+:[0-9]+", entry) for entry in value):
            return None
        return (
            f"{name} must be the literal '*' or a list of replicas in the following format: "
            "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
        )

    def shown(self, value: ConfigValue) -> str:
        assert isinstance(value, tuple)
        return f"[{', '.join(value)}]"


ANYTHING: Final = Check()


@dataclass(frozen=True, slots=True)
class BrokerName:
    """A broker configuration that gives a topic configuration its default."""

    name: str
    factor: int = 1
    """What its value is multiplied with: an hour is 3,600,000 milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigKey:
    """One configuration. *default* is text as a user would write it; None is "not set"."""

    name: str
    type: ConfigType
    default: str | None
    doc: str
    check: Check = ANYTHING
    broker_names: tuple[BrokerName, ...] = ()
    """For topic configurations: broker configurations that stand in, strongest first."""
    fallbacks: tuple[str, ...] = ()
    """For broker configurations: names that stand in when this one is not set."""
    dynamic: Dynamic = Dynamic.READ_ONLY
    internal: bool = False
    """Accepted, but not listed."""

    @property
    def is_sensitive(self) -> bool:
        """The value is never shown."""
        return self.type is ConfigType.PASSWORD

    def parse(self, text: str) -> ConfigValue:
        """The typed value. Raises ConfigInvalid with Kafka's message."""
        value = _PARSERS[self.type](self, text.strip())
        complaint = self.check.explain(self.name, value)
        if complaint is not None:
            raise _invalid(self, self.check.shown(value), complaint)
        return value

    def normal(self, text: str) -> str:
        """*text* as Kafka shows it after parsing; unparsable text as it is."""
        try:
            return render(self.parse(text))
        except ConfigInvalid:
            return text


def table(keys: Iterable[ConfigKey]) -> Mapping[str, ConfigKey]:
    """Keys by name, in the order of their names."""
    by_name = {key.name: key for key in sorted(keys, key=lambda key: key.name)}
    for key in by_name.values():
        assert key.default is None or key.parse(key.default) is not None, key.name
    return by_name


def render(value: ConfigValue) -> str:
    """A typed value as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    return "" if value is None else str(value)


def split_list(text: str) -> tuple[str, ...]:
    """Entries of a list value; an empty text is an empty list."""
    return tuple(entry.strip() for entry in text.split(",")) if text.strip() else ()


def _invalid(key: ConfigKey, shown: str, complaint: str) -> ConfigInvalid:
    return ConfigInvalid(f"Invalid value {shown} for configuration {key.name}: {complaint}")


def _boolean(key: ConfigKey, text: str) -> bool:
    lowered = text.lower()
    if lowered not in ("true", "false"):
        raise _invalid(key, text, "Expected value to be either true or false")
    return lowered == "true"


def _whole(key: ConfigKey, text: str) -> int:
    low, high = _WHOLE_BOUNDS[key.type]
    # Twenty characters hold every 64-bit number; longer digits would cost time to convert.
    if re.fullmatch(r"[+-]?[0-9]{1,20}", text) and low <= (number := int(text)) <= high:
        return number
    raise _invalid(key, text, f"Not a number of type {key.type.name}")


def _double(key: ConfigKey, text: str) -> float:
    if re.fullmatch(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", text):
        return float(text)
    raise _invalid(key, text, "Not a number of type DOUBLE")


def _text(key: ConfigKey, text: str) -> str:
    del key
    return text


def _list(key: ConfigKey, text: str) -> tuple[str, ...]:
    del key
    return split_list(text)


_WHOLE_BOUNDS: Final = {
    ConfigType.SHORT: (SHORT_MIN, SHORT_MAX),
    ConfigType.INT: (INT_MIN, INT_MAX),
    ConfigType.LONG: (LONG_MIN, LONG_MAX),
}
_PARSERS: Final[Mapping[ConfigType, Callable[[ConfigKey, str], ConfigValue]]] = {
    ConfigType.BOOLEAN: _boolean,
    ConfigType.STRING: _text,
    ConfigType.INT: _whole,
    ConfigType.SHORT: _whole,
    ConfigType.LONG: _whole,
    ConfigType.DOUBLE: _double,
    ConfigType.LIST: _list,
    ConfigType.CLASS: _text,
    ConfigType.PASSWORD: _text,
}
