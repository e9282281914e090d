"""The five codecs of record batches, with a bound on what they may unpack to.

Pure. gzip and lz4 and zstd are frames of their own formats; snappy comes in the framing of the
Java library (a 16-byte header, then chunks with their lengths) or, from some clients, as one raw
block. All readers stop at ``bytes_max``: a batch of 33 KB can hold a gigabyte (CVE-2023-34455 is
the same with a lie in a chunk's length).
"""

from enum import IntEnum
from typing import Final

from ..kernel.ports import Buffer


class Codec(IntEnum):
    """A codec as attribute bits 0-2 of a batch name it."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class DecompressedTooLarge(ValueError):  # noqa: N818 - names the condition
    """The data would unpack to more than ``bytes_max``."""

    def __init__(self, codec: Codec, bytes_max: int) -> None:
        super().__init__(codec, bytes_max)
        self.codec: Final = codec
        self.bytes_max: Final = bytes_max

    def __str__(self) -> str:
        return f"{self.codec.name.lower()} data unpacks to more than {self.bytes_max} bytes"


class CorruptCompression(ValueError):  # noqa: N818 - names the condition
    """The data is not what its codec wrote; ``reason`` is the decoder's."""

    def __init__(self, codec: Codec, reason: str) -> None:
        super().__init__(codec, reason)
        self.codec: Final = codec
        self.reason: Final = reason

    def __str__(self) -> str:
        return f"not {self.codec.name.lower()} data: {self.reason}"


def compress(codec: Codec, data: Buffer, level: int | None = None) -> Buffer:
    """*data* packed as Kafka's clients pack it; *level* None is Kafka's default for the codec."""
    raise NotImplementedError


def decompress(codec: int, data: Buffer, *, bytes_max: int) -> Buffer:
    """What *data* unpacks to, at most *bytes_max* bytes; for NONE it is *data* itself.

    Raises DecompressedTooLarge having held at most *bytes_max* and one chunk, CorruptCompression
    for bytes the codec cannot have written and for codec ids that do not exist.
    """
    raise NotImplementedError
