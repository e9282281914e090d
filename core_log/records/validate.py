"""Whether a batch that a client sent may enter the log, and in which form.

Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ports import Buffer
from .batch import Batch, TimestampType
from .compression import Codec

PRODUCE_VERSION_MAX: Final = 13


class InvalidRecords(ApiError):  # noqa: N818 - names the condition, as ApiError's tree does
    """Single records are at fault: ``records`` holds (index in the batch, what is wrong)."""

    def __init__(self, code: ErrorCode, message: str, records: Sequence[tuple[int, str]]) -> None:
        super().__init__(code, message)
        self.records: Final = tuple(records)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducePolicy:
    """What a topic accepts; one per partition, replaced when its configuration changes."""

    message_bytes_max: int = 1_048_588  # max.message.bytes
    timestamp_type: TimestampType = TimestampType.CREATE_TIME  # message.timestamp.type
    timestamp_before_ms_max: int = 2**63 - 1  # message.timestamp.before.max.ms
    timestamp_after_ms_max: int = 3_600_000  # message.timestamp.after.max.ms
    compression: Codec | None = None  # compression.type; None keeps the producer's
    compression_level: int | None = None  # compression.<codec>.level
    is_compacted: bool = False  # cleanup.policy names compact: every record needs a key
    decompressed_bytes_max: int = 64 * 1_048_588  # what one batch may unpack to when it must


def validate_produced(
    records: Buffer | None,
    policy: ProducePolicy,
    now_ms: int,
    *,
    api_version: int = PRODUCE_VERSION_MAX,
) -> Batch:
    """The one batch in *records*, fit to be appended; its memory is writable.

    The batch shares the caller's memory when that is writable and nothing must be converted.
    Raises ApiError with the code the client must get.
    """
    raise NotImplementedError
