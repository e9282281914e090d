"""One member of the consumer group, as a process: reads flights, writes lines, then commits.

A shell: ``python -m headwater.examples.flights.member BOOTSTRAP TOPIC GROUP FILE``. It reports on
standard output, one JSON object per line: ``{"assigned": [partitions]}`` whenever the group
shares out anew and ``{"consumed": count}`` as it goes. SIGTERM makes it leave the group cleanly;
SIGKILL does not, which is what the demo is about.
"""

import json
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any, Final, TextIO, final

import msgspec
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from .dataset import Flight

BATCH_RECORDS: Final = 1_000
POLL_SECONDS: Final = 0.2
COMMIT_INTERVAL_SECONDS: Final = 0.5
SESSION_TIMEOUT_MS: Final = 6_000
"""The lowest that Kafka allows by default (group.min.session.timeout.ms)."""


@final
class Member:
    def __init__(self, bootstrap: str, topic: str, group: str, output: TextIO) -> None:
        self._output = output
        self._decode = msgspec.json.Decoder(Flight).decode
        self._is_stopping = False
        self._consumed = 0
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": SESSION_TIMEOUT_MS,
                "heartbeat.interval.ms": 500,
                "fetch.queue.backoff.ms": 5,  # the default waits a second when the queue was full
            }
        )
        self._consumer.subscribe([topic], on_assign=self._assigned)

    def run(self) -> None:
        """Consume until stopped."""
        committed_at = time.monotonic()
        while not self._is_stopping:
            messages = self._consumer.consume(BATCH_RECORDS, POLL_SECONDS)
            self._write([message for message in messages if not _is_passing_error(message)])
            if time.monotonic() - committed_at > COMMIT_INTERVAL_SECONDS:
                self._commit()
                committed_at = time.monotonic()
        self._commit()
        self._consumer.close()

    def stop(self, _signal: int, _frame: FrameType | None) -> None:
        self._is_stopping = True

    def _write(self, messages: list[Message]) -> None:
        """Lines first, commit later: a crash in between repeats records and loses none."""
        if not messages:
            return
        self._output.write("".join(self._line(message) for message in messages))
        self._output.flush()
        self._consumed += len(messages)
        _report(consumed=self._consumed)

    def _line(self, message: Message) -> str:
        flight = self._decode(message.value() or b"")
        cells: tuple[Any, ...] = (
            *(message.partition(), message.offset(), flight.row, flight.carrier),
            *(flight.distance, flight.air_time, flight.arr_delay),
        )
        return ",".join("" if cell is None else str(cell) for cell in cells) + "\n"

    def _commit(self) -> None:
        try:
            self._consumer.commit(asynchronous=False)
        except KafkaException as error:
            if error.args[0].code() not in _RETRIED_COMMITS:
                raise

    def _assigned(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        _report(assigned=sorted(partition.partition for partition in partitions))


_RETRIED_COMMITS: Final = frozenset(
    {
        KafkaError._NO_OFFSET,  # noqa: SLF001 - librdkafka's names begin so; nothing to commit
        KafkaError.REBALANCE_IN_PROGRESS,
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.UNKNOWN_MEMBER_ID,
    }
)
"""After these the records come again, to this member or another; they count once all the same."""


def _is_passing_error(message: Message) -> bool:
    """Whether *message* is an error that librdkafka overcomes. Raises for one that it does not."""
    error = message.error()
    if error is None:
        return False
    if error.fatal():
        raise KafkaException(error)
    return True


def _report(**facts: Any) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def main(bootstrap: str, topic: str, group: str, file: str) -> None:
    with Path(file).open("a", encoding="ascii") as output:
        member = Member(bootstrap, topic, group, output)
        signal.signal(signal.SIGTERM, member.stop)
        member.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
