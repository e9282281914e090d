"""Where a group stands, read back."""

import pytest

from headwater.core_log.kernel.effects import Caller
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)

from .conversation import START_MS, Conversation


@pytest.mark.parametrize("version", [1, 2, 5, 7, 8, 9, 10])
def test_every_version_reads_the_same_offsets(version: int) -> None:
    """-1 where there is none, in known and unknown partitions and groups; that is no error."""
    epoch = "@4" if version >= 5 else ""
    Conversation().check(f"""
        x commit nobody t/0=5 epoch=4 note=3
            log g t/0=5
            x t/0=ok
        x fetch t/0 t/1 v={version}
            x fetched t/0=5{epoch}+3 t/1=-1
        x fetch group=nope t/0 v={version}
            x fetched t/0=-1
    """)


@pytest.mark.parametrize("version", [2, 7, 8, 9, 10])
def test_without_topics_all_offsets_are_read(version: int) -> None:
    """Version 1 knows no such request."""
    Conversation().check(f"""
        x fetch v={version}
            x fetched nothing
        x commit nobody t/0=5 u/1=6
            log g t/0=5
            log g u/1=6
            x t/0=ok u/1=ok
        x fetch v={version}
            x fetched t/0=5 u/1=6
    """)


def test_ids_find_only_the_topic_that_was_meant() -> None:
    """A topic that was deleted and made anew has no offsets; a name cannot tell."""
    Conversation().check("""
        x commit nobody t/0=5 u/0=6
            log g t/0=5
            log g u/0=6
            x t/0=ok u/0=ok
        x fetch w/0 t/0 v=10
            x fetched ?/0=UNKNOWN_TOPIC_ID t/0=5
        recreate-topic t
        x fetch t/0 v=10
            x fetched T/0=-1
        x fetch v=10
            x fetched T/0=-1 u/0=6
        x fetch t/0 v=9
            x fetched t/0=5
    """)


def test_where_topics_go_by_id_those_that_are_gone_are_left_out() -> None:
    """There is no id to name them by."""
    conversation = Conversation()
    conversation.run("x commit nobody t/0=5 u/0=6")
    conversation.topics.names.discard("t")
    conversation.check("""
        x fetch v=10
            x fetched u/0=6
        x fetch v=9
            x fetched t/0=5 u/0=6
    """)


@pytest.mark.parametrize("version", [7, 8, 9, 10])
def test_who_asks_for_stability_waits_for_open_transactions(version: int) -> None:
    """At the partition, named or not; without topics even where there is no offset yet."""
    conversation = Conversation()
    conversation.run("x commit nobody t/0=5 t/1=6\nx txn-commit nobody t/0=7 u/1=8")
    conversation.check(f"""
        x fetch t/0 t/1 u/1 u/2 v={version} stable
            x fetched t/0=UNSTABLE_OFFSET_COMMIT t/1=6 u/1=UNSTABLE_OFFSET_COMMIT u/2=-1
        x fetch v={version} stable
            x fetched t/0=UNSTABLE_OFFSET_COMMIT t/1=6 u/1=UNSTABLE_OFFSET_COMMIT
        x fetch t/0 u/1 v={version}
            x fetched t/0=5 u/1=-1
        x fetch v={version}
            x fetched t/0=5 t/1=6
        end 7 commit
        x fetch v={version} stable
            x fetched t/0=7 t/1=6 u/1=8
    """)


def test_several_groups_in_one_request() -> None:
    """KIP-709: each has its own answer."""
    conversation = Conversation()
    conversation.run("x commit nobody t/0=5\nx commit group=h nobody t/0=6")
    request = OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id=g, topics=None) for g in ("g", "h", "nope")]
    )
    effects = conversation.shard.step(
        request, version=8, caller=Caller(), reply_to=0, now_ms=START_MS
    )
    (reply,) = effects.replies_after_commit
    assert isinstance(reply.response, OffsetFetchResponse)
    read = {
        group.group_id: [p.committed_offset for t in group.topics for p in t.partitions]
        for group in reply.response.groups
    }
    assert read == {"g": [5], "h": [6], "nope": []}


@pytest.mark.parametrize("version", [1, 7, 8])
def test_an_answer_waits_for_the_log(version: int) -> None:
    """Nobody is told an offset that a failed append takes back."""
    conversation = Conversation()
    request = OffsetFetchRequest(
        group_id="g",
        topics=[OffsetFetchRequestTopic(name="t", partition_indexes=[0])],
        groups=[OffsetFetchRequestGroup(group_id="g", topics=None)],
    )
    effects = conversation.shard.step(
        request, version=version, caller=Caller(), reply_to=0, now_ms=START_MS
    )
    assert not effects.replies
    (reply,) = effects.replies_after_commit
    failed = reply.on_failure(ErrorCode.KAFKA_STORAGE_ERROR)
    assert isinstance(failed, OffsetFetchResponse)
    codes = {
        1: lambda: failed.topics[0].partitions[0].error_code,
        7: lambda: failed.error_code,
        8: lambda: failed.groups[0].error_code,
    }
    assert codes[version]() == ErrorCode.NOT_COORDINATOR
