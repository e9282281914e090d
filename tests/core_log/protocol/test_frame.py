"""Cutting a stream into frames, and the judgement of sizes."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.protocol.errors import FrameError
from headwater.core_log.protocol.frame import FrameReader, frame_size

BYTES_MAX = 20


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


@pytest.mark.parametrize("size", [1, BYTES_MAX - 1, BYTES_MAX])
def test_a_size_within_bounds_is_taken(size: int) -> None:
    """Both ends belong to the bounds."""
    assert frame_size(size.to_bytes(4, "big") + b"more", BYTES_MAX) == size


@pytest.mark.parametrize("size", [-(2**31), -1, 0, BYTES_MAX + 1, 2**31 - 1])
def test_every_other_size_ends_the_stream(size: int) -> None:
    """Negative, empty or too large; the error names the size and the bound."""
    with pytest.raises(FrameError, match=f"a frame of {size} bytes announced; allowed are 1 to 20"):
        frame_size(size.to_bytes(4, "big", signed=True), BYTES_MAX)


@given(
    st.lists(st.binary(min_size=1, max_size=BYTES_MAX), max_size=6),
    st.lists(st.integers(0, 100), max_size=10),
)
def test_frames_come_out_whole_however_the_stream_is_cut(
    bodies: list[bytes], cuts: list[int]
) -> None:
    """The model: the frames are the list that was joined."""
    stream = b"".join(map(framed, bodies))
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    reader = FrameReader(BYTES_MAX)
    found = [
        frame
        for start, end in itertools.pairwise(edges)
        for frame in reader.feed(stream[start:end])
    ]
    assert found == bodies
    assert reader.missing_bytes() == 4


def test_a_stream_byte_by_byte_tells_what_is_missing() -> None:
    """The count falls by one with each byte once the size is known."""
    reader = FrameReader(BYTES_MAX)
    missing = []
    for byte in framed(b"abc"):
        missing.append(reader.missing_bytes())
        frames = reader.feed(bytes((byte,)))
    assert missing == [4, 3, 2, 1, 3, 2, 1]
    assert frames == [b"abc"]


def test_a_bad_size_is_refused_with_its_last_byte() -> None:
    """Before any byte of the frame has come, let alone been stored."""
    reader = FrameReader(BYTES_MAX)
    reader.feed(framed(b"good") + b"\x7f\xff\xff")
    with pytest.raises(FrameError):
        reader.feed(b"\xff")


def test_the_bound_may_be_raised_between_frames() -> None:
    """A peer that has made itself known may send more."""
    reader = FrameReader(4)
    assert reader.feed(framed(b"1234")) == [b"1234"]
    reader.bytes_max = 8
    assert reader.feed(framed(b"12345678")) == [b"12345678"]


def test_a_frame_is_the_callers_to_change() -> None:
    """Batches are patched where they arrived."""
    (frame,) = FrameReader(BYTES_MAX).feed(framed(b"abc"))
    frame[0] = 0
    assert frame == b"\0bc"
