"""A copy with exactly-once has every record once, whatever dies on the way."""

import random
from pathlib import Path

import pytest

from ..interop.target import target
from .copying import CRASH_KINDS, differences, run

RECORDS = 50_000
"""``python -m tests.chaos copy`` copies a million across twenty crashes."""


@pytest.mark.slow
@pytest.mark.chaos
def test_a_copy_across_crashes_has_each_record_once(tmp_path: Path) -> None:
    """Worker, broker and both are killed, a zombie wakes up; each input is found once, in order.

    Records of aborted transactions lie between the inputs, and none of them is copied.
    """
    report = run(
        target(tmp_path / "node"),
        tmp_path,
        records=RECORDS,
        crashes=len(CRASH_KINDS),
        rng=random.Random(17),
    )
    assert report.is_clean, str(report)
    assert set(report.crashes) == set(CRASH_KINDS)


EXPECTED = [[b"1", b"2", b"3"], [b"4"]]


def test_a_true_copy_differs_in_nothing() -> None:
    """The same values in the same order, partition by partition."""
    assert differences(EXPECTED, [[b"1", b"2", b"3"], [b"4"]]) == []


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([b"1", b"3"], "1 missing, such as 2"),
        ([b"1", b"2", b"2", b"3"], "1 doubled, such as 2"),
        ([b"1", b"2", b"aborted", b"3"], "1 alien, such as aborted"),
        ([b"2", b"1", b"3"], "out of order"),
    ],
)
def test_each_kind_of_difference_is_named(found: list[bytes], said: str) -> None:
    """With the partition, the count and an example."""
    assert differences(EXPECTED, [found, [b"4"]]) == [f"partition 0: {said}"]


def test_a_record_in_the_wrong_partition_is_missed_and_alien() -> None:
    """A copy keeps the partition, and with it the order."""
    assert differences(EXPECTED, [[b"1", b"2", b"3", b"4"], []]) == [
        "partition 0: 1 alien, such as 4",
        "partition 1: 1 missing, such as 4",
    ]
