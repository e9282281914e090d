"""The topics that a group's regular expression matches (KIP-848)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, array, int64, string, versions


class ConsumerGroupRegularExpressionKey(Message, kw_only=True):
    API_KEY = 16
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group_id: Annotated[str, string("0")] = ""
    regular_expression: Annotated[str, string("0")] = ""


class ConsumerGroupRegularExpressionValue(Message, kw_only=True):
    API_KEY = 16
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    topics: Annotated[list[str], array(string, "0+")] = []
    version: Annotated[int, int64("0+")] = 0
    timestamp: Annotated[int, int64("0+")] = 0
