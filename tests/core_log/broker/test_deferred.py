"""A deferred value reaches its one listener, whichever comes first."""

import pytest

from headwater.core_log.broker.deferred import Deferred, gather


def test_a_listener_hears_a_value_that_comes_later() -> None:
    heard: list[int] = []
    deferred: Deferred[int] = Deferred()
    deferred.then(heard.append)
    assert heard == []
    deferred.resolve(7)
    assert heard == [7]
    assert deferred.is_resolved


def test_a_listener_hears_a_value_that_is_there() -> None:
    heard: list[int] = []
    deferred: Deferred[int] = Deferred()
    deferred.resolve(7)
    deferred.then(heard.append)
    assert heard == [7]


def test_a_second_value_is_a_bug() -> None:
    deferred: Deferred[int] = Deferred()
    deferred.resolve(7)
    with pytest.raises(AssertionError, match="resolved once"):
        deferred.resolve(8)


def test_a_second_listener_is_a_bug() -> None:
    deferred: Deferred[int] = Deferred()
    deferred.then(print)
    with pytest.raises(AssertionError, match="one listener"):
        deferred.then(print)


def test_map_changes_the_value_on_its_way() -> None:
    heard: list[str] = []
    deferred: Deferred[int] = Deferred()
    deferred.map(str).then(heard.append)
    deferred.resolve(7)
    assert heard == ["7"]


def test_gather_keeps_the_order_of_the_parts() -> None:
    """Values come out in the order of the parts, in whatever order they came in."""
    heard: list[list[int]] = []
    parts: list[Deferred[int]] = [Deferred(), Deferred(), Deferred()]
    gather(parts).then(heard.append)
    for place in (2, 0, 1):
        assert heard == []
        parts[place].resolve(place)
    assert heard == [[0, 1, 2]]


def test_gather_of_nothing_is_there_at_once() -> None:
    nothing: list[Deferred[int]] = []
    assert gather(nothing).is_resolved
