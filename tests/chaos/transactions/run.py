"""Transactions of three client libraries under fire, and the verdict on what the clients saw.

A shell. Java's client (transaction version 2), librdkafka (version 1) and kafka-python write,
transform and read in transactions and outside of them, through a proxy that is a bad network; the
broker and the clients are killed and started again, with quiet periods between. In the end all is
healed, fresh clients read everything, and the history checker judges.
"""

import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from headwater.core_log.testing.history import judge
from headwater.core_log.testing.process import HOST, free_port
from headwater.core_log.testing.proxy import Direction, FaultProxy

from ...interop.target import Target
from .faults import PAUSE_SECONDS, Fault, Period, periods
from .final_readers import committed_offsets, read_everything, wait_until_decided
from .fleet import LIBRARIES, Fleet, history_in
from .journal import Journal, now_ms
from .node import node
from .report import Blow, Report
from .roles import PARTITION_COUNT, TOPICS

CALM_SECONDS: Final = 3.0
"""After the storm, before the workers are told to end: who waits for something gets it."""
DOWN_SECONDS_MAX: Final = 1.5
STALL_SECONDS: Final = (0.2, 6.0)
"""The longest are longer than the clients wait for an answer."""


def run(
    kind: str,
    directory: Path,
    *,
    seconds: float,
    seed: int,
    faults: Sequence[Fault] = tuple(Fault),
    libraries: Sequence[str] = LIBRARIES,
    say: Callable[[str], None] = lambda _: None,
) -> Report:
    """Storm for *seconds* on a broker of *kind*; all files stay in *directory*."""
    rng = random.Random(seed)
    histories = directory / "histories"
    histories.mkdir(parents=True)
    port = free_port()
    with ExitStack() as cleanup:
        proxy = cleanup.enter_context(FaultProxy((HOST, port), seed=seed))
        broker = node(kind, directory / "node", port=port, advertised=proxy.bootstrap)
        cleanup.callback(broker.kill)
        broker.start()
        _create_topics(broker)
        fleet = Fleet(histories, proxy.bootstrap, seed=seed)
        cleanup.callback(fleet.kill_all)
        for library in libraries:
            fleet.start(library)
        storm = _Storm(broker, proxy, fleet, rng, say)
        for period in periods(rng, tuple(faults), seconds=seconds):
            storm.blow(period)
        proxy.heal()
        time.sleep(CALM_SECONDS)
        fleet.stop()
        failures = [*fleet.failures, *_read_at_last(broker, histories)]
    return Report(
        verdict=judge(history_in(histories)),
        blows=storm.blows,
        failures=failures,
        notes=fleet.notes,
        connection_count=proxy.line_count,
        has_hole=kind == "kafka",
    )


@final
class _Storm:
    """Does what the periods say, and notes it."""

    def __init__(
        self,
        broker: Target,
        proxy: FaultProxy,
        fleet: Fleet,
        rng: random.Random,
        say: Callable[[str], None],
    ) -> None:
        self.blows: list[Blow] = []
        self._broker = broker
        self._proxy = proxy
        self._fleet = fleet
        self._rng = rng
        self._say = say
        self._acts = {
            Fault.KILL_BROKER: self._kill_broker,
            Fault.KILL_CLIENT: self._kill_client,
            Fault.RESET: self._reset,
            Fault.STALL: self._stall,
        }

    def blow(self, period: Period) -> None:
        self._say(f"{period.seconds:4.1f} s: {', '.join(period.faults) or 'quiet'}")
        started_ms = now_ms()
        end = time.monotonic() + period.seconds
        self._proxy.weather = period.weather
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, self._rng.uniform(*PAUSE_SECONDS)))
            self._fleet.look()
            if period.acts:
                fault = self._rng.choice(period.acts)
                act_ms = now_ms()
                self._acts[fault]()
                self.blows.append(Blow(fault=fault, start_ms=act_ms, end_ms=now_ms()))
        for fault in period.faults:
            if fault not in period.acts:
                self.blows.append(Blow(fault=fault, start_ms=started_ms, end_ms=now_ms()))

    def _kill_broker(self) -> None:
        self._broker.kill()
        time.sleep(self._rng.uniform(0, DOWN_SECONDS_MAX))
        self._broker.start()

    def _kill_client(self) -> None:
        if self._fleet.running:
            library = self._rng.choice(self._fleet.running)
            self._fleet.kill(library)
            self._fleet.start(library)

    def _reset(self) -> None:
        self._proxy.reset(share=self._rng.random())

    def _stall(self) -> None:
        self._proxy.stall(self._rng.choice(list(Direction)), share=self._rng.random())
        time.sleep(self._rng.uniform(*STALL_SECONDS))
        self._proxy.resume()


def _read_at_last(broker: Target, histories: Path) -> list[str]:
    """Write down what fresh clients see when all is quiet; what did not become quiet."""
    failures = []
    journal = Journal(histories / "last.jsonl")
    try:
        wait_until_decided(broker.bootstrap)
        journal.after(committed_offsets(broker.bootstrap))
    except (AssertionError, KafkaException) as error:
        failures.append(f"a transaction hangs: {error}")
    for read_committed in (True, False):
        journal.after(*read_everything(broker.bootstrap, read_committed=read_committed))
    journal.close()
    return failures


def _create_topics(broker: Target) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    topics = [NewTopic(topic, num_partitions=PARTITION_COUNT) for topic in TOPICS]
    for future in admin.create_topics(topics).values():
        future.result(30)
