"""The value of a commit or abort marker (KIP-98)."""

from typing import Annotated

from ..schema import Message, int32, versions


class EndTxnMarker(Message, kw_only=True):
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    coordinator_epoch: Annotated[int, int32("0+")] = 0
    """Older epochs are refused, so that a replaced coordinator cannot write."""
