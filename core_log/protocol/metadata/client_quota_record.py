"""A client quota is set or removed."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, boolean, float64, string, struct, versions


class EntityData(WireStruct, kw_only=True):
    entity_type: Annotated[str, string("0+")] = ""
    entity_name: Annotated[str | None, string("0+", nullable="0+")] = ""


class ClientQuotaRecord(Message, kw_only=True):
    API_KEY = 14
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    entity: Annotated[list[EntityData], array(struct, "0+")] = []
    key: Annotated[str, string("0+")] = ""
    value: Annotated[float, float64("0+")] = 0.0
    remove: Annotated[bool, boolean("0+")] = False
