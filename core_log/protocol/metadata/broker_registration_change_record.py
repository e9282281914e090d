"""A registered broker is fenced, shuts down, or has other directories."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, array, int8, int32, int64, uuid, versions


class BrokerRegistrationChangeRecord(Message, kw_only=True):
    API_KEY = 17
    VERSIONS = versions("0-3")
    FLEXIBLE = versions("0+")

    broker_id: Annotated[int, int32("0+")] = 0
    broker_epoch: Annotated[int, int64("0+")] = 0
    fenced: Annotated[int, int8("0+", tag=0)] = 0
    """-1: unfenced, 0: unchanged, 1: fenced."""
    in_controlled_shutdown: Annotated[int, int8("1+", tag=1)] = 0
    """0: unchanged, 1: shutting down."""
    log_dirs: Annotated[list[bytes], array(uuid, "2+", tag=2)] = []
    cordoned_log_dirs: Annotated[list[bytes] | None, array(uuid, "3+", nullable="3+", tag=3)] = None
