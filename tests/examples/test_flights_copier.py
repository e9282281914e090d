"""The copier's merge: flights of all partitions in the order they left, and where it stands."""

from collections import deque
from typing import Any, final

import msgspec
import pytest
from confluent_kafka import KafkaError, TopicPartition

from headwater.examples.flights.copier import AHEAD_MAX, InOrder
from headwater.examples.flights.dataset import Flight

from .test_flights_aircraft import flight


@final
class Record:
    """A message as a consumer hands it out; without a flight, a partition's end."""

    def __init__(self, partition: int, offset: int, found: Flight | None) -> None:
        self._place = partition, offset
        self._flight = found

    def partition(self) -> int:
        return self._place[0]

    def offset(self) -> int:
        return self._place[1]

    def value(self) -> bytes:
        return msgspec.json.encode(self._flight)

    def timestamp(self) -> tuple[int, int]:
        return 1, 1_000 * (self._flight.row if self._flight else 0)

    def error(self) -> KafkaError | None:
        return None if self._flight else KafkaError(KafkaError._PARTITION_EOF)


@final
class Partitions:
    """A consumer of partitions that hold these rows: all of one comes before all of the next."""

    def __init__(self, *rows: list[int]) -> None:
        self._waiting = [
            deque(
                [Record(index, offset, flight(row)) for offset, row in enumerate(of_partition)]
                + [Record(index, len(of_partition), None)]
            )
            for index, of_partition in enumerate(rows)
        ]
        self.paused: set[int] = set()
        self.pause_count = 0

    def assign(self, places: list[TopicPartition]) -> None:
        for place in places:
            for _ in range(max(place.offset, 0)):
                self._waiting[place.partition].popleft()

    def consume(self, count: int, _seconds: float) -> list[Record]:
        for index, waiting in enumerate(self._waiting):
            if waiting and index not in self.paused:
                return [waiting.popleft() for _ in range(min(count, len(waiting)))]
        raise AssertionError("the copier waits for what will never come")

    def pause(self, places: list[TopicPartition]) -> None:
        self.paused |= {place.partition for place in places}
        self.pause_count += 1

    def resume(self, places: list[TopicPartition]) -> None:
        self.paused -= {place.partition for place in places}


def merged(consumer: Any, *offsets: int) -> InOrder:
    places = [TopicPartition("flights", index, offset) for index, offset in enumerate(offsets)]
    return InOrder(consumer, places)


def rows(taken: list[tuple[Flight, int]]) -> list[int]:
    return [each.row for each, _ in taken]


def test_flights_come_in_the_order_of_rows() -> None:
    """Whatever partition they lie in, with their time, and fewer only at the end."""
    flights = merged(Partitions([0, 3, 4], [], [1, 2, 5]), -2, -2, -2)
    first = flights.take(4)
    assert rows(first) == [0, 1, 2, 3]
    assert [timestamp_ms for _, timestamp_ms in first] == [0, 1_000, 2_000, 3_000]
    assert rows(flights.take(4)) == [4, 5]
    assert flights.take(4) == []


def test_positions_are_behind_what_was_taken() -> None:
    """Not behind what was fetched: a successor goes on from there."""
    flights = merged(Partitions([0, 3, 4], [1, 2, 5]), -2, -2)
    flights.take(3)
    assert flights.positions == {0: 1, 1: 2}
    successor = merged(Partitions([0, 3, 4], [1, 2, 5]), 1, 2)
    assert successor.positions == {0: 1, 1: 2}
    assert rows(successor.take(9)) == [3, 4, 5]


@pytest.mark.slow
def test_a_partition_far_ahead_waits_for_the_others() -> None:
    """Memory has a bound, and nothing is lost by it."""
    count = 3 * AHEAD_MAX
    consumer = Partitions(list(range(count)), [count])
    flights = merged(consumer, -2, -2)
    assert rows(flights.take(count + 1)) == list(range(count + 1))
    assert consumer.pause_count >= 1
    assert consumer.paused == set()
