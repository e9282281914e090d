"""The quorum-state file is Kafka's, byte for byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.raft.quorum_state import (
    QuorumState,
    decode_quorum_state,
    encode_quorum_state,
)

KAFKA_0 = (
    b'{"clusterId":"","leaderId":1,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,'
    b'"currentVoters":[{"voterId":1}],"data_version":0}'
)
KAFKA_1 = (
    b'{"leaderId":1,"leaderEpoch":1,"votedId":-1,'
    b'"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'
)
"""Written by Apache Kafka 4.3.0, with configured voters and with voters in the log."""


@pytest.mark.parametrize(
    ("data", "state"),
    [
        (KAFKA_0, QuorumState(leader_epoch=1, leader_id=1, voters=(1,), data_version=0)),
        (KAFKA_1, QuorumState(leader_epoch=1, leader_id=1, data_version=1)),
    ],
)
def test_kafkas_files_are_read_and_written(data: bytes, state: QuorumState) -> None:
    """Both versions, in both directions."""
    assert decode_quorum_state(data) == state
    assert encode_quorum_state(state) == data


states = st.builds(
    QuorumState,
    leader_epoch=st.integers(0, 2**31 - 1),
    leader_id=st.integers(-1, 9),
    voted_id=st.integers(-1, 9),
    voted_directory_id=st.binary(min_size=16, max_size=16),
    data_version=st.just(1),
)


@given(state=states)
def test_what_is_written_is_read(state: QuorumState) -> None:
    """The vote's directory too."""
    assert decode_quorum_state(encode_quorum_state(state)) == state


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "Expecting value"),
        (KAFKA_0[:-1], "delimiter"),
        (b"[]", "not a JSON object"),
        (b"{}", "data_version is None"),
        (KAFKA_0.replace(b'data_version":0', b'data_version":2'), "newer than 1"),
        (KAFKA_0.replace(b'"leaderEpoch":1', b'"leaderEpoch":"1"'), "leaderEpoch is '1'"),
        (KAFKA_0.replace(b'"leaderId":1', b'"leaderId":true'), "leaderId is True"),
        (KAFKA_0.replace(b'[{"voterId":1}]', b"[1]"), "not a list of voters"),
        (KAFKA_0.replace(b'{"voterId":1}', b"{}"), "voterId is None"),
        (KAFKA_1.replace(b"AAAA", b"A", 1), "not a Kafka id"),
    ],
)
def test_a_broken_file_is_refused(data: bytes, reason: str) -> None:
    """A vote that cannot be read must not be forgotten silently."""
    with pytest.raises(ValueError, match=reason):
        decode_quorum_state(data)
