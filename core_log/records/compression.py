"""The codecs of record batches, with a bound on what they may unpack to.

Pure. gzip, lz4 (KIP-57) and zstd (KIP-110) are the frames of their own formats. Snappy comes in
the framing of the Java library, as most clients write it, or as one raw block::

    [8  0x82 "SNAPPY" 0x00][4 version][4 lowest compatible version]   then, until the end,
    [4  length][length bytes: a raw snappy block of at most 32 KiB]

A batch of 33 KB can hold a gigabyte, so every reader stops at ``bytes_max``, and no length that
the data claims is believed before it was compared with the bound (CVE-2023-34455). Levels are
those of ``compression.gzip.level``, ``.lz4.level`` and ``.zstd.level`` (KIP-390).

The libraries are loaded on first use: a broker that never unpacks a batch saves 6 MB.
"""

import zlib
from collections.abc import Callable
from enum import IntEnum
from struct import Struct
from typing import Final

from ..kernel.ports import Buffer

CHUNK_BYTES: Final = 2**20
"""Output is taken in pieces of at most this size where a library can do so."""

SNAPPY_BLOCK_BYTES: Final = 32 * 1024
"""What snappy-java packs at a time, and so what readers are used to."""

GZIP_LEVEL_DEFAULT: Final = -1
LZ4_LEVEL_DEFAULT: Final = 9
ZSTD_LEVEL_DEFAULT: Final = 3

_XERIAL_HEADER: Final = b"\x82SNAPPY\x00" + b"\x00\x00\x00\x01" * 2
_XERIAL_MAGIC: Final = _XERIAL_HEADER[:8]
_LENGTH: Final = Struct(">i")
_GZIP_WBITS: Final = 16 + zlib.MAX_WBITS  # zlib's way to say: with gzip's header and trailer
_LZ4_HC_LEVEL_MIN: Final = 3


class Codec(IntEnum):
    """A codec as attribute bits 0-2 of a batch name it."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class DecompressedTooLarge(ValueError):
    """The data would unpack to more than ``bytes_max``."""

    def __init__(self, codec: Codec, bytes_max: int) -> None:
        super().__init__(codec, bytes_max)
        self.codec: Final = codec
        self.bytes_max: Final = bytes_max

    def __str__(self) -> str:
        return f"data of {_codec_name(self.codec)} unpacks to more than {self.bytes_max} bytes"


class CorruptCompression(ValueError):
    """The data is not what its codec wrote; ``reason`` is the decoder's."""

    def __init__(self, codec: int, reason: str) -> None:
        super().__init__(codec, reason)
        self.codec: Final = codec
        self.reason: Final = reason

    def __str__(self) -> str:
        return f"not data of {_codec_name(self.codec)}: {self.reason}"


def compress(codec: Codec, data: Buffer, level: int | None = None) -> Buffer:
    """*data* packed as Kafka's Java client packs it; *level* None is Kafka's default.

    For NONE it is *data* itself. Levels outside the codec's range raise ValueError; NONE and
    SNAPPY have none and ignore it.
    """
    return _COMPRESS[codec](data, level)


def decompress(codec: int, data: Buffer, *, bytes_max: int) -> Buffer:
    """What *data* unpacks to, at most *bytes_max* bytes; for NONE it is *data* itself.

    Raises DecompressedTooLarge having held at most *bytes_max* and one chunk, CorruptCompression
    for bytes the codec cannot have written and for codec ids that do not exist.
    """
    unpack = _DECOMPRESS.get(codec)
    if unpack is None:
        raise CorruptCompression(codec, "no such codec is known")
    return unpack(data, bytes_max)


def _pass_on(data: Buffer, _: int | None) -> Buffer:
    return data


def _gzip(data: Buffer, level: int | None) -> bytes:
    packer = zlib.compressobj(_level(level, GZIP_LEVEL_DEFAULT, -1, 9), wbits=_GZIP_WBITS)
    return packer.compress(data) + packer.flush()


def _gunzip(data: Buffer, bytes_max: int) -> bytes:
    unpacked = b""
    while True:  # RFC 1952 allows members one behind the other, and Java reads them
        unpacker = zlib.decompressobj(wbits=_GZIP_WBITS)
        try:
            unpacked += unpacker.decompress(data, bytes_max - len(unpacked) + 1)
        except zlib.error as error:
            raise CorruptCompression(Codec.GZIP, str(error)) from error
        if len(unpacked) > bytes_max:
            raise DecompressedTooLarge(Codec.GZIP, bytes_max)
        if not unpacker.eof:
            raise CorruptCompression(Codec.GZIP, "it is cut short")
        data = unpacker.unused_data
        if not data:
            return unpacked


def _snappy(data: Buffer, _: int | None) -> bytes:
    from cramjam import snappy  # noqa: PLC0415 - loaded on first use, see the module

    packed = bytearray(_XERIAL_HEADER)
    view = memoryview(data)
    for start in range(0, len(view), SNAPPY_BLOCK_BYTES):
        block = bytes(snappy.compress_raw(view[start : start + SNAPPY_BLOCK_BYTES]))
        packed += _LENGTH.pack(len(block)) + block
    return bytes(packed)


def _unsnappy(data: Buffer, bytes_max: int) -> bytes:
    view = memoryview(data)
    if view[:8] != _XERIAL_MAGIC:
        return _unsnappy_block(view, bytes_max, bytes_max)
    unpacked = bytearray()
    position = len(_XERIAL_HEADER)
    if position > len(view):
        raise CorruptCompression(Codec.SNAPPY, "it is cut short within its header")
    while position < len(view):
        start = position + _LENGTH.size
        if start > len(view):
            raise CorruptCompression(Codec.SNAPPY, "it is cut short within a chunk's length")
        (length,) = _LENGTH.unpack_from(view, position)
        position = start + length
        if length <= 0 or position > len(view):
            raise CorruptCompression(
                Codec.SNAPPY, f"a chunk claims {length} bytes, {len(view) - start} are left"
            )
        unpacked += _unsnappy_block(view[start:position], bytes_max - len(unpacked), bytes_max)
    return bytes(unpacked)


def _unsnappy_block(block: memoryview, bytes_left: int, bytes_max: int) -> bytes:
    import cramjam  # noqa: PLC0415 - loaded on first use, see the module

    try:
        if cramjam.snappy.decompress_raw_len(block) > bytes_left:
            raise DecompressedTooLarge(Codec.SNAPPY, bytes_max)
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise CorruptCompression(Codec.SNAPPY, str(error)) from error


def _lz4(data: Buffer, level: int | None) -> bytes:
    import lz4.frame  # noqa: PLC0415 - loaded on first use, see the module

    kafka_level = _level(level, LZ4_LEVEL_DEFAULT, 1, 17)
    # Kafka's default level stands for the fast compressor, all others for the thorough one.
    own_level = 0 if kafka_level == LZ4_LEVEL_DEFAULT else max(kafka_level, _LZ4_HC_LEVEL_MIN)
    # Java's reader knows independent blocks only.
    packed: bytes = lz4.frame.compress(
        data, compression_level=own_level, block_linked=False, store_size=False
    )
    return packed


def _unlz4(data: Buffer, bytes_max: int) -> bytes:
    import lz4.frame  # noqa: PLC0415 - loaded on first use, see the module

    unpacked = bytearray()
    unpacker = lz4.frame.LZ4FrameDecompressor()
    try:
        while True:
            # One byte more than allowed is asked for: it is the proof of being too large.
            piece_bytes_max = min(CHUNK_BYTES, bytes_max - len(unpacked) + 1)
            piece = unpacker.decompress(data, max_length=piece_bytes_max)
            unpacked += piece
            if len(unpacked) > bytes_max:
                raise DecompressedTooLarge(Codec.LZ4, bytes_max)
            if unpacker.eof:
                return bytes(unpacked)
            if unpacker.needs_input or not piece:
                raise CorruptCompression(Codec.LZ4, "it is cut short")
            data = b""
    except (RuntimeError, EOFError) as error:
        raise CorruptCompression(Codec.LZ4, str(error)) from error


def _zstd(data: Buffer, level: int | None) -> bytes:
    import zstandard  # noqa: PLC0415 - loaded on first use, see the module

    return zstandard.ZstdCompressor(_level(level, ZSTD_LEVEL_DEFAULT, -131072, 22)).compress(data)


def _unzstd(data: Buffer, bytes_max: int) -> bytes:
    import zstandard  # noqa: PLC0415 - loaded on first use, see the module

    try:
        # A size in the frame's header would be allocated, so it is compared first; without one
        # the output is bounded by the argument. Its pages cost nothing before they are written.
        if zstandard.frame_content_size(data) > bytes_max:
            raise DecompressedTooLarge(Codec.ZSTD, bytes_max)
        unpacked = zstandard.ZstdDecompressor().decompress(data, max_output_size=bytes_max + 1)
    except zstandard.ZstdError as error:
        # The library has one message for a frame that is cut and for one that needs more room.
        if _zstd_exceeds(data, bytes_max):
            raise DecompressedTooLarge(Codec.ZSTD, bytes_max) from error
        raise CorruptCompression(Codec.ZSTD, str(error)) from error
    if len(unpacked) > bytes_max:
        raise DecompressedTooLarge(Codec.ZSTD, bytes_max)
    return unpacked


def _zstd_exceeds(data: Buffer, bytes_max: int) -> bool:
    import zstandard  # noqa: PLC0415 - loaded on first use, see the module

    total_bytes = 0
    reader = zstandard.ZstdDecompressor().stream_reader(data)
    try:
        while piece := reader.read(CHUNK_BYTES):
            total_bytes += len(piece)
            if total_bytes > bytes_max:
                return True
    except zstandard.ZstdError:
        pass  # unsound before the bound is reached
    return False


def _codec_name(codec: int) -> str:
    return Codec(codec).name.lower() if codec in _DECOMPRESS else f"codec {codec}"


def _level(level: int | None, default: int, lowest: int, highest: int) -> int:
    if level is None:
        return default
    if not lowest <= level <= highest:
        raise ValueError(f"the compression level is between {lowest} and {highest}, not {level}")
    return level


def _hand_out(data: Buffer, bytes_max: int) -> Buffer:
    if len(data) > bytes_max:
        raise DecompressedTooLarge(Codec.NONE, bytes_max)
    return data


_COMPRESS: Final[dict[Codec, Callable[[Buffer, int | None], Buffer]]] = {
    Codec.NONE: _pass_on,
    Codec.GZIP: _gzip,
    Codec.SNAPPY: _snappy,
    Codec.LZ4: _lz4,
    Codec.ZSTD: _zstd,
}
_DECOMPRESS: Final[dict[int, Callable[[Buffer, int], Buffer]]] = {
    Codec.NONE: _hand_out,
    Codec.GZIP: _gunzip,
    Codec.SNAPPY: _unsnappy,
    Codec.LZ4: _unlz4,
    Codec.ZSTD: _unzstd,
}
