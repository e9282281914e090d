"""All groups of one partition of __consumer_offsets: the core that its runtime drives."""

import msgspec

from ..kernel.errors import ErrorCode
from ..kernel.ports import Random
from .config import GroupConfig
from .effects import Caller, Effects
from .topics import TopicNames


class GroupShard:
    """The groups of one partition of __consumer_offsets, as their records and requests make them.

    First ``replay`` every record of the partition, then ``loaded``; from then on ``step`` for each
    request and ``tick`` when ``next_deadline_ms`` has come. One caller at a time.

    A request that names several groups is cut up by the caller: each shard gets its own groups.
    """

    def __init__(self, config: GroupConfig, rng: Random, topics: TopicNames) -> None:
        raise NotImplementedError

    @property
    def next_deadline_ms(self) -> int | None:
        """When ``tick`` has something to do, None when nothing waits."""
        raise NotImplementedError

    def replay(self, key: bytes, value: bytes | None, *, timestamp_ms: int) -> None:
        """Take one record of the partition into account; what other group types wrote is kept."""
        raise NotImplementedError

    def loaded(self, now_ms: int) -> Effects:
        """Start the clocks of what was replayed: sessions of members, expiry of offsets."""
        raise NotImplementedError

    def step(
        self,
        request: msgspec.Struct,
        *,
        version: int,
        caller: Caller,
        reply_to: object,
        now_ms: int,
    ) -> Effects:
        """What follows from *request*: exactly one reply to *reply_to*, now or in a later step."""
        raise NotImplementedError

    def tick(self, now_ms: int) -> Effects:
        """What follows from the time: every deadline up to *now_ms* has had its effect."""
        raise NotImplementedError

    def topics_deleted(self, names: frozenset[str], now_ms: int) -> Effects:
        """Tombstones for every offset committed to these topics."""
        raise NotImplementedError

    def unload(self, code: ErrorCode) -> Effects:
        """Replies with *code* for every caller that waits inside; the shard is of no use after."""
        raise NotImplementedError
