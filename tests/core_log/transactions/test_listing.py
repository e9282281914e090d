"""What operators see."""

from .conversation import Conversation


def some() -> Conversation:
    talk = Conversation()
    talk.run("a init id=orders-1\na add t-0 t-1 u-0 id=orders-1\n+ 1000")
    talk.run("b init id=orders-2 timeout=5000\nb add t-0 id=orders-2\nb commit id=orders-2")
    talk.run("c init id=bills")
    return talk


def test_a_description_tells_all() -> None:
    """Of an id that is known; others have their error."""
    some().check("""
        a describe orders-1 orders-2 bills other ""
            a orders-1 NONE Ongoing 1/0 timeout 60000 start 0 t-0 t-1 u-0
            a orders-2 NONE PrepareCommit 2/1 timeout 5000 start 1000 t-0
            a bills NONE Empty 3/0 timeout 60000 start never
            a other TRANSACTIONAL_ID_NOT_FOUND
            a "" INVALID_REQUEST
    """)


def test_a_list_passes_every_filter() -> None:
    """By state, producer id, duration and pattern; unknown states are named."""
    some().check("""
        a list
            a NONE orders-1:1:Ongoing orders-2:2:PrepareCommit bills:3:Empty
        a list Ongoing Empty
            a NONE orders-1:1:Ongoing bills:3:Empty
        a list Dead
            a NONE
        a list Ongoing nonsense ongoing
            a NONE ?nonsense ?ongoing orders-1:1:Ongoing
        a list nonsense
            a NONE ?nonsense
        a list pid=2,3,9
            a NONE orders-2:2:PrepareCommit bills:3:Empty
        a list Empty pid=2
            a NONE
        a list like=orders-.*
            a NONE orders-1:1:Ongoing orders-2:2:PrepareCommit
        a list like=orders
            a NONE
        a list like=
            a NONE orders-1:1:Ongoing orders-2:2:PrepareCommit bills:3:Empty
        a list like=(orders)
            a INVALID_REGULAR_EXPRESSION
            note transactions_pattern_refused
    """)


def test_a_duration_is_to_be_exceeded() -> None:
    """What has not begun is older than any, as with Kafka."""
    talk = some()
    talk.check("""
        a list Ongoing PrepareCommit longer=999
            a NONE orders-1:1:Ongoing
        a list Ongoing PrepareCommit longer=1000
            a NONE
        a list PrepareCommit longer=0
            a NONE
        + 1
        a list longer=1000
            a NONE orders-1:1:Ongoing bills:3:Empty
        a list longer=0
            a NONE orders-1:1:Ongoing orders-2:2:PrepareCommit bills:3:Empty
    """)


def test_a_pattern_has_a_bound() -> None:
    """And the longest that may be is read."""
    talk = Conversation(pattern_chars_max=5)
    talk.run("a init id=aaaaa")
    talk.check("""
        a list like=aaaaa
            a NONE aaaaa:1:Empty
        a list like=aaaa.*
            a INVALID_REGULAR_EXPRESSION
            note transactions_pattern_refused
    """)
