"""Records of __consumer_offsets, against bytes that Apache Kafka 4.3 wrote."""

import pytest

from headwater.core_log.groups.classic import ClassicGroup, ClassicGroupState
from headwater.core_log.groups.committed import CommittedOffset
from headwater.core_log.groups.member import ClassicMember, GroupProtocol
from headwater.core_log.groups.records import (
    ForeignGroupRecord,
    GroupRecord,
    OffsetRecord,
    group_record,
    group_tombstone,
    offset_record,
    read_record,
)
from headwater.core_log.protocol.coordinator.frames import UnreadableRecordError, batch_bytes

NOW_MS = 1_700_000_000_000
SUBSCRIPTION = bytes.fromhex("0001000000010001 74ffffffff00000000")

GROUP_KEY = bytes.fromhex("0002000167")
GROUP_VALUES = {
    0: "00000008636f6e73756d657200000007000572616e67650003612d31000000010003612d31000161000a2f3132"
    "372e302e302e310000afc800000011000100000001000174ffffffff0000000000000003010203",
    1: "00010008636f6e73756d657200000007000572616e67650003612d31000000010003612d31000161000a2f3132"
    "372e302e302e310000ea600000afc800000011000100000001000174ffffffff0000000000000003010203",
    2: "00020008636f6e73756d657200000007000572616e67650003612d310000018bcfe56800000000010003612d31"
    "000161000a2f3132372e302e302e310000ea600000afc800000011000100000001000174ffffffff000000000000"
    "0003010203",
    3: "00030008636f6e73756d657200000007000572616e67650003612d310000018bcfe56800000000010003612d31"
    "000169000161000a2f3132372e302e302e310000ea600000afc800000011000100000001000174ffffffff000000"
    "0000000003010203",
    4: "000409636f6e73756d6572000000070672616e676504612d310000018bcfe568000204612d31026902610b2f31"
    "32372e302e302e310000ea600000afc812000100000001000174ffffffff00000000040102030000",
}
EMPTY_GROUP_VALUE = bytes.fromhex("0003000000000000ffffffff0000018bcfe5680000000000")
OFFSET_KEY = bytes.fromhex("000100016700017400000003")
OFFSET_VALUES = {
    0: "0000000000000000000500046e6f74650000018bcfe56800",
    1: "0001000000000000000500046e6f74650000018bcfe568000000018bcfe57b88",
    2: "0002000000000000000500046e6f74650000018bcfe56800",
    3: "000300000000000000050000000400046e6f74650000018bcfe56800",
    4: "0004000000000000000500000004056e6f74650000018bcfe56800010010" + "74" * 16,
}


def a_group() -> ClassicGroup:
    group = ClassicGroup("g", now_ms=NOW_MS)
    group.add(
        ClassicMember(
            member_id="a-1",
            group_instance_id="i",
            client_id="a",
            client_host="/127.0.0.1",
            rebalance_timeout_ms=60_000,
            session_timeout_ms=45_000,
            protocol_type="consumer",
            protocols=(GroupProtocol("sticky", b"?"), GroupProtocol("range", SUBSCRIPTION)),
            assignment=b"\1\2\3",
        )
    )
    group.generation_id = 7
    group.protocol_name = "range"
    group.state = ClassicGroupState.STABLE
    return group


def test_a_group_is_written_as_kafka_writes_it() -> None:
    """Only the protocol in force is kept of what the member said."""
    assert group_record(a_group()) == (GROUP_KEY, bytes.fromhex(GROUP_VALUES[3]))


def test_a_group_without_members_is_written_as_kafka_writes_it() -> None:
    """Empty and null are not the same on the wire."""
    assert group_record(ClassicGroup("g", now_ms=NOW_MS)) == (GROUP_KEY, EMPTY_GROUP_VALUE)
    assert group_tombstone("g") == (GROUP_KEY, None)


@pytest.mark.parametrize("version", range(5))
def test_groups_of_every_version_are_read(version: int) -> None:
    """Old ones lack the instance, the state's time and the rebalance timeout."""
    record = read_record(GROUP_KEY, bytes.fromhex(GROUP_VALUES[version]))
    assert isinstance(record, GroupRecord)
    group = record.group
    assert group is not None
    group.check()
    assert (group.group_id, group.generation_id, group.state.value) == ("g", 7, "Stable")
    assert (group.protocol_type, group.protocol_name, group.leader_id) == (
        "consumer",
        "range",
        "a-1",
    )
    assert group.state_timestamp_ms == (NOW_MS if version >= 2 else None)
    assert group.subscribed_topics == frozenset("t")
    assert group.members["a-1"] == ClassicMember(
        member_id="a-1",
        group_instance_id="i" if version >= 3 else None,
        client_id="a",
        client_host="/127.0.0.1",
        rebalance_timeout_ms=60_000 if version >= 1 else 45_000,
        session_timeout_ms=45_000,
        protocol_type="consumer",
        protocols=(GroupProtocol("range", SUBSCRIPTION),),
        assignment=b"\1\2\3",
    )


def test_an_empty_group_is_read() -> None:
    """A protocol type of no letters is none."""
    record = read_record(GROUP_KEY, EMPTY_GROUP_VALUE)
    assert isinstance(record, GroupRecord)
    assert record.group is not None
    record.group.check()
    assert record.group.protocol_type is None
    assert record.group.state is ClassicGroupState.EMPTY


@pytest.mark.parametrize("version", range(5))
@pytest.mark.parametrize("key", [OFFSET_KEY, b"\0\0" + OFFSET_KEY[2:]])
def test_offsets_of_every_version_are_read(version: int, key: bytes) -> None:
    """Under the key of the oldest brokers too."""
    record = read_record(key, bytes.fromhex(OFFSET_VALUES[version]))
    assert record == OffsetRecord(
        group_id="g",
        topic="t",
        partition=3,
        committed=CommittedOffset(
            offset=5,
            leader_epoch=4 if version >= 3 else -1,
            metadata="note",
            commit_timestamp_ms=NOW_MS,
            expire_timestamp_ms=NOW_MS + 5000 if version == 1 else None,
            topic_id=b"t" * 16 if version >= 4 else bytes(16),
        ),
    )


@pytest.mark.parametrize("version", [1, 4])
def test_offsets_are_written_as_kafka_writes_them(version: int) -> None:
    """Version 1 is the only one with room for an expiry that the client chose."""
    value = bytes.fromhex(OFFSET_VALUES[version])
    record = read_record(OFFSET_KEY, value)
    assert isinstance(record, OffsetRecord)
    assert offset_record("g", "t", 3, record.committed) == (OFFSET_KEY, value)


def test_tombstones() -> None:
    """A key without a value deletes what it names."""
    assert offset_record("g", "t", 3, None) == (OFFSET_KEY, None)
    gone = OffsetRecord(group_id="g", topic="t", partition=3, committed=None)
    assert read_record(OFFSET_KEY, None) == gone
    assert read_record(GROUP_KEY, None) == GroupRecord(group_id="g", group=None)


@pytest.mark.parametrize(
    ("key", "group_id"),
    [("0003000163", "c"), ("000b000173", "s"), ("0011000178", "x")],
)
def test_groups_of_other_protocols_are_seen(key: str, group_id: str) -> None:
    """A partition that Kafka wrote may hold consumer, share and streams groups."""
    data = bytes.fromhex(key)
    exists = ForeignGroupRecord(group_id=group_id, exists=True)
    assert read_record(data, bytes.fromhex("00000000000300")) == exists
    assert read_record(data, None) == ForeignGroupRecord(group_id=group_id, exists=False)


@pytest.mark.parametrize("key", ["000500016300016d", "0007", "7fff", "ffff00"])
def test_other_records_are_passed_over(key: str) -> None:
    """Whatever they are, some other coordinator wrote them and will want them back."""
    assert read_record(bytes.fromhex(key), b"\0\0") is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"", b""),
        (b"\0", b""),
        (OFFSET_KEY[:-1], None),
        (OFFSET_KEY + b"\0", None),
        (OFFSET_KEY, b""),
        (OFFSET_KEY, bytes.fromhex("0005") + b"\0" * 40),
        (OFFSET_KEY, bytes.fromhex("ffff") + b"\0" * 40),
        (GROUP_KEY, bytes.fromhex("0005") + b"\0" * 40),
        (GROUP_KEY, bytes.fromhex(GROUP_VALUES[3]) + b"\0"),
    ],
)
def test_broken_records_of_our_own_are_errors(key: bytes, value: bytes | None) -> None:
    """They name the record; to pass over them would forget offsets."""
    with pytest.raises(UnreadableRecordError, match=f"the key {key.hex()} cannot be read"):
        read_record(key, value)


@pytest.mark.parametrize("values", [OFFSET_VALUES, GROUP_VALUES])
def test_records_cut_short_anywhere_are_errors(values: dict[int, str]) -> None:
    """In every version, at every byte."""
    key = OFFSET_KEY if values is OFFSET_VALUES else GROUP_KEY
    for text in values.values():
        value = bytes.fromhex(text)
        for size in range(len(value)):
            with pytest.raises(UnreadableRecordError):
                read_record(key, value[:size])


def test_a_group_that_names_a_member_twice_is_an_error() -> None:
    """Two members with one id, or two with one instance, would break the group later."""
    value = bytes.fromhex(GROUP_VALUES[3])
    start = value.index(bytes.fromhex("00000001 0003612d31"))
    member = value[start + 4 :]
    two = bytes.fromhex("00000002")
    with pytest.raises(UnreadableRecordError, match="'a-1' twice"):
        read_record(GROUP_KEY, value[:start] + two + member + member)
    other = member.replace(b"a-1", b"a-2", 1)
    with pytest.raises(UnreadableRecordError, match="'a-2' twice"):
        read_record(GROUP_KEY, value[:start] + two + member + other)


def test_a_leader_that_is_no_member_is_replaced() -> None:
    """The record holds enough to go on."""
    value = bytes.fromhex(GROUP_VALUES[3]).replace(b"\0\3a-1", b"\0\3a-9", 1)
    record = read_record(GROUP_KEY, value)
    assert isinstance(record, GroupRecord)
    assert record.group is not None
    assert record.group.leader_id == "a-1"


def test_the_size_of_a_batch_is_not_underestimated() -> None:
    """61 bytes of header, and what varints take at most."""
    records = [(b"k" * 10, b"v" * 100), (b"k" * 10, None)]
    assert batch_bytes(records) >= 61 + 2 * 10 + 100 + 2 * 7
    assert batch_bytes([]) == 61
