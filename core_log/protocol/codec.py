"""Messages to bytes and back.

Readers and writers are compiled when a message is first met in a version (``read_compiler``,
``write_compiler``); ``hot`` puts hand-written ones before them for Produce and Fetch. Callers do
not see the difference.

Decoding trusts nothing: a count is held against the bytes that are left before anything is made,
and every array element and tagged field is paid for out of a budget, so that a small request cannot
grow into a large heap (CVE-2022-34917 is what happens otherwise). Decoded strings and bytes are
copies; ``records`` fields are views of the data, writable when the data is.
"""

import struct
from collections.abc import Callable
from functools import cache
from types import TracebackType
from typing import Any, Final, TypeAlias, TypeVar

from ..kernel.limits import DECODE_ELEMENTS_MAX
from ..kernel.ports import Buffer
from . import hot
from .errors import BudgetExceededError, DecodeError, EncodeError
from .primitives import TooManyElements, WireProblem
from .read_compiler import reader_source
from .schema import Message
from .source import Source, holds_records
from .write_compiler import writer_source

M = TypeVar("M", bound=Message)

Reader: TypeAlias = Callable[[Buffer, int, int], tuple[Any, int]]
"""(data, offset, element budget) to the message and the offset behind it."""

Writer: TypeAlias = Callable[[Any, bytearray], list[Buffer]]
"""(message, begun buffer) to all buffers in order; the first is the one handed in."""

_WRONG_DATA: Final = (WireProblem, struct.error, IndexError, UnicodeDecodeError)
_WRONG_VALUE: Final = (
    WireProblem,
    struct.error,
    TypeError,
    AttributeError,
    ValueError,
    OverflowError,
)


def decode(
    cls: type[M],
    version: int,
    data: Buffer,
    *,
    offset: int = 0,
    budget: int = DECODE_ELEMENTS_MAX,
) -> M:
    """The message that fills *data* from *offset* to its end.

    Raises DecodeError, naming the field, when the data is anything else.
    """
    message, end = decode_prefix(cls, version, data, offset, budget=budget)
    if end != len(data):
        raise DecodeError(_title(cls, version), f"is followed by {len(data) - end} bytes")
    return message


def decode_prefix(
    cls: type[M],
    version: int,
    data: Buffer,
    offset: int = 0,
    *,
    budget: int = DECODE_ELEMENTS_MAX,
) -> tuple[M, int]:
    """The message at *offset* and the offset behind it. Raises DecodeError as ``decode`` does."""
    views = holds_views(cls) or type(data) is not bytes
    reader, source = _reader(cls, version, views)
    try:
        return reader(memoryview(data) if views else data, offset, budget)
    except _WRONG_DATA as error:
        raise _decode_error(cls, version, source, error, budget) from error


def encode(message: Message, version: int) -> bytes:
    """The message's bytes.

    Raises EncodeError when a value does not fit its field, or when the version lacks a field that
    is set and matters.
    """
    return b"".join(encode_parts(message, version))


def encode_parts(message: Message, version: int, head: bytearray | None = None) -> list[Buffer]:
    """The same bytes as buffers to be written one behind the other; ``records`` are not copied.

    *head*, when given, is written first and is the first of the buffers.
    """
    writer, source = _writer(type(message), version)
    try:
        return writer(message, bytearray() if head is None else head)
    except _WRONG_VALUE as error:
        raise _encode_error(type(message), version, source, error) from error


@cache
def holds_views(cls: type[Message]) -> bool:
    """Whether the message hands on parts of what it is decoded from."""
    return holds_records(cls)


@cache
def _reader(cls: type[Message], version: int, views: bool) -> tuple[Reader, Source]:  # noqa: FBT001 - a cache key
    if version not in cls.VERSIONS:
        raise DecodeError(_title(cls, version), f"is not one of versions {cls.VERSIONS}")
    source = reader_source(cls, version, views=views)
    compiled = source.function(f"<reader of {_title(cls, version)}>")
    return hot.reader_of(cls, version, compiled), source


@cache
def _writer(cls: type[Message], version: int) -> tuple[Writer, Source]:
    if version not in cls.VERSIONS:
        raise EncodeError(_title(cls, version), f"is not one of versions {cls.VERSIONS}")
    source = writer_source(cls, version)
    compiled = source.function(f"<writer of {_title(cls, version)}>")
    return hot.writer_of(cls, version, compiled), source


def _title(cls: type[Message], version: int) -> str:
    return f"{cls.__name__} v{version}"


def _where(cls: type[Message], version: int, source: Source, trace: TracebackType | None) -> str:
    """Message and field behind the line of the compiled function that raised."""
    while trace is not None and trace.tb_frame.f_code.co_name != "run":
        trace = trace.tb_next
    field = source.fields[trace.tb_lineno - 1] if trace is not None else ""
    return f"{_title(cls, version)} {field}".rstrip()


def _decode_error(
    cls: type[Message], version: int, source: Source, error: Exception, budget: int
) -> DecodeError:
    where = _where(cls, version, source, error.__traceback__)
    if isinstance(error, TooManyElements):
        return BudgetExceededError(where, f"exceeds {budget} elements in all")
    if isinstance(error, WireProblem):
        return DecodeError(where, str(error))
    if isinstance(error, UnicodeDecodeError):
        return DecodeError(where, "is not UTF-8")
    return DecodeError(where, "ends early")


def _encode_error(
    cls: type[Message], version: int, source: Source, error: Exception
) -> EncodeError:
    return EncodeError(_where(cls, version, source, error.__traceback__), str(error))
