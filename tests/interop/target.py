"""The system under test as a process: Headwater by default, Apache Kafka on request.

``HEADWATER_INTEROP_TARGET`` chooses: ``headwater`` (default) or ``kafka``. Every test must pass on
both; what Kafka does is what the tests check.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from tools.kafka.server import KafkaServer

from headwater.core_log.testing.process import BrokerProcess

TARGET_VARIABLE = "HEADWATER_INTEROP_TARGET"
TARGET_NAME = os.environ.get(TARGET_VARIABLE, "headwater")

SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",  # 3 s by default: a test would wait for each group
    "group.min.session.timeout.ms": "1000",  # 6 s by default: crashed members would linger
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",  # 10 s by default
}
"""Node settings of every target; the rest stays at Kafka's defaults."""


class Target(Protocol):
    """A broker in its own process, with a folder that outlives it."""

    @property
    def bootstrap(self) -> str: ...
    @property
    def pid(self) -> int: ...
    @property
    def data_directory(self) -> Path: ...
    @property
    def log_file(self) -> Path: ...
    def start(self) -> float:
        """Start, and wait for an answer; the seconds it took."""
        ...

    def stop(self) -> None:
        """Shut down cleanly."""
        ...

    def kill(self) -> None:
        """SIGKILL."""
        ...


def headwater_server(
    directory: Path, *, settings: Mapping[str, str] | None = None
) -> BrokerProcess:
    """Our broker with the settings of this suite."""
    return BrokerProcess(directory, settings={**SETTINGS, **(settings or {})})


def kafka_server(directory: Path, *, settings: Mapping[str, str] | None = None) -> KafkaServer:
    """Apache Kafka with the settings of this suite."""
    quick_restart = {"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "300"}
    overrides = {**SETTINGS, **quick_restart, **(settings or {})}
    return KafkaServer(directory, overrides=overrides)


def target(directory: Path, *, settings: Mapping[str, str] | None = None) -> Target:
    """The system under test, not started yet."""
    match TARGET_NAME:
        case "headwater":
            return headwater_server(directory, settings=settings)
        case "kafka":
            return kafka_server(directory, settings=settings)
        case other:
            raise ValueError(f"{TARGET_VARIABLE}={other}: headwater or kafka")
