"""AddPartitionsToTxn, AddOffsetsToTxn, and the look-up of KIP-890."""

import pytest

from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.coordinator.frames import batch_bytes
from headwater.core_log.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest

from .conversation import Conversation


def test_the_first_partition_starts_a_transaction() -> None:
    """Partitions that have joined cost nothing; offsets of a group are a partition too."""
    Conversation().check("""
        old init
            log x Empty 1/0
            old NONE 1/0
        old add t-0 u-1
            log x Ongoing 1/0 t-0 u-1
            old NONE
        old add u-1 t-0 v=0
            old NONE
        old add u-1 u-1 u-2
            log x Ongoing 1/0 t-0 u-1 u-2
            old NONE
        old offsets g
            log x Ongoing 1/0 t-0 u-1 u-2 __consumer_offsets-3
            old NONE
        old offsets g
            old NONE
        old add
            old nothing
    """)


def test_a_request_without_partitions_starts_nothing() -> None:
    """An empty transaction could be committed, and would be nobody's."""
    talk = Conversation()
    talk.run("a init")
    talk.check("""
        a add
            a nothing
        old add as=1/0
            old nothing
    """)


@pytest.mark.parametrize(
    ("who", "code"),
    [
        ("id=y", "INVALID_PRODUCER_ID_MAPPING"),
        ("as=2/0", "INVALID_PRODUCER_ID_MAPPING"),
        ("as=-1/-1", "INVALID_PRODUCER_ID_MAPPING"),
        ("as=1/0", "PRODUCER_FENCED"),
        ("as=1/2", "PRODUCER_FENCED"),
        ("as=1/-1", "PRODUCER_FENCED"),
        ("id=", "INVALID_REQUEST"),
    ],
)
def test_only_the_producer_at_hand_may_add_and_ask(who: str, code: str) -> None:
    """Each way of being somebody else has its error, old and new requests alike."""
    talk = Conversation()
    talk.run("a init\na keep")
    for line in (f"a add t-0 {who}", f"a add t-0 {who} v=3", f"a offsets g {who}"):
        assert talk.run(line).splitlines()[1:] == [f"    a {code}"], line
    assert talk.run(f"a verify t-0 {who}").splitlines()[1:] == [f"    a {code}"]


def test_nothing_joins_while_markers_are_written() -> None:
    """Nor is anything found: records that come now belong to the next transaction."""
    talk = Conversation()
    talk.run("a init\na add t-0\na commit")
    talk.check("""
        a add t-0
            a CONCURRENT_TRANSACTIONS
        a offsets g
            a CONCURRENT_TRANSACTIONS
        a verify t-0
            a CONCURRENT_TRANSACTIONS
        markers
            log x CompleteCommit 1/1 v2
        a verify t-0
            a TRANSACTION_ABORTABLE
        a add t-0
            log x Ongoing 1/1 t-0 v2
            a NONE
        a verify t-0 t-1
            a t-0:NONE t-1:TRANSACTION_ABORTABLE
    """)


def test_a_producer_with_a_new_id_waits_for_the_markers_too() -> None:
    """Kafka calls its id unknown until they are written, and the producer gives up."""
    talk = Conversation()
    talk.run("a init\nepoch 32766\na add t-0 as=1/32766\na commit as=1/32766")
    talk.check("""
        a add t-0 as=2/0
            a CONCURRENT_TRANSACTIONS
        a verify t-0 as=2/0
            a CONCURRENT_TRANSACTIONS
        a commit as=2/0
            a CONCURRENT_TRANSACTIONS
        a add t-0 as=2/1
            a INVALID_PRODUCER_ID_MAPPING
        markers
            log x CompleteCommit 2/0 v2
        a add t-0 as=2/0
            log x Ongoing 2/0 t-0 v2
            a NONE
    """)


def test_a_look_up_says_what_the_transaction_holds() -> None:
    """In process, for a broker that leads the partition and coordinates."""
    talk = Conversation()
    talk.run("a init\na add t-0")
    verify = talk.shard.verify
    assert verify("x", 1, 0, "t", 0) is ErrorCode.NONE
    assert verify("x", 1, 0, "t", 1) is ErrorCode.TRANSACTION_ABORTABLE
    assert verify("x", 2, 0, "t", 0) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert verify("x", 1, 1, "t", 0) is ErrorCode.PRODUCER_FENCED
    assert verify("", 1, 0, "t", 0) is ErrorCode.INVALID_REQUEST
    talk.run("a abort")
    assert verify("x", 1, 1, "t", 0) is ErrorCode.CONCURRENT_TRANSACTIONS


def test_without_the_offsets_topic_clients_wait() -> None:
    """It is made when the group's coordinator is looked for."""
    talk = Conversation()
    talk.run("a init")
    talk.check("""
        no-offsets
        a offsets g
            a COORDINATOR_NOT_AVAILABLE
    """)


def test_a_transaction_has_so_many_partitions_and_no_more() -> None:
    """It goes on without the ones that were refused."""
    talk = Conversation(transaction_partitions_max=3)
    talk.run("a init\na add t-0 t-1")
    talk.check("""
        a add t-1 t-2 t-3
            a POLICY_VIOLATION
            note transaction_too_large
        a add t-1 t-2
            log x Ongoing 1/0 t-0 t-1 t-2 v2
            a NONE
        a add t-0
            a NONE
    """)


@pytest.mark.parametrize("name_length", [1, 30, 249])
def test_the_record_of_a_transaction_fits_into_a_batch(name_length: int) -> None:
    """Or its end could not be written."""
    bound = 600 + 4 * name_length
    talk = Conversation(batch_bytes_max=bound, transaction_partitions_max=10_000)
    talk.run("a init\nepoch 32766")
    name, count = "t" * name_length, 0
    while "NONE" in talk.run(f"a add {name}{count}-{count} as=1/32766"):
        count += 1
    talk.run("a commit as=1/32766")
    assert talk.transaction().next_producer_id == 2  # the longest record there is
    assert bound * 0.6 < batch_bytes([talk.log[-1]]) <= bound


def test_a_request_names_one_transaction() -> None:
    """The caller cuts it up, as transactions of one request may be in several shards."""
    talk = Conversation()
    with pytest.raises(AssertionError, match="cuts"):
        talk.shard.step(AddPartitionsToTxnRequest(), version=4, connection=1, reply_to=1, now_ms=1)
