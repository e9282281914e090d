"""Values of configurations parse, or say what is wrong in Kafka's words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.kernel.config_keys import (
    ConfigInvalid,
    ConfigKey,
    ConfigType,
    ConfigValue,
    Range,
    render,
    table,
)
from headwater.core_log.kernel.topic_configs import TOPIC_CONFIGS

REFUSALS = [
    ("retention.ms", "-5", "-5", "Value must be at least -1"),
    ("retention.ms", "abc", "abc", "Not a number of type LONG"),
    ("retention.ms", "", "", "Not a number of type LONG"),
    ("retention.ms", "1_000", "1_000", "Not a number of type LONG"),
    ("retention.ms", "٣", "٣", "Not a number of type LONG"),
    ("retention.ms", "9223372036854775808", None, "Not a number of type LONG"),
    ("retention.ms", "1" * 5000, None, "Not a number of type LONG"),
    ("segment.bytes", "2147483648", None, "Not a number of type INT"),
    ("segment.bytes", "1e9", "1e9", "Not a number of type INT"),
    ("segment.bytes", "1024", "1024", "Value must be at least 1048576"),
    ("cleanup.policy", "delete,foo", "foo", "String must be one of: compact, delete"),
    (
        "compression.type",
        "GZIP",
        "GZIP",
        "String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer",
    ),
    ("compression.gzip.level", "0", "0", "Value must be between 1 and 9 or equal to -1"),
    ("compression.gzip.level", "10", "10", "Value must be between 1 and 9 or equal to -1"),
    ("compression.lz4.level", "18", "18", "Value must be no more than 17"),
    ("preallocate", "maybe", "maybe", "Expected value to be either true or false"),
    ("min.cleanable.dirty.ratio", "2", "2.0", "Value must be no more than 1"),
    ("min.cleanable.dirty.ratio", "x", "x", "Not a number of type DOUBLE"),
    ("min.cleanable.dirty.ratio", "nan", "nan", "Not a number of type DOUBLE"),
    (
        "leader.replication.throttled.replicas",
        "x",
        "[x]",
        (
            "leader.replication.throttled.replicas must be the literal '*' or a list of replicas "
            "in the following format: [partitionId]:[brokerId],[partitionId]:[brokerId],..."
        ),
    ),
]
"""Name, text, how the message shows it (None: as it is), the complaint: as Apache Kafka 4.3."""


@pytest.mark.parametrize(("name", "text", "shown", "complaint"), REFUSALS)
def test_a_bad_value_is_refused_in_kafkas_words(
    name: str, text: str, shown: str | None, complaint: str
) -> None:
    """People and other projects' tests read these messages."""
    with pytest.raises(ConfigInvalid) as refused:
        TOPIC_CONFIGS[name].parse(text)

    expected = f"Invalid value {text if shown is None else shown} for configuration {name}: "
    assert str(refused.value) == expected + complaint


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("retention.ms", " +5 ", 5),
        ("retention.ms", "-1", -1),
        ("retention.bytes", "-5", -5),
        ("preallocate", "TRUE", True),
        ("cleanup.policy", "", ()),
        ("cleanup.policy", " compact , delete ", ("compact", "delete")),
        ("min.cleanable.dirty.ratio", "5e-1", 0.5),
        ("compression.gzip.level", "-1", -1),
        ("compression.zstd.level", "-131072", -131072),
        ("leader.replication.throttled.replicas", "*", ("*",)),
        ("leader.replication.throttled.replicas", "0:1,1:1", ("0:1", "1:1")),
    ],
)
def test_a_good_value_is_understood(name: str, text: str, value: ConfigValue) -> None:
    """Blanks around it, signs and capitals do not matter where they do not in Kafka."""
    assert TOPIC_CONFIGS[name].parse(text) == value


@given(low=st.integers(-9, 9), size=st.integers(0, 9), data=st.data())
def test_a_range_includes_both_ends(low: int, size: int, data: st.DataObject) -> None:
    """One beside an end is out."""
    high = low + size
    value = data.draw(st.sampled_from([low - 1, low, high, high + 1]))

    assert (Range(low, high).explain("x", value) is None) == (low <= value <= high)


@given(value=st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1)))
def test_what_is_shown_parses_to_the_same_value(value: bool | int) -> None:  # noqa: FBT001 - drawn
    """Normal form and value are two sides of one thing."""
    kind = ConfigType.BOOLEAN if isinstance(value, bool) else ConfigType.LONG
    key = ConfigKey(name="x", type=kind, default=None, doc="")

    assert key.parse(render(value)) == value
    assert key.normal(render(value)) == render(value)


def test_what_does_not_parse_is_shown_as_it_is() -> None:
    """A value that an older version took must not make a description fail."""
    assert TOPIC_CONFIGS["retention.ms"].normal("abc") == "abc"


def test_a_password_is_sensitive() -> None:
    """Nothing else is."""
    secret = ConfigKey(name="p", type=ConfigType.PASSWORD, default=None, doc="")

    assert secret.is_sensitive
    assert not any(key.is_sensitive for key in TOPIC_CONFIGS.values())


def test_a_table_refuses_a_default_out_of_bounds() -> None:
    """A wrong default is a bug of ours, found at import."""
    wrong = ConfigKey(name="x", type=ConfigType.INT, default="0", doc="", check=Range(1))

    with pytest.raises(ConfigInvalid):
        table([wrong])
