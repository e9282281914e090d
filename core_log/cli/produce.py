"""``headwater produce``: records from standard input or a file into a topic."""

import sys
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, TypeAlias

import click
from confluent_kafka import KafkaError, KafkaException, Producer

from .cluster import Cluster, Refused, cluster_options, explain, pairs

Headers: TypeAlias = list[tuple[str, str | bytes | None]]

FLUSH_TIMEOUT_SECONDS: Final = 60.0
LINE_BYTES_MAX: Final = 64 * 1024 * 1024


@click.command()
@click.argument("topic")
@click.option("--file", "source", type=click.File("rb"), default="-", help="Default: stdin.")
@click.option("--key-separator", help="Text between key and value; without it there is no key.")
@click.option("--null-value", help="A value of this text becomes null: a tombstone.")
@click.option("--header", "headers", multiple=True, metavar="NAME=VALUE", help="On every record.")
@click.option("--partition", type=click.IntRange(min=0), help="Default: by key, as Java does.")
@click.option(
    "--compression",
    type=click.Choice(["none", "gzip", "snappy", "lz4", "zstd"]),
    default="none",
    show_default=True,
)
@click.option("--acks", type=click.Choice(["0", "1", "all"]), default="all", show_default=True)
@cluster_options
def produce(  # noqa: PLR0913, PLR0917 - one per flag
    cluster: Cluster,
    topic: str,
    source: BinaryIO,
    key_separator: str | None,
    null_value: str | None,
    headers: tuple[str, ...],
    partition: int | None,
    compression: str,
    acks: str,
) -> None:
    """Send one record for each line of input to TOPIC and wait until all are acknowledged.

    Keys land where Java's producer puts them (murmur2), and each line is stored once (idempotent).
    """
    cluster.admin()
    if source.isatty():
        click.echo("one record per line; Ctrl-D ends", err=True)
    producer = Producer(
        cluster.config(
            **{
                "compression.type": compression,
                "acks": acks,
                "enable.idempotence": acks == "all",
                "partitioner": "murmur2_random",
                "linger.ms": 20,
            }
        )
    )
    outcome = _Outcome()
    more: dict[str, Any] = {} if partition is None else {"partition": partition}
    attached: Headers = [
        (name, value.encode()) for name, value in pairs(headers, "--header").items()
    ]
    for key, value in _records(source, key_separator, null_value):
        _send(producer, topic, key, value, attached, outcome, more)
        if outcome.error is not None:
            break
    left_count = producer.flush(FLUSH_TIMEOUT_SECONDS)
    if outcome.error is not None:
        raise Refused(
            f"{outcome.delivered_count} records were acknowledged, then {topic} refused one: "
            f"{explain(outcome.error)}"
        )
    if left_count:
        raise Refused(
            f"{left_count} records are not acknowledged after {FLUSH_TIMEOUT_SECONDS:.0f} s"
        )
    click.echo(f"{outcome.delivered_count} records acknowledged", err=True)


class _Outcome:
    """What became of the records so far."""

    def __init__(self) -> None:
        self.delivered_count = 0
        self.error: KafkaError | None = None

    def delivered(self, error: KafkaError | None, message: object) -> None:
        del message
        if error is None:
            self.delivered_count += 1
        elif self.error is None:
            self.error = error


def _send(
    producer: Producer,
    topic: str,
    key: bytes | None,
    value: bytes | None,
    headers: Headers,
    outcome: _Outcome,
    more: dict[str, Any],
) -> None:
    while True:
        try:
            producer.produce(
                topic, value, key, headers=headers, on_delivery=outcome.delivered, **more
            )
        except BufferError:
            producer.poll(0.1)  # the queue is full: let some be acknowledged
        except KafkaException as error:
            raise Refused(f"{topic}: {explain(error.args[0])}") from error
        else:
            producer.poll(0)
            return


def _records(
    source: BinaryIO, key_separator: str | None, null_value: str | None
) -> Iterator[tuple[bytes | None, bytes | None]]:
    """Key and value of each line."""
    separator = None if key_separator is None else key_separator.encode()
    null = None if null_value is None else null_value.encode()
    for number, line in enumerate(iter(lambda: source.readline(LINE_BYTES_MAX), b""), start=1):
        text = line.rstrip(b"\r\n")
        key: bytes | None = None
        value: bytes | None = text
        if separator is not None:
            first, found, rest = text.partition(separator)
            if not found:
                raise Refused(f"line {number} has no {key_separator!r} between key and value")
            key, value = first, rest
        yield key, None if value == null else value
    sys.stdout.flush()
