"""A broker may lead again: an older record for what BrokerRegistrationChange says now."""

from typing import Annotated

from ..schema import Message, int32, int64, versions


class UnfenceBrokerRecord(Message, kw_only=True):
    API_KEY = 8
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    id: Annotated[int, int32("0+")] = 0
    epoch: Annotated[int, int64("0+")] = 0
