"""What storage did of its own accord, as values; the shell that owns the log writes them down."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One thing worth a line in the broker's log.

    ``event`` names it (``log_tail_truncated``), ``facts`` are the line's keys and values.
    ``severe`` marks what a person must look at.
    """

    event: str
    path: str
    facts: Mapping[str, int | str] = field(default_factory=dict)
    severe: bool = False
