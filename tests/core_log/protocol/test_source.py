"""Sizes and facts that compilers take from declarations."""

from typing import Annotated

import pytest

from headwater.core_log.kernel.ports import Buffer
from headwater.core_log.protocol.messages.fetch import FetchPartition, FetchTopic
from headwater.core_log.protocol.messages.fetch_snapshot import FetchSnapshotResponse
from headwater.core_log.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from headwater.core_log.protocol.schema import (
    WireStruct,
    array,
    binary,
    int64,
    record_batches,
    string,
    struct,
)
from headwater.core_log.protocol.source import holds_records, size_min


class Part(WireStruct, kw_only=True):
    number: Annotated[int, int64("0+")] = 0
    later: Annotated[int, int64("1+")] = 0


class Whole(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    raw: Annotated[bytes, binary("0+")] = b""
    part: Annotated[Part | None, struct("0+", nullable="1+")] = None
    parts: Annotated[list[Part], array(struct, "0+")] = []  # noqa: RUF012 - msgspec copies it
    extra: Annotated[int, int64("0+", tag=0)] = 0


@pytest.mark.parametrize(
    ("version", "flexible", "size"),
    [(0, False, 2 + 4 + 8 + 4), (1, False, 2 + 4 + 1 + 4), (0, True, 1 + 1 + 9 + 1 + 1)],
)
def test_the_least_size_is_that_of_a_struct_with_nothing_in_it(
    *, version: int, flexible: bool, size: int
) -> None:
    """Empty strings and arrays, null structs, no tagged fields."""
    assert size_min(Whole, version, flexible=flexible) == size


def test_the_least_size_is_never_zero() -> None:
    """A count must always be held against something."""

    class Nothing(WireStruct, kw_only=True):
        late: Annotated[int, int64("9+")] = 0

    assert size_min(Nothing, 0, flexible=False) == 1
    assert size_min(MetadataRequestTopic, 12, flexible=True) == 16 + 1 + 1
    assert size_min(FetchTopic, 15, flexible=True) == 16 + 1 + 1
    assert size_min(FetchPartition, 15, flexible=True) == 4 + 4 + 8 + 4 + 8 + 4 + 1


def test_records_are_found_at_any_depth() -> None:
    """The whole message is then decoded from a view."""

    class Deep(WireStruct, kw_only=True):
        records: Annotated[Buffer | None, record_batches("0+", nullable="0+")] = None

    class Above(WireStruct, kw_only=True):
        deep: Annotated[list[Deep], array(struct, "0+")] = []  # noqa: RUF012 - msgspec copies it

    assert holds_records(Above)
    assert holds_records(FetchSnapshotResponse)
    assert not holds_records(MetadataRequest)
