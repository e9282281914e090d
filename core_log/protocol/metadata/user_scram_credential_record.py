"""A user has a SCRAM credential (KIP-900)."""

from typing import Annotated

from ..schema import Message, binary, int8, int32, string, versions


class UserScramCredentialRecord(Message, kw_only=True):
    API_KEY = 11
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    name: Annotated[str, string("0+")] = ""
    mechanism: Annotated[int, int8("0+")] = 0
    salt: Annotated[bytes, binary("0+")] = b""
    stored_key: Annotated[bytes, binary("0+")] = b""
    server_key: Annotated[bytes, binary("0+")] = b""
    iterations: Annotated[int, int32("0+")] = 0
