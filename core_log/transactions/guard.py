"""Which connection may speak for a transactional id: the guard for clients of version 1.

**The hole.** Before transaction version 2 the epoch stays the same from one transaction to the
next. A client whose EndTxn is not answered in time gives the connection up and asks again on a new
one; the first EndTxn may still lie in a network buffer. If it arrives after the client has begun
its next transaction, it has the right producer id, the right epoch and the right state, and commits
half of that transaction (KAFKA-17754). A delayed AddPartitionsToTxn or AddOffsetsToTxn starts a
transaction that nobody ends. Version 2 closes this by raising the epoch (KIP-890); librdkafka and
old Java clients do not speak it.

**What the guard does.** Within a connection TCP keeps the order, so a request can only overtake
another by travelling on another connection, and a client opens the new one after it has given the
old one up. Connections are numbered in the order in which this broker accepted them. For each
transactional id the guard keeps the newest number on which a request with the right producer id and
epoch came, or on which a producer was initialized, and refuses EndTxn, AddPartitionsToTxn and
AddOffsetsToTxn of version 1 on an older one. The client is told NOT_COORDINATOR and the
connection is closed. Behind a stale request there is nobody to care. An honest client that
alternates between connections looks the coordinator up again, connects, and its retry comes on the
newest connection there is: it is served, at the price of one round trip.

A TxnOffsetCommit goes to the group's coordinator, on a connection that clients keep for that; it
has a guard of its own, which the broker asks before it takes the offsets. Else a late one would put
the position of the last transaction into the next, and what was done would be done again.

A fenced producer does not get this far: its epoch is wrong, and it must not make its connection
the newest.

**After a load** the numbers are forgotten. A connection that was there before may carry a request
that an earlier shard has seen the successor of, so the runtime says where new numbers begin
(``connections_before``) and older connections are refused once. A stale request that went to
another broker, which coordinated before, is refused there for not coordinating.

**What is left open.**

- Something between client and broker that accepts connections in one order and opens its own in
  another, or that puts several clients' requests on pooled ones: then a number says nothing about
  who came first. Layer-4 balancers that open one connection for each they accept can invert two
  that are opened at almost the same moment, hardly a timeout apart.
- A client that uses two connections to its coordinator at once on purpose, the newer for what it
  has given up. None of the known ones does.
- Produce requests that are delayed: sequence numbers and the verification of KIP-890 part 1 are
  for those.
"""

from typing import final


@final
class Guard:
    """The newest connection of each transactional id of a shard."""

    def __init__(self) -> None:
        self._newest: dict[str, int] = {}
        self._before = 0

    def begin(self, *, connections_before: int) -> None:
        """Trust no connection with a number below *connections_before*."""
        self._before = connections_before

    def saw_producer(self, transactional_id: str, connection: int) -> None:
        """A producer was initialized on *connection*."""
        newest = self._newest.get(transactional_id, -1)
        self._newest[transactional_id] = max(newest, connection)

    def admits(self, transactional_id: str, connection: int) -> bool:
        """Whether a request of version 1 on *connection* may be served; then none older may be."""
        if connection < max(self._before, self._newest.get(transactional_id, -1)):
            return False
        self._newest[transactional_id] = connection
        return True

    def forget(self, transactional_id: str) -> None:
        """The transactional id is gone."""
        self._newest.pop(transactional_id, None)
