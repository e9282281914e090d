"""What an admin operation comes to, and the static settings it depends on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from ..kernel.errors import ApiError, ErrorCode
from ..protocol.schema import Message

R_co = TypeVar("R_co", covariant=True)

RECORDS_MAX: Final = 10_000
"""Records one operation may write, so that one batch holds them; Kafka's bound too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Generic[R_co]):
    """Records to commit, then the response to send."""

    records: tuple[Message, ...] = ()
    response: R_co


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerConfig:
    """Static settings that operations depend on."""

    node_id: int
    num_partitions: int = 1
    default_replication_factor: int = 1
    delete_topic_enable: bool = True
    static_configs: Mapping[str, str] = field(default_factory=dict)
    """Broker configs as given at the start, by Kafka's names."""


def too_many_records() -> ApiError:
    """The refusal of an operation that would write more than RECORDS_MAX."""
    return ApiError(
        ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation."
    )
