"""Feature levels: what is finalized in the metadata, what this software supports, what clients see.

Source: KIP-584 and KIP-1022. A finalized level above what Headwater implements, in a directory that
Kafka has written, stays in the metadata as it is, but clients are shown the lower one of the two:
the level tells them which protocol to speak.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

METADATA_VERSION: Final = "metadata.version"
KRAFT_VERSION: Final = "kraft.version"
TRANSACTION_VERSION: Final = "transaction.version"
METADATA_VERSION_LEVEL: Final = 30
"""Kafka 4.3-IV0: the level whose record versions we write."""
METADATA_VERSION_LEVEL_MIN: Final = 7
"""Kafka 3.3-IV3: the first level that a Kafka 4 node still reads."""

SUPPORTED: Final[Mapping[str, tuple[int, int]]] = {
    METADATA_VERSION: (METADATA_VERSION_LEVEL_MIN, METADATA_VERSION_LEVEL),
    KRAFT_VERSION: (0, 1),
    "group.version": (0, 1),
    TRANSACTION_VERSION: (0, 2),
}
"""Lowest and highest level per feature that this software implements."""

INITIAL: Final[Mapping[str, int]] = {
    METADATA_VERSION: METADATA_VERSION_LEVEL,
    "group.version": 1,
    TRANSACTION_VERSION: 2,
}
"""Levels that a new cluster starts with; an absent feature is at level 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeaturesImage:
    """Feature levels of the cluster."""

    levels: Mapping[str, int] = field(default_factory=dict)
    """As the metadata log has them, whether we implement them or not."""

    @property
    def finalized(self) -> dict[str, int]:
        """Levels as clients may see them, above 0 and within what is implemented."""
        shown = {
            name: min(level, SUPPORTED.get(name, (0, 0))[1]) for name, level in self.levels.items()
        }
        return {name: level for name, level in shown.items() if level > 0}

    @property
    def supported(self) -> Mapping[str, tuple[int, int]]:
        return SUPPORTED
