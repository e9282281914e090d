"""The two systems under test, each a process on loopback with a folder of its own.

A shell. Both are configured alike: one node, one listener, no internal topics beyond need. Kafka
gets what its own start script passes to the JVM and its default heap of 1 GB.
"""

import time
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._listoffsets import OffsetSpec  # the package exports it untyped
from confluent_kafka.cimpl import NewTopic

from headwater.core_log.testing.process import BrokerProcess
from headwater.tools.kafka.server import MEASURED_JVM, KafkaServer

SystemName = Literal["kafka", "headwater"]
SYSTEM_NAMES: Final[tuple[SystemName, ...]] = ("kafka", "headwater")

Flush = Literal["flushed", "lazy"]
TOPIC_CONFIG: Final[Mapping[Flush, Mapping[str, str]]] = {
    "flushed": {"flush.messages": "1"},
    "lazy": {"flush.messages": "9223372036854775807"},
}
"""Like with like: both systems flush before they acknowledge, or both leave it to the kernel."""

_KAFKA_SETTINGS: Final = {
    "log.segment.delete.delay.ms": "100",  # a deleted topic's files stay for a minute otherwise
    "log.initial.task.delay.ms": "100",  # ... and nothing is deleted in the first half minute
}
_HEAP_MB: Final = 1024
_ADMIN_TIMEOUT_SECONDS: Final = 120
_CREATED_AT_ONCE: Final = 1_000
"""Partitions per CreateTopics: Kafka's controller refuses more than 10,000 records per request."""


class System(Protocol):
    """What the rows need of a system; both process classes have it."""

    port: int
    directory: Path

    @property
    def bootstrap(self) -> str: ...
    @property
    def pid(self) -> int: ...
    def start(self) -> float: ...
    def stop(self) -> None: ...
    def kill(self) -> None: ...


def new(name: SystemName, directory: Path) -> System:
    """A system that has not been started, with an empty folder."""
    if name == "headwater":
        return BrokerProcess(directory)
    return KafkaServer(
        directory, jvm_options=MEASURED_JVM, heap_mb=_HEAP_MB, overrides=_KAFKA_SETTINGS
    )


def create_topic(system: System, topic: str, *, flush: Flush, partitions: int = 1) -> None:
    """Create a topic whose files go at once when it is deleted."""
    config = {**TOPIC_CONFIG[flush], "file.delete.delay.ms": "0"}
    _create(system, [NewTopic(topic, num_partitions=partitions, config=config)])


def create_partitions(system: System, topic: str, partitions: int) -> int:
    """Create *partitions* in topics ``topic-0``, ``topic-1``, ...; returns the number of topics.

    Waits until the node serves them all: an answer to CreateTopics may come earlier.
    """
    count = -(-partitions // _CREATED_AT_ONCE)
    config = dict(TOPIC_CONFIG["lazy"])
    each = partitions // count
    for index in range(count):
        name = f"{topic}-{index}" if count > 1 else topic
        _create(system, [NewTopic(name, num_partitions=each, config=config)])
        _wait_until_served(system, name, each)
    return count


def _wait_until_served(system: System, topic: str, partitions: int) -> None:
    """Ask for end offsets until every partition gives one."""
    admin = _admin(system)
    deadline = time.monotonic() + _ADMIN_TIMEOUT_SECONDS
    missing = [TopicPartition(topic, index) for index in range(partitions)]
    while missing:
        newest = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # has no annotations
        asked = admin.list_offsets(dict.fromkeys(missing, newest))
        missing = [each for each, future in asked.items() if not _is_answered(future)]
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(missing)} partitions of {topic!r} have no leader yet")


def _is_answered(future: "Future[Any]") -> bool:
    try:
        future.result(_ADMIN_TIMEOUT_SECONDS)
    except KafkaException:
        return False
    return True


def delete_topic(system: System, topic: str) -> None:
    admin = _admin(system)  # kept: its end would cancel what it was asked
    for future in admin.delete_topics([topic]).values():
        future.result(_ADMIN_TIMEOUT_SECONDS)


def _admin(system: System) -> AdminClient:
    # Silent: a client that outlives its node for a moment would tell of every attempt to reconnect.
    return AdminClient({"bootstrap.servers": system.bootstrap, "log_level": 0})


def _create(system: System, topics: list[NewTopic]) -> None:
    admin = _admin(system)
    created = admin.create_topics(topics, request_timeout=_ADMIN_TIMEOUT_SECONDS)
    for future in created.values():
        future.result(_ADMIN_TIMEOUT_SECONDS)
