"""What a codec packs comes back, others' packing is read, nothing unpacks past its bound."""

import gzip
import resource
import sys
import warnings
import zlib
from contextlib import suppress
from importlib import import_module
from typing import Any

import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.records.compression import (
    SNAPPY_BLOCK_BYTES,
    Codec,
    CorruptCompression,
    DecompressedTooLarge,
    compress,
    decompress,
)

# Imported by name: neither ships types.
AIOKAFKA: Any = import_module("aiokafka.codec")
with warnings.catch_warnings():
    # kafka-python reads its schemas through a deprecated function of importlib.
    warnings.simplefilter("ignore", DeprecationWarning)
    KAFKA_PYTHON: Any = import_module("kafka.codec")

PACKING = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]
BLOCK = SNAPPY_BLOCK_BYTES
MIB = 2**20

sizes = st.sampled_from([0, 1, 2, 100, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, MIB, MIB + 1])
codecs = st.sampled_from(list(Codec))


def content(size: int) -> bytes:
    """Neither random nor constant."""
    return b"".join(b"flight AA%d JFK-LAX;" % (i * i) for i in range(size // 18 + 1))[:size]


@given(codec=codecs, size=sizes)
def test_what_is_packed_comes_back(codec: Codec, size: int) -> None:
    """A bound of exactly the size lets it through."""
    data = content(size)

    packed = compress(codec, memoryview(data))

    assert bytes(decompress(codec, packed, bytes_max=size)) == data


@given(codec=codecs, size=sizes.filter(bool))
def test_the_bound_is_exact(codec: Codec, size: int) -> None:
    """One byte more than the bound is refused by its name."""
    packed = compress(codec, content(size))

    with pytest.raises(DecompressedTooLarge, match=f"{codec.name.lower()}.* {size - 1} bytes"):
        decompress(codec, packed, bytes_max=size - 1)


@pytest.mark.parametrize("codec", PACKING)
def test_every_cut_is_refused(codec: Codec) -> None:
    """No prefix of packed data passes for the whole."""
    packed = bytes(compress(codec, content(300)))

    for end in range(len(packed)):
        try:
            unpacked = decompress(codec, packed[:end], bytes_max=1000)
        except (CorruptCompression, DecompressedTooLarge):
            continue  # half of snappy's framing reads as a raw block with a wild claim
        # Snappy's framing ends where its bytes end: a cut between chunks cannot be told.
        assert codec is Codec.SNAPPY
        assert end == 16
        assert unpacked == b""


@given(codec=st.sampled_from(PACKING), data=st.binary(max_size=60))
def test_noise_is_refused_or_small(codec: Codec, data: bytes) -> None:
    """Bytes that no codec wrote raise what they should and never pass the bound."""
    with suppress(CorruptCompression, DecompressedTooLarge):
        assert len(decompress(codec, data, bytes_max=1000)) <= 1000


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_unknown_codecs_are_named(codec: int) -> None:
    """Three bits name eight codecs; five exist."""
    with pytest.raises(CorruptCompression, match=f"codec {codec}"):
        decompress(codec, b"", bytes_max=1)


@pytest.mark.parametrize("library", [KAFKA_PYTHON, AIOKAFKA], ids=["kafka-python", "aiokafka"])
@pytest.mark.parametrize("codec", PACKING)
@pytest.mark.parametrize("size", [1, 1000, 100_000])
def test_other_clients_read_and_write_the_same(library: Any, codec: Codec, size: int) -> None:
    """kafka-python and aiokafka unpack what we pack, and we what they pack."""
    name = codec.name.lower()
    encode, decode = getattr(library, f"{name}_encode"), getattr(library, f"{name}_decode")
    data = content(size)

    assert bytes(decode(bytes(compress(codec, data)))) == data
    assert bytes(decompress(codec, bytes(encode(data)), bytes_max=size)) == data


def test_snappy_without_framing_is_read() -> None:
    """Some clients write one raw block."""
    data = content(5000)
    raw = bytes(KAFKA_PYTHON.snappy_encode(data, xerial_compatible=False))

    assert decompress(Codec.SNAPPY, raw, bytes_max=5000) == data


@pytest.mark.parametrize("length", [0, -1, 10, 2**31 - 1, -(2**31)])
def test_a_snappy_chunk_that_lies_about_its_length_is_refused(length: int) -> None:
    """CVE-2023-34455: the length of a chunk is checked before anything is done with it."""
    header = bytes(compress(Codec.SNAPPY, b""))
    lie = header + length.to_bytes(4, "big", signed=True) + b"\x01\x00a"

    with pytest.raises(CorruptCompression, match="chunk claims"):
        decompress(Codec.SNAPPY, lie, bytes_max=1000)


def test_a_snappy_block_that_claims_gigabytes_is_not_believed() -> None:
    """The size in a block's preamble is compared with the bound before it is allocated."""
    with pytest.raises(DecompressedTooLarge):
        decompress(Codec.SNAPPY, b"\xff\xff\xff\xff\x0f" + b"a" * 20, bytes_max=1000)


def test_snappy_chunks_share_one_bound() -> None:
    """Many chunks below the bound do not add up to more than it."""
    packed = compress(Codec.SNAPPY, bytes(4 * BLOCK))

    with pytest.raises(DecompressedTooLarge):
        decompress(Codec.SNAPPY, packed, bytes_max=3 * BLOCK)


def test_gzip_members_one_behind_the_other_are_one() -> None:
    """RFC 1952 allows it, Java reads it, and the bound is for all of them."""
    packed = gzip.compress(content(100)) + gzip.compress(content(50))

    assert decompress(Codec.GZIP, packed, bytes_max=150) == content(100) + content(50)
    with pytest.raises(DecompressedTooLarge):
        decompress(Codec.GZIP, packed, bytes_max=149)


def test_zstd_without_a_size_in_its_header_is_read_to_its_bound() -> None:
    """Streaming writers, Java's among them, do not know the size when they begin."""
    stream = zstandard.ZstdCompressor().compressobj()
    packed = stream.compress(content(1000)) + stream.flush()

    assert decompress(Codec.ZSTD, packed, bytes_max=1000) == content(1000)
    with pytest.raises(DecompressedTooLarge):
        decompress(Codec.ZSTD, packed, bytes_max=999)


def test_zstd_that_claims_gigabytes_is_not_believed() -> None:
    """The size in a frame's header is compared with the bound before it is allocated."""
    # Magic, a descriptor that announces eight bytes of size, the size, one empty last block.
    packed = b"\x28\xb5\x2f\xfd" + b"\xe0" + (2**45).to_bytes(8, "little") + b"\x01\x00\x00"
    assert zstandard.frame_content_size(packed) == 2**45

    with pytest.raises(DecompressedTooLarge):
        decompress(Codec.ZSTD, packed, bytes_max=2**20)


def bomb(codec: Codec) -> bytes:
    """256 MiB of zeros, packed in pieces so that the test itself stays small."""
    piece = bytes(MIB)
    if codec is Codec.GZIP:
        packer = zlib.compressobj(9, wbits=31)
        return b"".join(packer.compress(piece) for _ in range(256)) + packer.flush()
    if codec is Codec.ZSTD:
        stream = zstandard.ZstdCompressor().compressobj()
        return b"".join(stream.compress(piece) for _ in range(256)) + stream.flush()
    if codec is Codec.LZ4:
        with lz4.frame.LZ4FrameCompressor() as frame:
            return b"".join(
                [frame.begin(), *[frame.compress(piece) for _ in range(256)], frame.flush()]
            )
    packed = bytes(compress(codec, piece))
    return packed[:16] + packed[16:] * 256


@pytest.mark.slow
@pytest.mark.parametrize("codec", PACKING)
def test_a_bomb_costs_no_more_than_its_bound(codec: Codec) -> None:
    """256 MiB behind a bound of 1 MiB: refused, and memory never held them."""
    packed = bomb(codec)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with pytest.raises(DecompressedTooLarge):
        decompress(codec, packed, bytes_max=MIB)

    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    kib = 1 if sys.platform == "linux" else 1024
    assert grown // kib < 16 * 1024


@pytest.mark.parametrize(
    ("codec", "lowest", "highest"),
    [(Codec.GZIP, -1, 9), (Codec.LZ4, 1, 17), (Codec.ZSTD, -131072, 22)],
)
def test_levels_are_those_of_kafka(codec: Codec, lowest: int, highest: int) -> None:
    """The topic configs' bounds hold here too; every level's output is read back."""
    data = content(1000)

    for level in (lowest, 1, highest):
        assert decompress(codec, compress(codec, data, level), bytes_max=1000) == data
    for level in (lowest - 1, highest + 1):
        with pytest.raises(ValueError, match=f"between {lowest} and {highest}"):
            compress(codec, data, level)


@pytest.mark.parametrize(("codec", "default"), [(Codec.GZIP, -1), (Codec.LZ4, 9), (Codec.ZSTD, 3)])
def test_no_level_is_the_default_level(codec: Codec, default: int) -> None:
    """None and Kafka's default give the same bytes."""
    assert compress(codec, content(5000)) == compress(codec, content(5000), default)


def test_lz4_s_default_level_is_the_fast_one() -> None:
    """Kafka takes its default, 9, for the fast compressor and others for the thorough one."""
    fast = lz4.frame.compress(content(5000), block_linked=False, store_size=False)

    assert compress(Codec.LZ4, content(5000)) == fast
    assert compress(Codec.LZ4, content(5000), 8) != fast


def test_lz4_blocks_are_independent() -> None:
    """Java's reader refuses frames whose blocks refer to each other."""
    flags = bytes(compress(Codec.LZ4, content(200_000)))[4]

    assert flags & 0b0010_0000  # block independence
    assert not flags & 0b0000_1000  # no content size


def test_errors_say_what_happened() -> None:
    """The message names the codec and the bound or the decoder's reason."""
    with pytest.raises(CorruptCompression) as caught:
        decompress(Codec.GZIP, b"not gzip", bytes_max=1)

    assert str(caught.value).startswith("not data of gzip: ")
    assert str(DecompressedTooLarge(Codec.LZ4, 5)) == "data of lz4 unpacks to more than 5 bytes"
