"""The end of a cleaning: a file is not what it has to be. Pure."""

from typing import Final

from .job import CleanFault


class Damaged(Exception):
    """Nothing may be dropped from this log; ``fault`` says why."""

    def __init__(self, fault: CleanFault) -> None:
        super().__init__(fault)
        self.fault: Final = fault


def damaged(path: str, position: int, reason: str) -> Damaged:
    """What to raise for the batch at *position* of a file."""
    return Damaged(CleanFault(file=path, position=position, reason=reason))
