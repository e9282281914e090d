"""The network keeps each connection's order, delays, stalls, resets, and repeats itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.protocol.messages.metadata import MetadataRequest, MetadataResponse
from headwater.core_log.protocol.schema import Message
from headwater.core_log.testing import requests
from headwater.core_log.testing.local_broker import LocalBroker
from headwater.core_log.testing.network import ConnectionRefused, Direction, Line, MemoryNetwork


def network(*, seed: int = 0, delay_ms: tuple[int, int] = (0, 0)) -> MemoryNetwork:
    broker = LocalBroker()
    broker.start()
    return MemoryNetwork(broker, seed=seed, delay_ms=delay_ms)


def ask(line: Line, answers: list[str], name: str) -> None:
    def answered(response: Message) -> None:
        assert isinstance(response, MetadataResponse)
        answers.append(name)

    line.send(MetadataRequest(topics=[]), version=12, on_answer=answered)


def test_an_answer_takes_both_ways() -> None:
    net = network(delay_ms=(10, 10))
    answers: list[str] = []
    ask(net.connect(), answers, "a")
    net.advance(19)
    assert answers == []
    net.advance(1)
    assert answers == ["a"]


@given(seed=st.integers(0, 1_000))
def test_one_connection_keeps_its_order_whatever_the_delays(seed: int) -> None:
    net = network(seed=seed, delay_ms=(0, 50))
    answers: list[str] = []
    line = net.connect()
    for name in "abcde":
        ask(line, answers, name)
    net.advance(200)
    assert answers == list("abcde")


def orders(seed: int) -> list[str]:
    net = network(seed=seed, delay_ms=(0, 50))
    answers: list[str] = []
    for name in "abcde":
        ask(net.connect(), answers, name)
    net.advance(200)
    return answers


def test_connections_overtake_each_other_and_a_seed_repeats_how() -> None:
    assert {tuple(sorted(orders(seed))) for seed in range(5)} == {tuple("abcde")}
    assert len({tuple(orders(seed)) for seed in range(5)}) > 1
    assert orders(3) == orders(3)


@pytest.mark.parametrize("direction", Direction)
def test_a_stalled_direction_delivers_when_it_is_let_go(direction: Direction) -> None:
    net = network()
    answers: list[str] = []
    line = net.connect()
    line.stall(direction)
    ask(line, answers, "a")
    ask(line, answers, "b")
    net.advance(10_000)
    assert answers == []
    line.resume(direction)
    net.advance(1)
    assert answers == ["a", "b"]


def test_a_reset_loses_what_is_under_way_and_is_told_once() -> None:
    net = network(delay_ms=(10, 10))
    answers: list[str] = []
    lost: list[str] = []
    line = net.connect(on_lost=lambda: lost.append("lost"))
    ask(line, answers, "a")
    line.reset()
    line.reset()
    net.advance(100)
    assert (answers, lost, net.lines) == ([], ["lost"], {})


def test_a_client_that_closes_is_not_told() -> None:
    lost: list[str] = []
    net = network()
    net.connect(on_lost=lambda: lost.append("lost")).close()
    assert lost == []


def test_the_end_of_the_broker_ends_every_connection() -> None:
    net = network()
    lost: list[str] = []
    for name in "ab":
        net.connect(on_lost=lambda name=name: lost.append(name))  # type: ignore[misc]  # binds the loop variable
    net.broker.kill()
    assert lost == ["a", "b"]
    with pytest.raises(ConnectionRefused):
        net.connect()
    net.broker.start()
    answers: list[str] = []
    ask(net.connect(), answers, "again")
    net.settle()
    assert answers == ["again"]


def test_answers_sent_before_the_broker_closes_arrive_before_its_end() -> None:
    net = network(delay_ms=(10, 10))
    events: list[str] = []
    line = net.connect(on_lost=lambda: events.append("lost"))
    ask(line, events, "a")
    net.advance(10)
    line._local._session.close("enough")
    net.advance(100)
    assert events == ["a", "lost"]


def test_what_a_client_left_on_a_connection_arrives_and_the_end_behind_it() -> None:
    """The client is told nothing any more; the broker answers into the void, then sees the end."""
    net = network(delay_ms=(10, 10))
    answers: list[str] = []
    lost: list[str] = []
    line = net.connect(on_lost=lambda: lost.append("lost"))
    line.stall(Direction.TO_BROKER)
    line.send(requests.create_topic("late"), version=7, on_answer=lambda _: answers.append("late"))
    line.abandon()
    net.advance(1_000)
    assert "late" not in net.broker.running.image.topics
    assert line.is_delivering
    line.resume(Direction.TO_BROKER)
    net.advance(100)
    assert "late" in net.broker.running.image.topics
    assert (answers, lost, net.lines, line.is_delivering) == ([], [], {}, False)


def test_an_abandoned_connection_is_overtaken_by_a_newer_one() -> None:
    net = network()
    old = net.connect()
    old.stall(Direction.TO_BROKER)
    old.send(requests.delete_topic("t", version=6), version=6, on_answer=lambda _: None)
    old.abandon()
    net.connect().send(requests.create_topic("t"), version=7, on_answer=lambda _: None)
    net.settle()
    assert "t" in net.broker.running.image.topics
    old.resume(Direction.TO_BROKER)
    net.settle()
    assert "t" not in net.broker.running.image.topics


def test_an_abandoned_connection_ends_with_the_broker_and_by_a_reset() -> None:
    net = network(delay_ms=(10, 10))
    for end in ("reset", "crash"):
        line = net.connect()
        line.abandon()
        line.abandon()
        if end == "reset":
            line.reset()
        else:
            net.broker.crash()
        assert not line.is_delivering
        net.advance(100)
