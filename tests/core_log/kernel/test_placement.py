"""Where a group lives, as Java computes it."""

import pytest

from headwater.core_log.kernel.placement import java_hash, partition_for


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("console-consumer-1", 35782224),
        ("polygenelubricants", -(2**31)),
        ("\N{GRINNING FACE}", 1772899),
        ("\u00fc\uffff", 73347),
    ],
)
def test_hash_codes_of_java(text: str, code: int) -> None:
    """Values that ``"...".hashCode()`` prints in jshell; characters outside the BMP count twice."""
    assert java_hash(text) == code


def test_a_group_has_one_partition() -> None:
    """The smallest hash has no positive twin, and Kafka takes 0 for it."""
    assert partition_for("polygenelubricants", 50) == 0
    assert partition_for("hello", 50) == 99162322 % 50
    assert all(0 <= partition_for(f"group-{n}", 7) < 7 for n in range(100))
    negative = next(f"g{n}x" for n in range(100_000) if java_hash(f"g{n}xxxxx") < 0)
    assert partition_for(negative, 3) == abs(java_hash(negative)) % 3
