"""One member of a classic group, and what a request of it that waits needs to be answered."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple


class GroupProtocol(NamedTuple):
    """A way to assign partitions that a member supports; *metadata* is opaque to the group."""

    name: str
    metadata: bytes


class Waiting(NamedTuple):
    """A request that is parked inside the group."""

    reply_to: object
    version: int


@dataclass(slots=True, kw_only=True)
class ClassicMember:
    """What a group knows of a member. ``protocols`` is in the member's order of preference."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: tuple[GroupProtocol, ...]
    assignment: bytes = b""
    is_new: bool = False
    """From the first join to its answer. The client does not know its id yet and cannot beat, so
    the session clock runs although a join is parked: it may have given up and joined anew."""

    def metadata(self, protocol_name: str) -> bytes:
        """What the member says in *protocol_name*. Raises KeyError when it does not support it."""
        for protocol in self.protocols:
            if protocol.name == protocol_name:
                return protocol.metadata
        raise KeyError(protocol_name)

    def vote(self, candidates: Collection[str]) -> str:
        """The candidate this member likes best; it supports each of them."""
        return next(p.name for p in self.protocols if p.name in candidates)


def distinct(protocols: Iterable[GroupProtocol]) -> tuple[GroupProtocol, ...]:
    """*protocols* without those whose name came before: a member has one vote per protocol."""
    first: dict[str, GroupProtocol] = {}
    for protocol in protocols:
        first.setdefault(protocol.name, protocol)
    return tuple(first.values())
