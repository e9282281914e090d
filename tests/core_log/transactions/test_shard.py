"""The shard's surface."""

import pytest

from headwater.core_log.kernel.effects import NO_EFFECTS
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.coordinator.frames import UnreadableRecordError
from headwater.core_log.protocol.messages.heartbeat import HeartbeatRequest

from .conversation import Conversation


def test_requests_of_others_are_our_bug() -> None:
    """The runtime sends them to other shards."""
    talk = Conversation()
    with pytest.raises(AssertionError, match="HeartbeatRequest is not for transactions"):
        talk.shard.step(HeartbeatRequest(), version=0, connection=1, reply_to=1, now_ms=1)


def test_nobody_waits_inside() -> None:
    """Every answer goes out with the step that it answers."""
    talk = Conversation()
    talk.run("a init\na add t-0\na commit")
    assert talk.shard.unload(ErrorCode.NOT_COORDINATOR) == NO_EFFECTS


def test_replay_takes_the_last_record_of_each_id() -> None:
    """Tombstones and records of types that nobody knows among them."""
    talk = Conversation()
    talk.run("a init\na init id=y\na init")
    talk.log.append((talk.log[1][0], None))
    talk.log.append((talk.log[1][0], None))
    talk.log.append((b"\0\x09new", b"\0\0"))
    talk.check("""
        crash
        a describe x y
            a x NONE Empty 1/1 timeout 60000 start never
            a y TRANSACTIONAL_ID_NOT_FOUND
    """)
    with pytest.raises(UnreadableRecordError):
        talk.shard.replay(b"\0\0", None, timestamp_ms=0)


def test_check_looks_at_every_transaction() -> None:
    """And at the name it is kept under."""
    talk = Conversation()
    talk.run("a init\na init id=y")
    talk.shard.check()
    talk.transaction("y").producer_epoch = -1
    with pytest.raises(AssertionError):
        talk.shard.check()
    talk = Conversation()
    talk.run("a init")
    talk.transaction().transactional_id = "z"
    with pytest.raises(AssertionError):
        talk.shard.check()


def test_a_shard_says_how_much_it_holds() -> None:
    """In log lines."""
    talk = Conversation()
    talk.run("a init\na init id=y")
    assert repr(talk.shard) == "<TransactionShard [2 transactional ids]>"
