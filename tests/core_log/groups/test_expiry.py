"""What goes because of the time, or because its topic went."""

from headwater.core_log.groups import expiry

from .conversation import Conversation

RETENTION = {"offsets_retention_ms": 60_000, "offsets_retention_check_ms": 10_000}


def test_offsets_of_a_simple_group_age_from_their_commit() -> None:
    """The group goes with its last offset."""
    Conversation(**RETENTION).check("""
        x commit nobody t/0=1
            log g t/0=1
            x t/0=ok
        + 5000
        x commit nobody t/1=1
            log g t/1=1
            x t/1=ok
        + 54999
        + 1
            60000 log g t/0 deleted
        x list
            x lists g::Empty:classic
        + 10000
            70000 log g t/1 deleted
            70000 log g deleted
        x list
            x lists
    """)


def test_offsets_of_a_group_age_from_the_moment_it_is_empty() -> None:
    """However old their commit is (KIP-211)."""
    conversation = Conversation(**RETENTION)
    conversation.run("a join v=3 session=50000\n+ 3000\na sync a1=0\na commit t/0=1")
    conversation.check("""
        + 40000
        a beat
            a ok
        + 40000
        a leave
            log g 2 empty
            a left a1=ok
        + 50000
        + 17000
            150000 log g t/0 deleted
            150000 log g deleted
    """)


def test_in_a_stable_group_the_topics_that_nobody_consumes_age() -> None:
    """From their commit, while the others stay for ever."""
    conversation = Conversation(**RETENTION)
    conversation.run("a join v=3 session=200000\n+ 3000\na sync a1=0\na commit t/0=1 u/0=1")
    conversation.check("""
        + 60000
        + 7000
            70000 log g u/0 deleted
        + 100000
        a fetch
            a fetched t/0=1
    """)


def test_during_a_rebalance_nothing_ages() -> None:
    """Nobody knows what the group will consume."""
    conversation = Conversation(**RETENTION)
    conversation.run("a join v=3 session=200000 timeout=100000\n+ 3000\na sync a1=0")
    conversation.check("""
        a commit u/0=1
            log g u/0=1
            a u/0=ok
        + 6000
        b join v=3 session=200000
        + 80000
        a join topics=t,u
            a joined 2 range as a1 leads a1 b1
            b joined 2 range as b1 follows a1
        + 10000
        a sync a1=0
            log g 2 range leads a1: a1=0 b1=
            a assigned 0
        + 10000
        a fetch
            a fetched u/0=1
    """)


def test_offsets_of_members_that_nobody_can_read_stay() -> None:
    """Connect's members do not say which topics they need."""
    conversation = Conversation(**RETENTION)
    conversation.run("a join v=3 session=200000 type=connect\n+ 3000\na sync a1=0")
    conversation.check("""
        a commit u/0=1
            log g u/0=1
            a u/0=ok
        + 100000
        a leave
            log g 2 empty
            a left a1=ok
        + 50000
        + 20000
            170000 log g u/0 deleted
            170000 log g deleted
    """)


def test_an_offset_goes_when_its_client_said_so() -> None:
    """Old clients choose the time, for better or worse."""
    Conversation(**RETENTION).check("""
        x commit nobody t/0=1 keep=15000 v=4
            log g t/0=1
            x t/0=ok
        x commit nobody t/1=1 keep=90000 v=4
            log g t/1=1
            x t/1=ok
        + 20000
            20000 log g t/0 deleted
        + 60000
        + 10000
            90000 log g t/1 deleted
            90000 log g deleted
    """)


def test_a_group_without_members_and_offsets_goes_at_once() -> None:
    """It has nothing to remember; one that a member is about to join stays."""
    Conversation(**RETENTION).check("""
        a join session=15000
            log g 0 empty
            a MEMBER_ID_REQUIRED a1
        + 19999
        + 1
            20000 log g deleted
    """)


def test_offsets_of_deleted_topics_go() -> None:
    """Of all groups, of foreign ones too; other topics and the groups stay."""
    conversation = Conversation()
    conversation.run("x commit nobody t/0=1 t/1=2 u/0=3\nx commit group=h nobody t/2=1")
    conversation.check("""
        delete-topic t
            log g t/0 deleted
            log g t/1 deleted
            log h t/2 deleted
        x fetch
            x fetched u/0=3
        x list
            x lists g::Empty:classic h::Empty:classic
        delete-topic v
    """)


def test_a_long_search_is_cut_into_steps() -> None:
    """The rest is due at once, so that heartbeats get their turn in between."""
    conversation = Conversation(**RETENTION)
    count = expiry._GROUPS_PER_STEP + 1
    for number in range(count):
        conversation.run(f"x commit nobody group=g{number} t/0=1")
    shard, due_ms = conversation.shard, conversation.now_ms + 60_000
    conversation.run("+ 59999")
    first = shard.tick(due_ms)
    assert len(first.records) == 2 * expiry._GROUPS_PER_STEP
    assert not first.atomic
    assert shard.next_deadline_ms == due_ms
    second = shard.tick(due_ms)
    assert len(second.records) == 2
    assert shard.next_deadline_ms == due_ms + 10_000


def test_a_group_that_goes_between_two_steps_is_passed_over() -> None:
    """Its administrator was quicker."""
    conversation = Conversation(**RETENTION)
    count = expiry._GROUPS_PER_STEP + 1
    for number in range(count):
        conversation.run(f"x commit nobody group=g{number} t/0=1")
    shard, due_ms = conversation.shard, conversation.now_ms + 60_000
    conversation.run("+ 59999")
    shard.tick(due_ms)
    conversation.run(f"x delete g{count - 1}")
    assert shard.tick(due_ms).records == ()


def test_a_search_stops_early_at_groups_with_many_offsets() -> None:
    """What one step appends has a bound."""
    conversation = Conversation(**RETENTION)
    places = " ".join(f"{topic}/{index}=1" for topic in "tuv" for index in range(4))
    count = expiry._OFFSETS_PER_STEP // 12
    for number in range(count):
        conversation.run(f"x commit nobody group=g{number} {places}")
    due_ms = conversation.now_ms + 60_000
    conversation.run("+ 59999")
    records = len(conversation.shard.tick(due_ms).records)
    assert expiry._OFFSETS_PER_STEP <= records < expiry._OFFSETS_PER_STEP + 13
