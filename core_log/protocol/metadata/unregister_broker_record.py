"""A broker is gone for good."""

from typing import Annotated

from ..schema import Message, int32, int64, versions


class UnregisterBrokerRecord(Message, kw_only=True):
    API_KEY = 1
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    broker_id: Annotated[int, int32("0+")] = 0
    broker_epoch: Annotated[int, int64("0+")] = 0
