"""Walking a segment file finds every batch, whatever the window, and says where it cannot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.kernel.ports import File, OpenMode
from headwater.core_log.records.batch import CorruptBatch
from headwater.core_log.storage.scan import walk_batches, walk_headers
from headwater.core_log.testing.memory_fs import MemoryFileSystem

from .world import batch_of

WINDOWS = st.sampled_from([61, 62, 100, 200, 1 << 16])


def file_of(sizes: list[int], *, behind: bytes = b"") -> tuple[File, list[tuple[int, int]]]:
    """A file of one-record batches, and (position, base offset) of each."""
    file = MemoryFileSystem().open("a", OpenMode.CREATE)
    places, position = [], 0
    for offset, size in enumerate(sizes):
        view = batch_of(value=b"v" * size, base_offset=offset).view
        file.write_at([view], position)
        places.append((position, offset))
        position += len(view)
    file.write_at([behind], position)
    return file, places


@given(sizes=st.lists(st.integers(0, 300), max_size=8), window_bytes=WINDOWS, data=st.data())
def test_every_batch_is_found(sizes: list[int], window_bytes: int, data: st.DataObject) -> None:
    """From any batch on, by headers and whole; control and sizes agree."""
    file, places = file_of(sizes)
    start = data.draw(st.integers(0, len(sizes)))
    begin = places[start][0] if start < len(sizes) else file.size()
    for walk in (walk_headers, walk_batches):
        found = list(walk(file, begin, file.size(), window_bytes=window_bytes))
        assert [(f.position, f.batch.base_offset) for f in found] == places[start:]
        assert all(f.fault is None for f in found)
        assert [f.end_position for f in found[:-1]] == [f.position for f in found[1:]]


@given(
    sizes=st.lists(st.integers(0, 300), min_size=1, max_size=4),
    window_bytes=WINDOWS,
    cut_bytes=st.integers(1, 60),
)
def test_a_cut_batch_is_told_with_its_place(
    sizes: list[int], window_bytes: int, cut_bytes: int
) -> None:
    file, places = file_of(sizes)
    for walk in (walk_headers, walk_batches):
        batches = walk(file, 0, file.size() - cut_bytes, window_bytes=window_bytes)
        for _ in sizes[:-1]:
            next(batches)
        with pytest.raises(CorruptBatch) as caught:
            next(batches)
        assert caught.value.position == places[-1][0]


@given(position=st.integers(21, 60), bit=st.integers(0, 7), window_bytes=WINDOWS)
def test_a_changed_byte_fails_the_checksum_and_the_walk_goes_on(
    position: int, bit: int, window_bytes: int
) -> None:
    file, places = file_of([50, 50, 50])
    place = places[1][0] + position
    file.write_at([bytes([file.read_at(1, place)[0] ^ (1 << bit)])], place)
    found = list(walk_batches(file, 0, file.size(), window_bytes=window_bytes))
    assert [f.fault is None for f in found] == [True, False, True]


@pytest.mark.parametrize(
    ("behind", "reason"),
    [
        (bytes(100), "magic is 0"),
        (b"\xff" * 100, "magic is -1"),
        (bytes(8) + b"\0\0\0\x01" + bytes(4) + b"\2" + bytes(80), "less than a header"),
        (bytes(8) + b"\x7f\xff\xff\xff" + bytes(4) + b"\2" + bytes(80), "it takes 2147483659"),
        (b"\0" * 30, "too few for a header"),
    ],
)
def test_what_is_no_batch_is_refused(behind: bytes, reason: str) -> None:
    """Zeros, noise, sizes that lie: no memory is taken on their word."""
    file, places = file_of([10], behind=behind)
    end = file.size() - len(behind)
    for walk in (walk_headers, walk_batches):
        with pytest.raises(CorruptBatch, match=reason) as caught:
            list(walk(file, 0, file.size()))
        assert caught.value.position == end
    assert places[0] == (0, 0)
