"""The table of keys against a dictionary, and the hash against what would make it collide."""

import hashlib
import random
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.storage.compaction.keys import KeyHasher, Words
from headwater.core_log.storage.compaction.offset_map import SLOT_BYTES, OffsetMap

SECRET = bytes(range(32))
HASHES = st.tuples(st.integers(0, 3), st.integers(0, 3)) | st.tuples(
    st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)
)


def halves(hashes: list[tuple[int, int]]) -> tuple[Words, Words]:
    pairs = np.array(hashes, np.uint64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


@given(st.lists(st.lists(HASHES, max_size=30), max_size=12), st.integers(0, 300 * SLOT_BYTES))
def test_the_map_is_a_dictionary(puts: list[list[tuple[int, int]]], bytes_max: int) -> None:
    table, expected = OffsetMap(bytes_max=bytes_max), dict[tuple[int, int], int]()
    offset = 0
    for hashes in puts:
        if not table.fits(len(hashes)):
            break
        table.put(*halves(hashes), np.arange(offset, offset + len(hashes)))
        for pair in hashes:
            expected[pair] = offset
            offset += 1
    assert table.count == len(expected)
    assert table.sorted_offsets().tolist() == sorted(expected.values())
    asked = [pair for hashes in puts for pair in hashes]
    asked += [(first, second) for first in range(4) for second in range(4)]
    assert table.contains(*halves(asked)).tolist() == [pair in expected for pair in asked]


def test_a_full_map_still_finds_and_refuses() -> None:
    rng = random.Random(1)
    table = OffsetMap(bytes_max=10_000 * SLOT_BYTES)
    hashes = [(rng.getrandbits(64), rng.getrandbits(64)) for _ in range(table.capacity)]
    table.put(*halves(hashes), np.arange(len(hashes)))
    assert table.count == table.capacity
    assert table.fits(0)
    assert not table.fits(1)
    assert table.contains(*halves(hashes)).all()
    assert not table.contains(*halves([(1, 1)])).any()
    assert table.size_bytes <= 10_000 * SLOT_BYTES


def test_a_reserve_raises_the_bound_of_an_empty_map() -> None:
    table = OffsetMap(bytes_max=0)
    table.reserve(5_000)
    hashes = [(index, 1) for index in range(5_000)]
    table.put(*halves(hashes), np.arange(5_000))
    assert table.count == 5_000
    assert table.contains(*halves(hashes)).all()


def hashes_of(keys: list[bytes], secret: bytes = SECRET) -> list[tuple[int, int]]:
    data = np.frombuffer(b"".join(keys) + b"\x00", np.uint8)
    lengths = np.array([len(key) for key in keys], np.int64)
    first, second = KeyHasher(secret).hash(data, np.cumsum(lengths) - lengths, lengths)
    return list(zip(first.tolist(), second.tolist(), strict=True))


def by_the_book(key: bytes) -> tuple[int, int]:
    """The formula of the module's first lines, in Python's numbers."""
    words = [len(key)]
    words += [int.from_bytes(key[i : i + 4], "little") for i in range(0, len(key), 4)]
    drawn = hashlib.shake_256(SECRET).digest((len(words) + 1) * 32)
    factors = [int.from_bytes(drawn[i : i + 8], "little") for i in range(0, len(drawn), 8)]
    lanes = []
    for lane in range(4):
        total = factors[lane]
        for index, word in enumerate(words):
            total += factors[4 * (index + 1) + lane] * word
        lanes.append(total % 2**64 >> 32)
    return lanes[0] << 32 | lanes[1], lanes[2] << 32 | lanes[3]


KEYS = st.sampled_from([0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 128, 129, 1000]).flatmap(
    lambda size: st.binary(min_size=size, max_size=size)
)


@given(st.lists(KEYS, min_size=1, max_size=12))
def test_a_hash_is_the_books(keys: list[bytes]) -> None:
    assert hashes_of(keys) == [by_the_book(key) for key in keys]


def test_keys_that_differ_in_zeros_at_the_end_differ() -> None:
    keys = [bytes(count) for count in range(140)]
    assert len(set(hashes_of(keys))) == 140


def test_another_secret_makes_other_hashes() -> None:
    keys = [b"a", b"b"]
    assert not set(hashes_of(keys)) & set(hashes_of(keys, bytes(32)))


@pytest.mark.slow
def test_memory_is_that_of_the_bound_and_a_third() -> None:
    rng = np.random.default_rng(1)
    tracemalloc.start()
    try:
        table = OffsetMap(bytes_max=24_000_000)
        step = 20_000
        while table.fits(step):
            first, second = rng.integers(0, 2**63, (2, step)).astype(np.uint64)
            table.put(first, second, np.arange(step))
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert table.count > 870_000
    assert peak_bytes < 24_000_000 * 4 / 3 + 6_000_000
