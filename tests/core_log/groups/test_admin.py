"""What administrators see and delete."""

from .conversation import Conversation


def pair(**settings: int) -> Conversation:
    """Members a (leads) and b, stable in generation 1, six seconds after the start."""
    conversation = Conversation(**settings)
    conversation.run("a join v=3\nb join instance=i\n+ 6000\na sync a1=0 i1=1\nb sync")
    return conversation


def test_a_group_in_each_state() -> None:
    """What members said and got shows in a stable group only."""
    Conversation().check("""
        x describe
            x g Dead GROUP_ID_NOT_FOUND: Group g not found.
        a join v=3
            log g 0 empty
        x describe
            x g PreparingRebalance consumer a1
        + 3000
            3000 a joined 1 range as a1 leads a1
        x describe
            x g CompletingRebalance consumer a1
        a sync a1=0
            log g 1 range leads a1: a1=0
            a assigned 0
        x describe
            x g Stable consumer range a1=0
        a leave
            log g 2 empty
            a left a1=ok
        x describe
            x g Empty consumer
        x delete
            log g deleted
            x g=ok
        x describe v=5
            x g Dead
    """)


def test_several_groups_and_static_members() -> None:
    """In the order of the request; the instance stands beside the member."""
    pair().check("""
        x describe no g
            x no Dead GROUP_ID_NOT_FOUND: Group no not found.; g Stable consumer range a1=0 i1@i=1
    """)


def test_lists_by_state_and_type() -> None:
    """Names are compared without case; none means all; an unknown name fits nothing."""
    pair().check("""
        x commit nobody group=h t/0=1
            log h t/0=1
            x t/0=ok
        x list
            x lists g:consumer:Stable:classic h::Empty:classic
        x list v=3
            x lists g:consumer:: h:::
        x list states=stable
            x lists g:consumer:Stable:classic
        x list states=STABLE,empty types=Classic
            x lists g:consumer:Stable:classic h::Empty:classic
        x list states=Stabel
            x lists
        x list types=consumer
            x lists
        x list types=consumer,CLASSIC
            x lists g:consumer:Stable:classic h::Empty:classic
    """)


def test_a_group_without_members_can_be_deleted() -> None:
    """With all its offsets; the tombstone of the group is the last record."""
    pair().check("""
        a commit t/0=1 u/1=2
            log g t/0=1
            log g u/1=2
            a t/0=ok u/1=ok
        x delete g nope
            x g=NON_EMPTY_GROUP nope=GROUP_ID_NOT_FOUND
        x leave a1 @i
            log g 2 empty
            x left a1=ok i=ok
        x delete
            log g t/0 deleted
            log g u/1 deleted
            log g deleted
            x g=ok
        x fetch
            x fetched nothing
        x delete
            x g=GROUP_ID_NOT_FOUND
    """)


def test_a_group_that_is_deleted_while_a_member_joins() -> None:
    """The id that was handed out is worth nothing any more; no deadline of it is left."""
    conversation = Conversation()
    conversation.check("""
        a join
            log g 0 empty
            a MEMBER_ID_REQUIRED a1
        x delete
            log g deleted
            x g=ok
        a join
            a UNKNOWN_MEMBER_ID a1
        + 20000
    """)


def test_offsets_of_topics_that_nobody_consumes_can_be_deleted() -> None:
    """Partition by partition; one without an offset is no error."""
    pair().check("""
        a commit t/0=1 u/0=2 u/1=3
            log g t/0=1
            log g u/0=2
            log g u/1=3
            a t/0=ok u/0=ok u/1=ok
        x forget t/0 u/0 u/3 u/9
            log g u/0 deleted
            x t/0=GROUP_SUBSCRIBED_TO_TOPIC u/0=ok u/3=ok u/9=UNKNOWN_TOPIC_OR_PARTITION
        x forget w/0
            x w/0=UNKNOWN_TOPIC_OR_PARTITION
        x fetch
            x fetched t/0=1 u/1=3
        x leave a1 @i
            log g 2 empty
            x left a1=ok i=ok
        x forget t/0
            log g t/0 deleted
            x t/0=ok
    """)


def test_groups_that_allow_no_deletion_of_offsets() -> None:
    """One that is not there, and one whose members speak another language than consumers."""
    conversation = Conversation()
    conversation.run("a join v=3 type=connect\n+ 3000")
    conversation.check("""
        x forget group= t/0
            x INVALID_GROUP_ID
        x forget group=nope t/0
            x GROUP_ID_NOT_FOUND
        x forget t/0
            x NON_EMPTY_GROUP
    """)


def test_offsets_of_a_simple_group_can_be_deleted() -> None:
    """It has no subscriptions at all."""
    Conversation().check("""
        x commit nobody t/0=1
            log g t/0=1
            x t/0=ok
        x forget t/0
            log g t/0 deleted
            x t/0=ok
    """)
