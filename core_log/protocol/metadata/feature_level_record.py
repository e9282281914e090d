"""A feature is finalized at a level; level zero removes it."""

from typing import Annotated

from ..schema import Message, int16, string, versions


class FeatureLevelRecord(Message, kw_only=True):
    API_KEY = 12
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    name: Annotated[str, string("0+")] = ""
    feature_level: Annotated[int, int16("0+")] = 0
