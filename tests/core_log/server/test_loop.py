"""The loop driver: one turn for many requests, ticks at deadlines, nothing after the stop."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

from headwater.core_log.broker.broker import Broker
from headwater.core_log.server.clock import SystemClock
from headwater.core_log.server.loop import LoopDriver


class Counting:
    """What a driver calls of a broker."""

    def __init__(self) -> None:
        self.turns = 0
        self.ticks = 0
        self.deadline_ms: int | None = None
        self.ticked: Callable[[], None] = lambda: None

    def turn(self) -> None:
        self.turns += 1

    def tick(self, now_ms: int) -> None:
        assert self.deadline_ms is None or now_ms >= self.deadline_ms
        self.ticks += 1
        self.deadline_ms = None
        self.ticked()

    def next_deadline_ms(self) -> int | None:
        return self.deadline_ms


def as_broker(counting: Counting) -> Broker:
    return cast("Broker", cast("Any", counting))


async def test_many_requests_for_a_turn_make_one() -> None:
    broker = Counting()
    driver = LoopDriver(asyncio.get_running_loop(), SystemClock())
    driver.attach(as_broker(broker))
    for _ in range(5):
        driver.schedule_turn()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert broker.turns == 1
    driver.stop()


async def test_a_deadline_is_met_also_when_it_comes_closer() -> None:
    loop = asyncio.get_running_loop()
    clock = SystemClock()
    broker = Counting()
    driver = LoopDriver(loop, clock)
    broker.deadline_ms = clock.monotonic_ms() + 60_000
    driver.attach(as_broker(broker))
    await asyncio.sleep(0)
    ticked = asyncio.Event()
    broker.ticked = ticked.set
    broker.deadline_ms = clock.monotonic_ms() + 5
    driver.rearm()
    await asyncio.wait_for(ticked.wait(), 10)
    assert broker.ticks == 1
    driver.stop()


async def test_nothing_happens_after_the_stop() -> None:
    broker = Counting()
    driver = LoopDriver(asyncio.get_running_loop(), SystemClock())
    driver.attach(as_broker(broker))
    driver.stop()
    driver.schedule_turn()
    driver.rearm()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert broker.turns == broker.ticks == 0
