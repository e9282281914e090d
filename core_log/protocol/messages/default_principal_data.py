"""A principal as a broker forwards it in an Envelope (KIP-590)."""

from typing import Annotated

from ..schema import Message, boolean, string, versions


class DefaultPrincipalData(Message, kw_only=True):
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    type: Annotated[str, string("0+")] = ""
    name: Annotated[str, string("0+")] = ""
    token_authenticated: Annotated[bool, boolean("0+")] = False
