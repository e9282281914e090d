"""An access rule exists (KIP-801)."""

from typing import Annotated

from ..schema import NO_ID, Message, int8, string, uuid, versions


class AccessControlEntryRecord(Message, kw_only=True):
    API_KEY = 18
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    id: Annotated[bytes, uuid("0+")] = NO_ID
    resource_type: Annotated[int, int8("0+")] = 0
    resource_name: Annotated[str, string("0+")] = ""
    pattern_type: Annotated[int, int8("0+")] = 0
    principal: Annotated[str, string("0+")] = ""
    host: Annotated[str, string("0+")] = ""
    operation: Annotated[int, int8("0+")] = 0
    permission_type: Annotated[int, int8("0+")] = 0
