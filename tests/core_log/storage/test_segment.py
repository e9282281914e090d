"""One segment: batches by offset, from memory while it is active, through its index files after."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.core_log.kernel.ports import OpenMode
from headwater.core_log.records.batch import patch
from headwater.core_log.storage.errors import LogDamaged
from headwater.core_log.storage.segment import Located, Segment
from headwater.core_log.storage.volume import Volume
from headwater.core_log.testing.memory_fs import MemoryFileSystem

from .world import batch_of, volume_on

BASE = 100


def segment_on(volume: Volume, *, size_bytes: int | None = None) -> Segment:
    return Segment(volume, "d", BASE, created_ms=0, interval_bytes=150, size_bytes=size_bytes)


def filled(places: list[tuple[int, int]]) -> tuple[Volume, Segment, list[Located]]:
    """A written segment of batches (base offset, count), and where they are."""
    fs = MemoryFileSystem()
    fs.make_directory("d")
    volume = volume_on(fs)
    segment, located = segment_on(volume), []
    for base_offset, count in places:
        batch = batch_of(count, timestamp_ms=base_offset)
        patch(batch, base_offset=base_offset, leader_epoch=0)
        located.append(
            Located(base_offset, segment.size_bytes, segment.size_bytes + batch.size_bytes)
        )
        segment.append(batch, batch.last_offset)
    segment.write()
    return volume, segment, located


def reopened(volume: Volume, segment: Segment) -> Segment:
    segment.seal()
    for file in segment.save_indexes():
        file.sync()
    volume.close()
    return segment_on(volume, size_bytes=segment.size_bytes)


places = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=25).map(
    lambda steps: [
        (BASE + sum(gap + count for gap, count in steps[:i]) + steps[i][0], steps[i][1])
        for i in range(len(steps))
    ]
)


@given(where=places, data=st.data(), is_hot=st.booleans())
@settings(deadline=None)
def test_an_offset_is_located_in_its_batch_or_the_next(
    where: list[tuple[int, int]], data: st.DataObject, *, is_hot: bool
) -> None:
    """Also where compaction left gaps, hot or cold."""
    volume, segment, located = filled(where)
    if not is_hot:
        segment = reopened(volume, segment)
    bounds = [BASE, *(bound for base, count in where for bound in (base, base + count))]
    offset = data.draw(st.sampled_from(bounds)) + data.draw(st.sampled_from([-1, 0, 1]))
    ends = [base + count for base, count in where]
    holding = [place for place, end in zip(located, ends, strict=True) if end > offset]

    assert segment.locate(offset) == (holding[0] if holding else None)

    below = [place.end_position for place, end in zip(located, ends, strict=True) if end <= offset]
    bytes_max = data.draw(st.sampled_from([0, *(place.end_position for place in located), 1 << 30]))
    expected = min(below[-1] if below else 0, bytes_max)
    assert segment.end_position(offset, position_max=bytes_max) == expected


def test_queued_batches_are_not_located() -> None:
    volume, segment, located = filled([(BASE, 2)])
    late = batch_of()
    patch(late, base_offset=BASE + 2, leader_epoch=0)
    segment.append(late, BASE + 2)
    assert segment.locate(BASE + 2) is None
    assert segment.end_position(BASE + 3, position_max=1 << 30) == located[0].end_position
    assert volume.failure is None


@given(where=places, data=st.data())
@settings(deadline=None)
def test_a_truncated_segment_is_as_if_it_had_ended_there(
    where: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Bytes, indexes and newest timestamp are those of the batches that stay."""
    volume, segment, located = filled(where)
    if data.draw(st.booleans(), label="cold"):
        segment = reopened(volume, segment)
    cut = data.draw(st.integers(0, len(where) - 1))
    offset = where[cut][0] + data.draw(st.integers(0, where[cut][1] - 1))

    end_offset = segment.truncate_to(offset)

    _, twin, _ = filled(where[:cut])
    ends = [base + count for base, count in where[:cut]]
    assert end_offset == (ends[-1] if ends else BASE)
    assert segment.written_bytes == twin.written_bytes == located[cut].position
    assert segment.newest() == twin.newest()
    segment.check()
    batch = batch_of()
    patch(batch, base_offset=offset, leader_epoch=0)
    segment.append(batch, offset)
    segment.write()
    assert segment.locate(offset) == (offset, located[cut].position, segment.size_bytes)


def test_an_index_caught_lying_is_replaced() -> None:
    """Entries that point between batches, or at others: lookups notice and build it anew."""
    where = [(BASE + i, 1) for i in range(30)]
    volume, segment, located = filled(where)
    segment = reopened(volume, segment)
    path = f"d/{BASE:020d}.index"
    file = volume.fs.open(path, OpenMode.WRITE)
    data = bytearray(file.read_at(1 << 20, 0))
    for entry in range(0, len(data), 8):
        data[entry + 7] ^= 0x15
    file.write_at([data], 0)
    volume.close()
    assert [segment.locate(offset) for offset, _ in where] == located
    assert [found.position for found in segment.batches()] == [place.position for place in located]


def test_lost_framing_is_told_with_its_place() -> None:
    volume, segment, located = filled([(BASE, 1), (BASE + 1, 1), (BASE + 2, 1)])
    segment = reopened(volume, segment)
    file = volume.fs.open(segment.log_path, OpenMode.WRITE)
    file.write_at([b"\xff" * 20], located[1].position)
    assert segment.locate(BASE) == located[0]
    with pytest.raises(LogDamaged, match=f"byte {located[1].position} is damaged"):
        segment.locate(BASE + 2)


def test_a_segment_whose_index_found_no_space_has_none() -> None:
    """Half an index could be believed; a missing one is built from the batches."""
    fs = MemoryFileSystem()
    fs.make_directory("d")
    volume = volume_on(fs)
    segment = segment_on(volume)
    for offset in range(BASE, BASE + 30):
        batch = batch_of(timestamp_ms=offset)
        patch(batch, base_offset=offset, leader_epoch=0)
        segment.append(batch, offset)
    segment.write()
    segment.seal()
    fs.capacity_bytes = fs.used_bytes + 20
    assert segment.save_indexes() == []
    assert fs.list("d") == [f"{BASE:020d}.log"]
    segment.unload()
    located = segment.locate(BASE + 29)
    assert located is not None
    assert located.base_offset == BASE + 29
    assert segment.newest().timestamp_ms == BASE + 29
