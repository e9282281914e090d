"""An access rule is removed (KIP-801)."""

from typing import Annotated

from ..schema import NO_ID, Message, uuid, versions


class RemoveAccessControlEntryRecord(Message, kw_only=True):
    API_KEY = 19
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    id: Annotated[bytes, uuid("0+")] = NO_ID
