"""The file ``quorum-state``: what a voter must not forget, a JSON object as Kafka writes it.

Pure. Version 0 belongs to a quorum whose voters are configured (``controller.quorum.voters``),
version 1 to one whose voters stand in the log (KIP-853)::

    {"clusterId":"","leaderId":1,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,
     "currentVoters":[{"voterId":1}],"data_version":0}
    {"leaderId":1,"leaderEpoch":1,"votedId":1,"votedDirectoryId":"…22 characters…","data_version":1}
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from ..kernel.ids import NO_TOPIC_ID, id_text, parse_id

FILE_NAME: Final = "quorum-state"
NOBODY: Final = -1
_VERSION_MAX: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumState:
    """Epoch, leader and vote of one voter."""

    leader_epoch: int
    leader_id: int = NOBODY
    voted_id: int = NOBODY
    voted_directory_id: bytes = NO_TOPIC_ID
    voters: tuple[int, ...] = ()
    """Configured voters; empty in version 1."""
    data_version: int = 0


def encode_quorum_state(state: QuorumState) -> bytes:
    """The file's bytes."""
    fields: dict[str, Any]
    if state.data_version == 0:
        fields = {
            "clusterId": "",
            "leaderId": state.leader_id,
            "leaderEpoch": state.leader_epoch,
            "votedId": state.voted_id,
            "appliedOffset": 0,
            "currentVoters": [{"voterId": voter} for voter in state.voters],
            "data_version": 0,
        }
    else:
        fields = {
            "leaderId": state.leader_id,
            "leaderEpoch": state.leader_epoch,
            "votedId": state.voted_id,
            "votedDirectoryId": id_text(state.voted_directory_id),
            "data_version": state.data_version,
        }
    return json.dumps(fields, separators=(",", ":")).encode()


def decode_quorum_state(data: bytes) -> QuorumState:
    """The state in the file. Raises ValueError saying what is wrong with it."""
    fields = json.loads(data)
    if not isinstance(fields, dict):
        raise ValueError("it is not a JSON object")  # noqa: TRY004 - a fault of the data, not of code
    version = _number(fields, "data_version")
    if not 0 <= version <= _VERSION_MAX:
        raise ValueError(f"its data_version {version} is newer than {_VERSION_MAX}")
    directory_id = fields.get("votedDirectoryId")
    voters = fields.get("currentVoters") or []
    if not isinstance(voters, list) or not all(isinstance(voter, dict) for voter in voters):
        raise ValueError("currentVoters is not a list of voters")
    return QuorumState(
        leader_epoch=_number(fields, "leaderEpoch"),
        leader_id=_number(fields, "leaderId"),
        voted_id=_number(fields, "votedId"),
        voted_directory_id=parse_id(directory_id) if isinstance(directory_id, str) else NO_TOPIC_ID,
        voters=tuple(_number(voter, "voterId") for voter in voters),
        data_version=version,
    )


def _number(fields: dict[str, Any], name: str) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}, not a whole number")  # noqa: TRY004 - see above
    return value
