"""What a broker and its cleaner process say to each other. Pure.

Over the process's standard input and output, each frame ``[4 length][n msgpack]``, big-endian: the
broker sends an Order, the process answers it, one at a time. Data only: no frame names code.
"""

from struct import Struct
from typing import Final, TypeAlias

import msgspec

from ..storage.compaction.job import CleanJob, CleanResult

FRAME_BYTES_MAX: Final = 256 * 1024 * 1024
"""A job names every segment, active producer and aborted transaction of a log, some 100 bytes each:
this is two million of them. Both ends are ours, so the bound only guards against nonsense."""

LENGTH: Final = Struct(">I")


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A job, and how fast it may be done; None is as fast as it goes."""

    job: CleanJob
    bytes_per_second_max: float | None


class Done(msgspec.Struct, frozen=True, kw_only=True, tag="done"):
    """The job's result, a fault of the log included."""

    result: CleanResult


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """The job could not be done: a file operation failed."""

    reason: str


Answer: TypeAlias = Done | Failed

_DECODE_ORDER: Final = msgspec.msgpack.Decoder(Order)
_DECODE_ANSWER: Final[msgspec.msgpack.Decoder[Answer]] = msgspec.msgpack.Decoder(Done | Failed)


def encode_frame(message: Order | Answer) -> bytes:
    """The frame of a message, its length before it. Raises ValueError above FRAME_BYTES_MAX."""
    body = msgspec.msgpack.encode(message)
    if len(body) > FRAME_BYTES_MAX:
        raise ValueError(f"a frame of {len(body)} bytes is above {FRAME_BYTES_MAX}")
    return LENGTH.pack(len(body)) + body


def frame_size(head: bytes) -> int:
    """How many bytes follow the *head* of a frame. Raises ValueError above FRAME_BYTES_MAX."""
    size: int = LENGTH.unpack(head)[0]
    if size > FRAME_BYTES_MAX:
        raise ValueError(f"a frame of {size} bytes is above {FRAME_BYTES_MAX}")
    return size


def decode_order(body: bytes) -> Order:
    """Raises msgspec.DecodeError for anything else."""
    return _DECODE_ORDER.decode(body)


def decode_answer(body: bytes) -> Answer:
    """Raises msgspec.DecodeError for anything else."""
    return _DECODE_ANSWER.decode(body)
