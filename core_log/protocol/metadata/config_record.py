"""A configuration value is set, or removed when the value is null."""

from typing import Annotated

from ..schema import Message, int8, string, versions


class ConfigRecord(Message, kw_only=True):
    API_KEY = 4
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    resource_type: Annotated[int, int8("0+")] = 0
    resource_name: Annotated[str, string("0+")] = ""
    name: Annotated[str, string("0+")] = ""
    value: Annotated[str | None, string("0+", nullable="0+")] = ""
    """Null removes the value."""
