"""Topics removed, by name or, since version 6, by id (KIP-516)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import NO_ID, Message, WireStruct, array, int16, int32, string, struct, uuid, versions


class DeleteTopicState(WireStruct, kw_only=True):
    name: Annotated[str | None, string("6+", nullable="6+")] = None
    topic_id: Annotated[bytes, uuid("6+")] = NO_ID


class DeleteTopicsRequest(Message, kw_only=True):
    API_KEY = 20
    VERSIONS = versions("1-6")
    FLEXIBLE = versions("4+")

    topics: Annotated[list[DeleteTopicState], array(struct, "6+")] = []
    topic_names: Annotated[list[str], array(string, "0-5", ignorable=True)] = []
    timeout_ms: Annotated[int, int32("0+")] = 0


class DeletableTopicResult(WireStruct, kw_only=True):
    name: Annotated[str | None, string("0+", nullable="6+")] = ""
    topic_id: Annotated[bytes, uuid("6+", ignorable=True)] = NO_ID
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("5+", nullable="5+", ignorable=True)] = None


class DeleteTopicsResponse(Message, kw_only=True):
    API_KEY = 20
    VERSIONS = versions("1-6")
    FLEXIBLE = versions("4+")

    throttle_time_ms: Annotated[int, int32("1+", ignorable=True)] = 0
    responses: Annotated[list[DeletableTopicResult], array(struct, "0+")] = []
