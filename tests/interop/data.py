"""Records by seed, and Kafka's way from a key to a partition as a child would write it."""

import random
import time

from .client import Headers, Record

_WORDS = b"the log is the table and the table is the log ".split()


def records(seed: str, count: int, *, partition: int | None = None) -> list[Record]:
    """Records that differ in every way all clients know: empty, null, text, noise, headers.

    Timestamps rise by a millisecond and end in the last minute, so that no retention touches them.
    A record has a key or a value, or both: some clients refuse to send neither.
    """
    dice = random.Random(seed)
    first_ms = int(time.time() * 1000) - 60_000
    return [_record(dice, index, first_ms, partition) for index in range(count)]


def fancy_headers(*, null_header: bool) -> Headers:
    """Names that repeat, are empty or are no ASCII; values that are empty or, if so asked, null."""
    headers = (
        ("trace", b"1"),
        ("", b"no name"),
        ("trace", b"2"),
        ("größe", b"\xff\x00"),
        ("e", b""),
    )
    return (*headers, ("null", None)) if null_header else headers


def noise(seed: str, size: int) -> bytes:
    """Bytes that no codec makes smaller."""
    return random.Random(seed).randbytes(size)


def partition_of(key: bytes, partition_count: int) -> int:
    """Where Kafka's default partitioner puts a key: murmur2, without its sign, modulo."""
    return (_murmur2(key) & 0x7FFFFFFF) % partition_count


def _record(dice: random.Random, index: int, first_ms: int, partition: int | None) -> Record:
    key = dice.choice([None, b"", f"key-{dice.randrange(40)}".encode(), dice.randbytes(16)])
    text = b" ".join(dice.choices(_WORDS, k=dice.randrange(1, 60)))
    values: list[bytes | None] = [b"", text, dice.randbytes(300)]
    if key is not None:
        values.append(None)
    names = dice.sample(["source", "content-type", "x", "a-longer-name"], k=dice.randrange(4))
    return Record(
        key=key,
        value=dice.choice(values),
        headers=tuple((name, dice.randbytes(dice.randrange(9))) for name in names),
        partition=partition,
        timestamp_ms=first_ms + index,
    )


def _murmur2(data: bytes) -> int:
    """MurmurHash2 with Kafka's seed, 32 bits, little endian."""
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    h = 0x9747B28C ^ len(data)
    whole = len(data) - len(data) % 4
    for at in range(0, whole, 4):
        k = int.from_bytes(data[at : at + 4], "little") * m & mask
        k = (k ^ k >> 24) * m & mask
        h = (h * m & mask) ^ k
    if whole < len(data):
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return h ^ h >> 15
