"""Checkpoint files: read as written, refused with the line when they make no sense."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.storage.checkpoints import (
    CheckpointCorrupt,
    decode_offsets,
    encode_offsets,
)

NAMES = st.tuples(st.text("ab._-", min_size=1, max_size=5), st.integers(0, 20))

FROM_KAFKA = b"0\n3\n__transaction_state 0 13\nrolled 0 6000\nplain 0 202\n"


@given(offsets=st.dictionaries(NAMES, st.integers(0, 2**63 - 1), max_size=5))
def test_what_is_written_is_read(offsets: dict[tuple[str, int], int]) -> None:
    assert decode_offsets(encode_offsets(offsets)) == offsets


def test_kafkas_file_is_read() -> None:
    assert decode_offsets(FROM_KAFKA) == {
        ("__transaction_state", 0): 13,
        ("rolled", 0): 6000,
        ("plain", 0): 202,
    }


def test_the_text_is_kafkas() -> None:
    assert encode_offsets({("b", 1): 7, ("a", 0): 5}) == b"0\n2\na 0 5\nb 1 7\n"
    assert encode_offsets({}) == b"0\n0\n"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "must begin"),
        (b"1\n0\n", "must begin"),
        (b"0\n2\na 0 5\n", "promises '2' lines, 1 follow"),
        (b"0\n1\na 0\n", "line 3"),
        (b"0\n2\na 0 5\na x 5\n", "line 4"),
        (b"0\n1\na 0 -5\n", "below 0"),
        (b"0\n1\n\xff\xfe\n", "line 3"),
        (bytes(40), "must begin"),
    ],
)
def test_nonsense_is_named(data: bytes, reason: str) -> None:
    with pytest.raises(CheckpointCorrupt, match=reason):
        decode_offsets(data)
