"""Every kind takes what it says it takes, and refuses the rest with a reason."""

import contextlib
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.service.kinds import (
    DAY_MS,
    DURATION_UNITS,
    GIB,
    HOUR_MS,
    KIB,
    MIB,
    MINUTE_MS,
    SIZE_UNITS,
    Address,
    Choice,
    Duration,
    FilePath,
    Flag,
    HostPort,
    Invalid,
    Kind,
    Listener,
    ListenerAddress,
    Listing,
    MappingOf,
    Number,
    OrNone,
    Raw,
    SecretText,
    Size,
    Text,
    Whole,
    duration_text,
    nearest,
    size_text,
)
from headwater.service.secrets import Secret


class Colour(Enum):
    RED = "red"
    BLUE = "Blue"


GOOD: list[tuple[Kind[Any], Raw, object]] = [
    (Whole(), "0", 0),
    (Whole(), " -12 ", -12),
    (Whole(), "1_000_000", 1_000_000),
    (Whole(minimum=1, maximum=3), "1", 1),
    (Whole(minimum=1, maximum=3), "3", 3),
    (Number(), "0.5", 0.5),
    (Number(), "1e3", 1000.0),
    (Duration(), "5", 5),
    (Duration(), "500ms", 500),
    (Duration(), "1h30m", HOUR_MS + 30 * MINUTE_MS),
    (Duration(), "1.5 s", 1500),
    (Duration(), "7d", 7 * DAY_MS),
    (Duration(), "2w", 14 * DAY_MS),
    (Duration(unlimited=-1), "unlimited", -1),
    (Duration(unlimited=-1), "-1", -1),
    (Size(), "0", 0),
    (Size(), "64 KiB", 64 * KIB),
    (Size(), "1GiB", GIB),
    (Size(), "1 GB", 10**9),
    (Size(), "1.5 MiB", MIB + MIB // 2),
    (Flag(), "true", True),
    (Flag(), "No", False),
    (Flag(), "1", True),
    (Choice(Colour), "RED", Colour.RED),
    (Choice(Colour), "blue", Colour.BLUE),
    (Text(), " kept ", " kept "),
    (Text(may_be_empty=True), "", ""),
    (Text(pattern="[a-z]+", form="letters"), "abc", "abc"),
    (SecretText(), "s3cret", Secret("s3cret")),
    (FilePath(), "a/b", Path("a/b")),
    (
        Listener(),
        "plaintext://127.0.0.1:9092",
        ListenerAddress(name="PLAINTEXT", host="127.0.0.1", port=9092),
    ),
    (Listener(), "IN://[::1]:0", ListenerAddress(name="IN", host="::1", port=0)),
    (Listener(), "IN://:65535", ListenerAddress(name="IN", host="", port=65535)),
    (HostPort(), "localhost:9092", Address(host="localhost", port=9092)),
    (HostPort(), "[::1]:1", Address(host="::1", port=1)),
    (Listing(of=Whole()), "1, 2", (1, 2)),
    (Listing(of=Whole()), ["1", "2"], (1, 2)),
    (Listing(of=Text()), ["a,b"], ("a,b",)),
    (Listing(of=Whole()), "", ()),
    (Listing(of=Whole()), None, ()),
    (MappingOf(of=Whole()), "a=1; b=2", {"a": 1, "b": 2}),
    (MappingOf(of=Text()), ["a=x=y", "b=1,2"], {"a": "x=y", "b": "1,2"}),
    (MappingOf(of=Text()), {"a": "1"}, {"a": "1"}),
    (OrNone(Whole()), None, None),
    (OrNone(Whole()), "", None),
    (OrNone(Whole()), "3", 3),
]

BAD: list[tuple[Kind[Any], Raw, str]] = [
    (Whole(), "1.0", "not a whole number"),
    (Whole(), "", "not a whole number"),
    (Whole(), "٣", "not a whole number"),
    (Whole(), "9" * 31, "not a whole number"),
    (Whole(minimum=1), "0", "below the minimum of 1"),
    (Whole(maximum=3), "4", "above the maximum of 3"),
    (Whole(), None, "no value"),
    (Whole(), ["1"], "a single value"),
    (Number(), "nan", "not a finite number"),
    (Number(), "one", "not a number"),
    (Duration(), "5 parsecs", "not a duration"),
    (Duration(), "5 S", "not a duration"),
    (Duration(), "1.5ms", "not a whole number of the smallest unit"),
    (Duration(), "-1", "below the minimum of 0"),
    (Duration(), "d", "not a duration"),
    (Duration(), "1.2.3s", "not a duration"),
    (Duration(minimum_ms=1000), "999", "below the minimum of 1s"),
    (Duration(maximum_ms=DAY_MS), "25h", "above the maximum of 1d"),
    (Size(), "1 gigabyte", "not a size"),
    (Size(), "1 Gib", "not a size"),
    (Size(maximum_bytes=KIB), "1025", "above the maximum of 1 KiB"),
    (Size(), "9" * 40, "not a size"),
    (Flag(), "maybe", "neither true nor false"),
    (Choice(Colour), "bleu", "did you mean Blue?"),
    (Choice(Colour), "xxxx", "not one of red, Blue"),
    (Text(), "", "empty"),
    (Text(chars_max=3), "abcd", "4 characters, at most 3"),
    (Text(pattern="[a-z]+", form="letters"), "abc\n", "not letters"),
    (SecretText(), "", "empty"),
    (SecretText(chars_max=2), "abc", "longer than 2"),
    (FilePath(), "", "empty"),
    (FilePath(), "a\0b", "zero byte"),
    (FilePath(), "~nobody-of-this-name/x", "home directory"),
    (Listener(), "localhost:9092", "not a listener"),
    (Listener(), "A://h:65536", "port 65536 is above"),
    (Listener(), "A://h:99999999", "not a listener"),
    (Listener(), "A://::1:9092", "not a listener"),
    (HostPort(), "localhost", "not host:port"),
    (HostPort(), ":9092", "not host:port"),
    (HostPort(), "h:65536", "port 65536 is above"),
    (Listing(of=Whole(), count_min=1), "", "0 entries, 1 to 1000"),
    (Listing(of=Whole(), count_max=1), "1,2", "2 entries, 0 to 1"),
    (Listing(of=Whole()), {"a": "1"}, "a list is wanted"),
    (MappingOf(of=Text()), "a", "not name=value"),
    (MappingOf(of=Text()), "=a", "not name=value"),
    (MappingOf(of=Text(), count_max=1), "a=1;b=2", "2 entries, at most 1"),
]


@pytest.mark.parametrize(("kind", "raw", "value"), GOOD)
def test_what_a_kind_takes(kind: Kind[Any], raw: Raw, value: object) -> None:
    """Text becomes the value."""
    parsed = kind.parse(raw)
    assert (dict(parsed) if isinstance(parsed, Mapping) else parsed) == value


@pytest.mark.parametrize(("kind", "raw", "reason"), BAD)
def test_what_a_kind_refuses(kind: Kind[Any], raw: Raw, reason: str) -> None:
    """The reason says what is wrong."""
    with pytest.raises(Invalid) as caught:
        kind.parse(raw)
    assert reason in caught.value.reason


@pytest.mark.parametrize(("kind", "raw", "value"), GOOD)
def test_a_rendered_value_reads_back(kind: Kind[Any], raw: Raw, value: object) -> None:
    """Documentation shows defaults as one may write them; secrets are never shown."""
    parsed = kind.parse(raw)
    rendered = kind.render(parsed)
    if kind.is_secret:
        assert "s3cret" not in rendered
    elif "," not in rendered or not isinstance(value, tuple):
        assert kind.parse(rendered) == parsed


@given(st.integers(0, 10**15))
def test_durations_and_sizes_survive_being_written(number: int) -> None:
    """The largest unit that divides loses nothing."""
    assert Duration().parse(duration_text(number)) == number
    assert Size().parse(size_text(number)) == number


@given(st.sampled_from([*DURATION_UNITS]), st.integers(0, 1000), st.sampled_from(["", " "]))
def test_each_duration_unit_counts(unit: str, number: int, gap: str) -> None:
    """A number and a unit is their product."""
    assert Duration().parse(f"{number}{gap}{unit}") == number * DURATION_UNITS[unit]


@given(st.sampled_from([*SIZE_UNITS]), st.integers(0, 1000), st.sampled_from(["", " "]))
def test_each_size_unit_counts(unit: str, number: int, gap: str) -> None:
    """A number and a unit is their product."""
    assert Size().parse(f"{number}{gap}{unit}") == number * SIZE_UNITS[unit]


def test_the_largest_fitting_unit_is_shown() -> None:
    """People read 7d, not 604800000."""
    assert [duration_text(n) for n in (0, 1, 1500, 90_000, 7 * DAY_MS)] == [
        "0",
        "1ms",
        "1500ms",
        "90s",
        "7d",
    ]
    assert [size_text(n) for n in (0, 1000, 1024, GIB)] == ["0", "1000 B", "1 KiB", "1 GiB"]


def test_an_error_inside_a_collection_names_the_way_to_it() -> None:
    """The loader follows the path to the line and column of the culprit."""
    nested = Listing(of=MappingOf(of=Whole()))
    with pytest.raises(Invalid) as caught:
        nested.parse([{"a": "1"}, {"b": "x"}])
    assert caught.value.path == (1, "b")


@given(st.text(max_size=60))
def test_no_text_breaks_a_kind(text: str) -> None:
    """Any text is taken or refused with Invalid; nothing else is raised."""
    for kind in {type(kind): kind for kind, _, _ in GOOD}.values():
        with contextlib.suppress(Invalid):
            kind.parse(text)


@pytest.mark.parametrize("kind", {type(kind): kind for kind, _, _ in GOOD}.values())
def test_a_kind_describes_itself(kind: Kind[Any]) -> None:
    """Documentation and JSON Schema have something to say about every kind."""
    assert kind.accepts
    assert {"type", "enum", "anyOf"} & kind.schema().keys()


def test_the_nearest_word_is_suggested() -> None:
    """Letter case does not matter; a word far from all is no suggestion."""
    assert nearest("Linger", ["linger_ms", "node_id"]) == "linger_ms"
    assert nearest("zzz", ["linger_ms", "node_id"]) is None
