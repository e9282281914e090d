"""Names of files: Kafka's, and nothing that could leave the data directory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.storage.names import (
    deleted_directory,
    is_deleted_directory,
    offset_name,
    parse_offset_name,
    parse_partition_directory,
    partition_directory,
)

TOPICS = st.text("abcXYZ019._-", min_size=1, max_size=20).filter(
    lambda name: name not in (".", "..")
)


def test_files_are_named_after_their_offset() -> None:
    assert offset_name(42, ".log") == "00000000000000000042.log"
    assert parse_offset_name("00000000000000000042.timeindex") == (42, ".timeindex")
    for other in ("42.log", "00000000000000000042", "00000000000000000042.log.deleted", "x.log"):
        assert parse_offset_name(other) is None


@given(topic=TOPICS, partition=st.sampled_from([0, 1, 10, 2**31 - 1]))
def test_a_partition_is_found_again(topic: str, partition: int) -> None:
    assert parse_partition_directory(partition_directory(topic, partition)) == (topic, partition)


@pytest.mark.parametrize(
    "topic", ["../x", "a/b", "", "a\0b", ".", "..", "a b", "ä", "x" * 250, "a\n"]
)
def test_bad_names_become_no_path(topic: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name of a directory"):
        partition_directory(topic, 0)


@pytest.mark.parametrize("name", ["topic", "topic-", "topic-01", "-1", "a-1.b-delete"])
def test_other_directories_are_no_partitions(name: str) -> None:
    assert parse_partition_directory(name) is None


@given(topic=TOPICS | st.just("x" * 249))
def test_a_deleted_partition_is_no_live_one(topic: str) -> None:
    """And its name fits into what file systems take."""
    name = deleted_directory(topic, 7, "0f" * 16)
    assert is_deleted_directory(name)
    assert parse_partition_directory(name) is None
    assert len(name) <= 255
    assert not is_deleted_directory(partition_directory(topic, 7))
