"""The rows of the comparison: what is measured, declared as data. Pure."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from .systems import Flush

Codec = Literal["none", "lz4", "zstd"]
Acks = Literal["1", "all"]

VALUE_SIZES: Final = (100, 1024)
BATCH_SIZES: Final = {"16K": 16_384, "1M": 1_000_000}  # 1 MB is librdkafka's own default
CODECS: Final[tuple[Codec, ...]] = ("none", "lz4", "zstd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Produce:
    """One producer, one partition: MB/s, records/s, broker CPU per GB."""

    value_bytes: int
    batch: str
    codec: Codec
    acks: Acks
    flush: Flush

    @property
    def name(self) -> str:
        size = f"{self.value_bytes}B"
        return f"produce/{size}/{self.batch}/{self.codec}/acks={self.acks}/{self.flush}"

    @property
    def is_quick(self) -> bool:
        return self.codec == "none" and self.acks == "all" and self.value_bytes == 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Consume:
    """One consumer reads from the beginning what one producer wrote with the batch size."""

    value_bytes: int
    batch: str
    codec: Codec

    @property
    def name(self) -> str:
        return f"consume/{self.value_bytes}B/{self.batch}/{self.codec}"

    @property
    def is_quick(self) -> bool:
        return self.codec == "none" and self.value_bytes == 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """Produce requests of one record of 100 bytes, one in flight per connection."""

    connections: int
    acks: Acks
    flush: Flush

    @property
    def name(self) -> str:
        return f"requests/{self.connections}/acks={self.acks}/{self.flush}"

    @property
    def is_quick(self) -> bool:
        return self.acks == "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Time to the acknowledgement at 1,000 records/s of 100 bytes, each sent at once."""

    acks: Acks
    flush: Flush

    @property
    def name(self) -> str:
        return f"latency/acks={self.acks}/{self.flush}"

    @property
    def is_quick(self) -> bool:
        return self.acks == "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Time to the first answer on an empty directory, and idle memory."""

    @property
    def name(self) -> str:
        return "start/empty"

    @property
    def is_quick(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitions:
    """A node of its own with many partitions: creation, memory, produce over all, restart."""

    count: int

    @property
    def name(self) -> str:
        return f"partitions/{self.count}"

    @property
    def is_quick(self) -> bool:
        return self.count == 1_000


Row = Produce | Consume | Requests | Latency | Start | Partitions


def all_rows() -> Iterator[Row]:
    """Every row in the order of the run. Compression does not depend on acks: acks=all has it."""
    yield Start()
    sizes = list(itertools.product(VALUE_SIZES, BATCH_SIZES))
    flushes: tuple[Flush, ...] = ("lazy", "flushed")
    acks: tuple[Acks, ...] = ("1", "all")
    for (size, batch), codec, flush in itertools.product(sizes, CODECS, flushes):
        for wanted in acks if codec == "none" else acks[1:]:
            yield Produce(value_bytes=size, batch=batch, codec=codec, acks=wanted, flush=flush)
    for (size, batch), codec in itertools.product(sizes, CODECS):
        yield Consume(value_bytes=size, batch=batch, codec=codec)
    modes: tuple[tuple[Acks, Flush], ...] = (("1", "lazy"), ("all", "lazy"), ("all", "flushed"))
    for wanted, flush in modes:
        for connections in (1, 10, 100):
            yield Requests(connections=connections, acks=wanted, flush=flush)
    for wanted, flush in modes:
        yield Latency(acks=wanted, flush=flush)
    yield Partitions(count=1_000)
    yield Partitions(count=10_000)
