"""Timers fire in order of deadline, once, unless cancelled."""

from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.broker.timers import Timers


@given(
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=12),
    st.lists(st.integers(0, 6), max_size=6),
)
def test_timers_behave_like_a_sorted_list(plan: list[tuple[int, bool]], reads: list[int]) -> None:
    """At each reading of the clock exactly what is due and not cancelled runs, oldest first."""
    timers = Timers()
    fired: list[int] = []
    model: list[tuple[int, int]] = []
    for number, (deadline_ms, cancelled) in enumerate(plan):
        timer = timers.at(deadline_ms, lambda number=number: fired.append(number))  # type: ignore[misc]  # binds the loop variable
        if cancelled:
            timer.cancel()
        else:
            model.append((deadline_ms, number))
    model.sort()
    for now_ms in sorted(reads):
        assert timers.next_deadline_ms() == (model[0][0] if model else None)
        due = [number for deadline_ms, number in model if deadline_ms <= now_ms]
        model = [entry for entry in model if entry[0] > now_ms]
        fired.clear()
        assert timers.fire(now_ms) == len(due)
        assert fired == due


def test_the_owner_learns_of_an_earlier_deadline() -> None:
    heard: list[int] = []
    timers = Timers(on_earlier=lambda: heard.append(len(heard)))
    timers.at(50, print)
    timers.at(60, print)
    timers.at(40, print)
    assert len(heard) == 2


def test_an_action_may_set_the_next_timer() -> None:
    """A timer set for now by an action of the same reading runs in it; a later one waits."""
    timers = Timers()
    fired: list[str] = []

    def again() -> None:
        fired.append("first")
        timers.at(20, lambda: fired.append("second"))

    timers.at(10, again)
    timers.fire(10)
    assert fired == ["first"]
    timers.fire(20)
    assert fired == ["first", "second"]
