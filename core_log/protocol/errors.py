"""What can be wrong with bytes and with messages.

None of these is an answer to a client by itself: the connection decides whether a bad body earns an
error response or the end of the connection.
"""

from typing import Final


class ProtocolError(Exception):
    """The root of this package's errors."""


class DecodeError(ProtocolError):
    """Bytes that are not the message they should be. Somebody else's fault.

    ``where`` names message and field, as in ``FetchRequest v12 topics[].partitions[].partition``.
    """

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(where, reason)
        self.where: Final = where
        self.reason: Final = reason

    def __str__(self) -> str:
        return f"{self.where} {self.reason}"


class BudgetExceededError(DecodeError):
    """A message with more elements than its reader is willing to build."""


class EncodeError(ProtocolError):
    """A message that this version cannot carry, or a value that its wire type cannot. Our fault."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(where, reason)
        self.where: Final = where
        self.reason: Final = reason

    def __str__(self) -> str:
        return f"{self.where} {self.reason}"


class FrameError(ProtocolError):
    """A size prefix that no frame may have. What follows on the connection cannot be understood."""

    def __init__(self, size: int, size_max: int) -> None:
        super().__init__(size, size_max)
        self.size: Final = size
        self.size_max: Final = size_max

    def __str__(self) -> str:
        return f"a frame of {self.size} bytes announced; allowed are 1 to {self.size_max}"
