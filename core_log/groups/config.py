"""What an operator may set about groups, with Kafka 4.3's defaults.

A value: the server builds it once from its settings and hands it to every shard.
"""

from dataclasses import dataclass
from typing import Final

DAY_MS: Final = 86_400_000
MINUTE_MS: Final = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupConfig:
    """Settings of the group coordinator; each comment names Kafka's setting.

    Raises ValueError when a bound is negative or two bounds contradict each other.
    """

    session_timeout_ms_min: int = 6_000  # group.min.session.timeout.ms
    session_timeout_ms_max: int = 1_800_000  # group.max.session.timeout.ms
    initial_rebalance_delay_ms: int = 3_000  # group.initial.rebalance.delay.ms
    group_size_max: int = 2**31 - 1  # group.max.size
    offset_metadata_chars_max: int = 4_096  # offset.metadata.max.bytes, which Kafka counts in chars
    offsets_retention_ms: int = 7 * DAY_MS  # offsets.retention.minutes
    offsets_retention_check_ms: int = 10 * MINUTE_MS  # offsets.retention.check.interval.ms

    new_member_join_timeout_ms: int = 5 * MINUTE_MS
    """How long a member that does not know its id yet may wait in a join. A constant in Kafka."""

    batch_bytes_max: int = 1_048_588
    """Bytes one atomic batch of records may take: max.message.bytes of __consumer_offsets."""

    pending_members_max: int = 10_000
    """Member ids one group hands out and waits for. Kafka has no bound; a client that asks for
    ids in a loop would fill its memory."""

    member_metadata_bytes_max: int = 4 * 1_048_588
    """Bytes of protocol names and metadata one member may bring. Kafka has no bound; what one
    member says in one protocol must fit into a batch anyway, and four protocols are plenty."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")
        if self.session_timeout_ms_min > self.session_timeout_ms_max:
            raise ValueError(
                f"session_timeout_ms_min ({self.session_timeout_ms_min}) must not be above "
                f"session_timeout_ms_max ({self.session_timeout_ms_max})"
            )
        if not self.group_size_max:
            raise ValueError("group_size_max must be at least 1, got 0: no member could ever join")
