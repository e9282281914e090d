"""One member, and what it says."""

import pytest

from headwater.core_log.groups.member import ClassicMember, GroupProtocol, distinct

MEMBER = ClassicMember(
    member_id="a",
    group_instance_id=None,
    client_id="a",
    client_host="",
    rebalance_timeout_ms=1,
    session_timeout_ms=1,
    protocol_type="consumer",
    protocols=(GroupProtocol("sticky", b"s"), GroupProtocol("range", b"r")),
)


def test_a_member_votes_for_what_it_named_first() -> None:
    """Of what is on offer."""
    assert MEMBER.vote({"range", "sticky"}) == "sticky"
    assert MEMBER.vote({"range", "other"}) == "range"


def test_metadata_of_a_protocol() -> None:
    """Each protocol has its own."""
    assert MEMBER.metadata("range") == b"r"
    with pytest.raises(KeyError):
        MEMBER.metadata("other")


def test_a_protocol_named_twice_counts_once() -> None:
    """Otherwise one member would count as two supporters."""
    twice = [GroupProtocol("a", b"1"), GroupProtocol("b", b"2"), GroupProtocol("a", b"3")]
    assert distinct(twice) == (GroupProtocol("a", b"1"), GroupProtocol("b", b"2"))
