"""A delegation token is removed (KIP-900)."""

from typing import Annotated

from ..schema import Message, string, versions


class RemoveDelegationTokenRecord(Message, kw_only=True):
    API_KEY = 26
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    token_id: Annotated[str, string("0+")] = ""
