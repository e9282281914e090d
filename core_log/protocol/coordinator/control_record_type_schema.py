"""The rest of a control record's key behind its version: which marker the record is."""

from typing import Annotated

from ..schema import Message, int16, versions


class ControlRecordTypeSchema(Message, kw_only=True):
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    type: Annotated[int, int16("0+")] = 0
