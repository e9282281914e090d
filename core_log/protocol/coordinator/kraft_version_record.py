"""The quorum's protocol level, from which on the voters stand in the log (KIP-853)."""

from typing import Annotated

from ..schema import Message, int16, versions


class KRaftVersionRecord(Message, kw_only=True):
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    version: Annotated[int, int16("0+")] = 0
    kraft_version: Annotated[int, int16("0+")] = 0
