"""Sparse indexes are sorted lists; on disk they are Kafka's bytes."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.records.batch import scan
from headwater.core_log.storage.index import (
    OffsetIndex,
    OffsetPosition,
    RecentBatches,
    SegmentIndexes,
    TimeIndex,
    TimestampOffset,
)

from .world import batch_of

KAFKA = Path(__file__).parent / "data" / "kafka-4.3-partition"
BASE = 1_000


def rising(count_max: int = 20) -> st.SearchStrategy[list[int]]:
    steps = st.lists(st.integers(1, 5), max_size=count_max)
    return steps.map(lambda gaps: [sum(gaps[: i + 1]) for i in range(len(gaps))])


def edges(values: list[int]) -> st.SearchStrategy[int]:
    return st.sampled_from(sorted({v + d for v in [0, *values] for d in (-1, 0, 1)}))


@given(offsets=rising(), data=st.data())
def test_the_floor_is_the_last_entry_at_or_below(offsets: list[int], data: st.DataObject) -> None:
    """Against a sorted list, around every entry; below the first it is the segment's start."""
    index = OffsetIndex(BASE)
    entries = [OffsetPosition(BASE + offset, offset * 10) for offset in offsets]
    for entry in entries:
        index.append(*entry)
    wanted = BASE + data.draw(edges(offsets))

    expected = [entry for entry in entries if entry.offset <= wanted] or [OffsetPosition(BASE, 0)]

    assert index.floor(wanted) == expected[-1]
    assert [index[i] for i in range(len(index))] == entries


@given(offsets=rising(), data=st.data())
def test_truncation_forgets_what_is_at_or_above(offsets: list[int], data: st.DataObject) -> None:
    offset_index, time_index = OffsetIndex(BASE), TimeIndex(BASE)
    for offset in offsets:
        offset_index.append(BASE + offset, offset * 10)
        time_index.append(offset * 100, BASE + offset)
    end = BASE + data.draw(edges(offsets))
    kept = [BASE + offset for offset in offsets if BASE + offset < end]

    offset_index.truncate_to(end)
    time_index.truncate_to(end)

    assert [offset_index[i].offset for i in range(len(offset_index))] == kept
    assert [time_index[i].offset for i in range(len(time_index))] == kept


@given(times=rising(), data=st.data())
def test_the_time_floor_is_the_last_entry_at_or_below(
    times: list[int], data: st.DataObject
) -> None:
    index = TimeIndex(BASE)
    for i, time in enumerate(times):
        index.append(time, BASE + i)
    wanted = data.draw(edges(times))
    expected = [TimestampOffset(t, BASE + i) for i, t in enumerate(times) if t <= wanted]
    assert index.floor(wanted) == (expected or [TimestampOffset(-1, BASE)])[-1]


@given(offsets=rising(), data=st.data())
def test_the_newest_up_to_an_offset_is_the_last_entry_there(
    offsets: list[int], data: st.DataObject
) -> None:
    index = TimeIndex(BASE)
    for i, offset in enumerate(offsets):
        index.append(i, BASE + offset)
    wanted = BASE + data.draw(edges(offsets))
    expected = [TimestampOffset(i, BASE + o) for i, o in enumerate(offsets) if BASE + o <= wanted]
    assert index.newest_up_to(wanted) == (expected or [TimestampOffset(-1, BASE)])[-1]


def test_time_entries_only_rise() -> None:
    """An equal or older maximum says nothing new."""
    index = TimeIndex(BASE)
    for time, offset in ((5, 1), (5, 2), (4, 3), (6, 4)):
        index.append(time, BASE + offset)
    assert [index[i] for i in range(len(index))] == [(5, BASE + 1), (6, BASE + 4)]
    assert index.last == (6, BASE + 4)
    assert TimeIndex(BASE).last == (-1, BASE)


def test_entries_are_big_endian_and_relative() -> None:
    offsets, times = OffsetIndex(BASE), TimeIndex(BASE)
    offsets.append(BASE + 2, 258)
    times.append(3, BASE + 2)
    assert bytes(offsets.entries) == bytes.fromhex("00000002 00000102")
    assert bytes(times.entries) == bytes.fromhex("0000000000000003 00000002")


@pytest.mark.parametrize("base", [0, 150])
def test_the_same_batches_give_the_bytes_kafka_wrote(base: int) -> None:
    """Appending what Kafka 4.3 stored makes its index files, byte for byte."""
    made = SegmentIndexes(OffsetIndex(base), TimeIndex(base), interval_bytes=300)
    position = 0
    for batch in scan((KAFKA / f"{base:020d}.log").read_bytes(), verify_crc=True):
        made.add(batch, batch.last_offset, position)
        position += batch.size_bytes
    made.seal()
    assert bytes(made.offsets.entries) == (KAFKA / f"{base:020d}.index").read_bytes()
    assert bytes(made.times.entries) == (KAFKA / f"{base:020d}.timeindex").read_bytes()


@given(sizes=st.lists(st.integers(0, 300), min_size=1, max_size=30))
def test_an_entry_comes_after_more_than_an_interval(sizes: list[int]) -> None:
    """The first batch never has one; between two entries lie more than the interval's bytes."""
    made = SegmentIndexes(OffsetIndex(0), TimeIndex(0), interval_bytes=400)
    position, expected, since = 0, [], 0
    for offset, size in enumerate(sizes):
        batch = batch_of(value=b"v" * size, timestamp_ms=offset)
        made.add(batch, offset, position)
        if since > 400:
            expected.append(OffsetPosition(offset, position))
            since = 0
        since += batch.size_bytes
        position += batch.size_bytes
    assert [made.offsets[i] for i in range(len(made.offsets))] == expected
    assert made.newest == (len(sizes) - 1, len(sizes) - 1)


def test_room_is_kept_for_the_last_time_entry() -> None:
    made = SegmentIndexes(OffsetIndex(0), TimeIndex(0), interval_bytes=0)
    assert not made.is_full(24)
    made.times.append(1, 1)
    assert made.is_full(24)  # a second one would leave no place for the one that seals
    offsets_only = SegmentIndexes(OffsetIndex(0), TimeIndex(0), interval_bytes=0)
    for i in range(1, 4):
        assert not offsets_only.is_full(24), i
        offsets_only.offsets.append(i, i)
    assert offsets_only.is_full(24)


@pytest.mark.parametrize(
    ("entries", "is_fine"),
    [
        ("", True),
        ("00000001 00000064", True),
        ("00000001 00000064 00000002 000000c7", True),
        ("00000001 00000064 00000002 000000c8", False),  # at the segment's end
        ("00000001 00000064 00000000 00000000", False),  # torn: zeros
        ("00000001 0000", False),  # torn: cut
        ("ffffffff 00000064", False),  # below the base
    ],
)
def test_an_offset_index_that_cannot_be_is_noticed(entries: str, *, is_fine: bool) -> None:
    fault = OffsetIndex(BASE, bytes.fromhex(entries)).fault(200)
    assert (fault is None) == is_fine


@pytest.mark.parametrize(
    ("entries", "is_fine"),
    [
        ("", True),
        ("0000000000000005 00000000", True),
        ("0000000000000005 00000001 0000000000000006 00000002", True),
        ("0000000000000005 00000001 0000000000000000 00000000", False),
        ("0000000000000005 000000", False),
        ("0000000000000005 ffffffff", False),
    ],
)
def test_a_time_index_that_cannot_be_is_noticed(entries: str, *, is_fine: bool) -> None:
    assert (TimeIndex(BASE, bytes.fromhex(entries)).fault() is None) == is_fine


@given(
    counts=st.lists(st.tuples(st.integers(1, 3), st.booleans()), min_size=1, max_size=40),
    data=st.data(),
)
def test_recent_batches_are_found_exactly_or_not_at_all(
    counts: list[tuple[int, bool]], data: st.DataObject
) -> None:
    """Against a list of all batches: what is found is right, and the last are always found."""
    recent, batches, offset = RecentBatches(), [], 10
    for number, (count, leaves_gap) in enumerate(counts):
        offset += 5 if leaves_gap else 0
        batches.append((offset, offset + count, number * 100, number * 100 + 100))
        recent.add(*batches[-1])
        offset += count
    bounds = [bound for batch in batches for bound in batch[:2]]
    wanted = data.draw(edges(bounds))

    found = recent.find(wanted)

    holding = [batch for batch in batches if batch[0] <= wanted < batch[1]]
    if found is not None:
        assert [(found[0], found[1], found[2])] == [(b[0], b[2], b[3]) for b in holding]
    assert (found is not None) or not holding or holding[0] != batches[-1]


def test_recent_batches_are_bounded() -> None:
    recent = RecentBatches()
    for offset in range(1000):
        recent.add(offset, offset + 1, offset * 10, offset * 10 + 10)
    known = [offset for offset in range(1000) if recent.find(offset) is not None]
    assert known == list(range(known[0], 1000))
    assert RecentBatches.COUNT_MAX // 2 <= len(known) <= RecentBatches.COUNT_MAX
    assert recent.find(999) == (999, 9990, 10_000)
    assert recent.find(1000) is None
