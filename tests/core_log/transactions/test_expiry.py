"""What the time does."""

from headwater.core_log.kernel.effects import NO_EFFECTS
from headwater.core_log.protocol.messages.init_producer_id import InitProducerIdRequest

from .conversation import START_MS, Conversation

DAY_MS = 86_400_000
HOUR_MS = 3_600_000


def test_a_transaction_times_out() -> None:
    """At the first check after its time; its producer is fenced until it has aborted."""
    talk = Conversation()
    talk.run("a init timeout=15000\na add t-0")
    talk.check("""
        + 10000
        a add t-1
            log x Ongoing 1/0 t-0 t-1 v2
            a NONE
        + 9999
        + 1
            log x PrepareAbort 1/1 t-0 t-1 v2
            order x 1/1 abort v2 epoch 7: t-0,t-1
            note transaction_timed_out
        a add t-2
            a PRODUCER_FENCED
        a commit
            a INVALID_TXN_STATE
        a abort
            a CONCURRENT_TRANSACTIONS
        markers
            log x CompleteAbort 1/1 v2
        a commit
            a INVALID_TXN_STATE
        a abort
            a NONE 1/1
        a add t-0
            log x Ongoing 1/1 t-0 v2
            a NONE
    """)


def test_a_transaction_of_version_1_times_out() -> None:
    """Its producer can only start anew."""
    talk = Conversation()
    talk.run("old init timeout=5000\nold add t-0")
    talk.check("""
        + 10000
            log x PrepareAbort 1/1 t-0 v2
            order x 1/1 abort v2 epoch 7: t-0
            note transaction_timed_out
        markers
            log x CompleteAbort 1/1 v2
        old abort
            old PRODUCER_FENCED
        old keep
            log x Empty 1/1 v2
            old NONE 1/1
    """)


def test_the_time_out_is_not_over_at_its_end() -> None:
    """One millisecond later it is."""
    for timeout, aborted in ((10_000, False), (9_999, True)):
        talk = Conversation()
        talk.run(f"a init timeout={timeout}\na add t-0")
        assert ("PrepareAbort" in talk.run("+ 10000")) is aborted


def test_several_transactions_time_out_on_their_own() -> None:
    """What rests or ends is left alone; each record stands for itself."""
    talk = Conversation()
    talk.run("a init id=x timeout=5\na add t-0 id=x")
    talk.run("b init id=y timeout=5\nb add t-0 id=y\nb commit id=y")
    talk.run("c init id=z timeout=5\nc add t-0 id=z\nd init id=w timeout=5")
    said = talk.run("+ 10000")
    assert [line.split()[1] for line in said.splitlines() if "log" in line] == ["x", "z"]
    assert not talk.shard.tick(talk.now_ms + 10_000).atomic


def test_without_a_producer_id_the_next_check_finds_it_again() -> None:
    """A transaction at the last epoch needs one."""
    talk = Conversation()
    talk.run("a init timeout=5\nepoch 32766\na add t-0 as=1/32766\nno-ids")
    talk.check("""
        + 10000
        ids
        + 10000
            log x PrepareAbort 1/32767 t-0 then 2/0 v2
            order x 1/32767 abort v2 epoch 7: t-0
            note transaction_timed_out
    """)


def test_after_a_load_the_clock_of_a_transaction_runs_on() -> None:
    """It counts from the start of the transaction, not of the shard."""
    talk = Conversation()
    talk.run("a init timeout=15000\na add t-0\n+ 8000\ncrash")
    talk.check("""
        + 9999
        + 1
            log x PrepareAbort 1/1 t-0 v2
            order x 1/1 abort v2 epoch 8: t-0
            note transaction_timed_out
    """)


def test_unused_ids_expire() -> None:
    """Seven days after the last change, at the first check of the hour."""
    talk = Conversation(abort_check_ms=HOUR_MS)
    talk.run("a init\nb init id=y\nc init id=z\nb add t-0 id=y timeout=1")
    talk.run("a init id=w\na add t-0 id=w\na commit id=w\nmarkers")
    talk.run("+ 3600000")  # y has timed out by now
    talk.check(f"""
        + {7 * DAY_MS - HOUR_MS - 1}
        + 1
            log x gone
            log z gone
            log w gone
            note transactional_id_expired
            note transactional_id_expired
            note transactional_id_expired
        a add t-0
            a INVALID_PRODUCER_ID_MAPPING
        a describe y
            a y NONE PrepareAbort 2/1 timeout 60000 start 0 t-0
        a init id=x
            log x Empty 5/0
            a NONE 5/0
    """)


def test_an_id_whose_transaction_is_not_over_does_not_expire() -> None:
    """Markers may wait for a partition that is offline for weeks."""
    talk = Conversation(abort_check_ms=HOUR_MS)
    talk.run(f"a init\na add t-0\na commit\n+ {8 * DAY_MS}")
    assert talk.transaction().state.value == "PrepareCommit"


def test_a_change_keeps_an_id_alive() -> None:
    """The seven days begin again with it."""
    talk = Conversation(abort_check_ms=HOUR_MS)
    talk.run(f"a init\n+ {HOUR_MS}\na init")
    assert "gone" not in talk.run(f"+ {7 * DAY_MS - 1}")
    assert "gone" in talk.run("+ 1")


def test_an_id_that_is_gone_is_forgotten_by_the_guard() -> None:
    """A stranger may use it on any connection."""
    talk = Conversation(abort_check_ms=HOUR_MS)
    talk.run(f"old init on=5\n+ {7 * DAY_MS}\nold init on=3")
    assert "NONE" in talk.run("old add t-0 on=4")


def test_many_ids_expire_in_steps() -> None:
    """Between two of them requests are served."""
    talk = Conversation(transactional_id_expiration_ms=1)
    for number in range(1_001):
        _make(talk, number)
    now_ms = START_MS + HOUR_MS
    assert talk.shard.next_deadline_ms == START_MS + 10_000
    counts = []
    while (talk.shard.next_deadline_ms or 0) <= now_ms:
        effects = talk.shard.tick(now_ms)
        counts.append(len(effects.records))
        assert not effects.atomic
    assert counts == [1_000, 1]
    assert talk.shard.next_deadline_ms == now_ms + 10_000


def _make(talk: Conversation, number: int) -> None:
    """An id without the conversation's checks, which replay the log each time."""
    request = InitProducerIdRequest(transactional_id=f"x{number}", transaction_timeout_ms=5)
    talk.shard.step(request, version=5, connection=1, reply_to=1, now_ms=START_MS)


def test_before_the_load_nothing_is_due() -> None:
    """A shard that reads must not act."""
    talk = Conversation()
    shard = type(talk.shard)(talk.config, talk.ids, talk.cluster)
    assert shard.next_deadline_ms is None
    effects = shard.tick(START_MS)
    assert (effects.records, effects.replies) == (NO_EFFECTS.records, NO_EFFECTS.replies)
