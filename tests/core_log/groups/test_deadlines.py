"""Deadlines against a model a child could write: a dictionary, and min() over it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.core_log.groups.deadlines import Deadline, DeadlineKind, Deadlines

NAMES = [Deadline(DeadlineKind.SESSION, "g", str(number)) for number in range(4)]
events = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.sampled_from(NAMES), st.integers(0, 6)),
        st.tuples(st.just("cancel"), st.sampled_from(NAMES), st.just(0)),
        st.tuples(st.just("pop"), st.just(NAMES[0]), st.integers(0, 6)),
    ),
    max_size=40,
)


@settings(max_examples=200)
@given(events)
def test_deadlines_come_in_the_order_of_their_last_word(
    script: list[tuple[str, Deadline, int]],
) -> None:
    """Whatever was set before; cancelled ones do not come at all."""
    deadlines, model = Deadlines(), dict[Deadline, int]()
    for verb, deadline, ms in script:
        if verb == "set":
            deadlines.set(deadline, ms)
            model[deadline] = ms
        elif verb == "cancel":
            deadlines.cancel(deadline)
            model.pop(deadline, None)
        else:
            due = min(model, key=lambda name: (model[name], name), default=None)
            if due is not None and model[due] > ms:
                due = None
            assert deadlines.pop(ms) == due
            if due is not None:
                del model[due]
        assert deadlines.next_ms() == min(model.values(), default=None)
        assert len(deadlines) == len(model)
        assert all((name in deadlines) == (name in model) for name in NAMES)


def test_cancelled_deadlines_leave_no_heap_behind() -> None:
    """A client that joins and leaves in a loop costs no memory."""
    deadlines = Deadlines()
    for number in range(1000):
        deadline = Deadline(DeadlineKind.SESSION, "g", str(number))
        deadlines.set(deadline, 10_000 + number)
        deadlines.cancel(deadline)
    assert len(deadlines._heap) < 100
    assert len(deadlines._entry_ms) < 100


def test_a_deadline_that_is_pushed_ahead_stays_one_entry() -> None:
    """Heartbeats are cheap."""
    deadlines = Deadlines()
    for number in range(1000):
        deadlines.set(NAMES[0], 10_000 + number)
    assert len(deadlines._heap) == 1
    assert deadlines.next_ms() == 10_999
