"""A SCRAM credential is removed (KIP-900)."""

from typing import Annotated

from ..schema import Message, int8, string, versions


class RemoveUserScramCredentialRecord(Message, kw_only=True):
    API_KEY = 22
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    name: Annotated[str, string("0+")] = ""
    mechanism: Annotated[int, int8("0+")] = 0
