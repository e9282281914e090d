"""A member of a share group and what it subscribes to (KIP-932)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, array, string, versions


class ShareGroupMemberMetadataKey(Message, kw_only=True):
    API_KEY = 10
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group_id: Annotated[str, string("0")] = ""
    member_id: Annotated[str, string("0")] = ""


class ShareGroupMemberMetadataValue(Message, kw_only=True):
    API_KEY = 10
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    rack_id: Annotated[str | None, string("0+", nullable="0+")] = ""
    client_id: Annotated[str, string("0+")] = ""
    client_host: Annotated[str, string("0+")] = ""
    subscribed_topic_names: Annotated[list[str], array(string, "0+")] = []
