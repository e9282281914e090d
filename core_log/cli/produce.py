"""``headwater produce``: records from standard input or a file into a topic."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, BinaryIO, Final, TypeAlias

import click
from confluent_kafka import KafkaError, KafkaException, Producer

from .cluster import Cluster, Refused, cluster_options, explain, pairs

Headers: TypeAlias = list[tuple[str, str | bytes | None]]

FLUSH_TIMEOUT_SECONDS: Final = 60.0
TRANSACTION_TIMEOUT_SECONDS: Final = 60.0
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
@click.option(
    "--transactional-id",
    help="All or nothing: one transaction under this id, committed at the end of the input.",
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
    transactional_id: str | None,
    acks: str,
) -> None:
    """Send one record for each line of input to TOPIC and wait until all are acknowledged.

    Keys land where Java's producer puts them (murmur2), and each line is stored once (idempotent).
    With --transactional-id, readers with isolation level read_committed see all of them or none:
    when a line is refused or the command is interrupted, the transaction is aborted. It also ends
    an open transaction that somebody else has under the same id.
    """
    if transactional_id is not None and acks != "all":
        raise click.UsageError("--transactional-id needs --acks all")
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
                **({} if transactional_id is None else {"transactional.id": transactional_id}),
            }
        )
    )
    transaction = nullcontext() if transactional_id is None else _transaction(producer)
    more: dict[str, Any] = {} if partition is None else {"partition": partition}
    attached: Headers = [
        (name, value.encode()) for name, value in pairs(headers, "--header").items()
    ]
    with transaction:
        records = _records(source, key_separator, null_value)
        count = _send_all(producer, topic, records, attached, more)
    click.echo(
        f"{count} records {'acknowledged' if transactional_id is None else 'committed'}", err=True
    )


@contextmanager
def _transaction(producer: Producer) -> Iterator[None]:
    """Commit what is done inside; abort it when that fails. Raises Refused."""
    try:
        producer.init_transactions(TRANSACTION_TIMEOUT_SECONDS)
        producer.begin_transaction()
    except KafkaException as error:
        raise Refused(f"no transaction could begin: {explain(error.args[0])}") from error
    try:
        yield
        producer.commit_transaction(TRANSACTION_TIMEOUT_SECONDS)
    except KafkaException as error:
        _abort(producer)
        raise Refused(f"nothing was committed: {explain(error.args[0])}") from error
    except Refused as refused:
        _abort(producer)
        raise Refused(f"{refused.message}; nothing was committed") from refused
    except BaseException:
        _abort(producer)
        raise


def _abort(producer: Producer) -> None:
    try:
        producer.abort_transaction(TRANSACTION_TIMEOUT_SECONDS)
    except KafkaException as error:
        # Its coordinator will: the records stay invisible to readers of what is committed.
        click.echo(f"the transaction is left to time out: {explain(error.args[0])}", err=True)


def _send_all(
    producer: Producer,
    topic: str,
    records: Iterator[tuple[bytes | None, bytes | None]],
    headers: Headers,
    more: dict[str, Any],
) -> int:
    """How many were acknowledged: all of them. Raises Refused."""
    outcome = _Outcome()
    for key, value in records:
        _send(producer, topic, key, value, headers, outcome, more)
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
    return outcome.delivered_count


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
