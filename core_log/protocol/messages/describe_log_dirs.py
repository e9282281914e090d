"""A broker's data directories with their replicas and sizes (KIP-113, KIP-827)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    Message,
    WireStruct,
    array,
    boolean,
    int16,
    int32,
    int64,
    string,
    struct,
    versions,
)


class DescribableLogDirTopic(WireStruct, kw_only=True):
    topic: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[int], array(int32, "0+")] = []


class DescribeLogDirsRequest(Message, kw_only=True):
    API_KEY = 35
    VERSIONS = versions("1-5")
    FLEXIBLE = versions("2+")

    topics: Annotated[list[DescribableLogDirTopic] | None, array(struct, "0+", nullable="0+")] = []
    """Null asks for all."""


class DescribeLogDirsPartition(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    partition_size: Annotated[int, int64("0+")] = 0
    offset_lag: Annotated[int, int64("0+")] = 0
    is_future_key: Annotated[bool, boolean("0+")] = False


class DescribeLogDirsTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[DescribeLogDirsPartition], array(struct, "0+")] = []


class DescribeLogDirsResult(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    log_dir: Annotated[str, string("0+")] = ""
    topics: Annotated[list[DescribeLogDirsTopic], array(struct, "0+")] = []
    total_bytes: Annotated[int, int64("4+", ignorable=True)] = -1
    usable_bytes: Annotated[int, int64("4+", ignorable=True)] = -1
    is_cordoned: Annotated[bool, boolean("5+", ignorable=True)] = False


class DescribeLogDirsResponse(Message, kw_only=True):
    API_KEY = 35
    VERSIONS = versions("1-5")
    FLEXIBLE = versions("2+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("3+", ignorable=True)] = 0
    results: Annotated[list[DescribeLogDirsResult], array(struct, "0+")] = []
