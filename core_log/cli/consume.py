"""``headwater consume``: records of topics to standard output."""

import base64
import sys
from typing import Any, Final

import click
from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    KafkaException,
    Message,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient

from headwater.service.tables import json_line

from .cluster import (
    LATEST,
    Cluster,
    Refused,
    cluster_options,
    explain,
    offsets,
    stdout_is_closed,
)

POLL_SECONDS: Final = 0.1
BATCH_COUNT: Final = 500
COMMITTED: Final = "read-committed"


@click.command()
@click.argument("topics", nargs=-1, required=True)
@click.option("--group", help="Consume as a member of this group, and commit.")
@click.option(
    "--from",
    "start",
    default="beginning",
    show_default=True,
    metavar="beginning|end|OFFSET|time:MS",
    help="Where to start without a group, or where the group has no offset.",
)
@click.option("--partition", type=click.IntRange(min=0), help="Only this partition.")
@click.option("--max", "count_max", type=click.IntRange(min=1), help="Stop after so many records.")
@click.option("--follow", is_flag=True, help="Wait for more at the end of the topic.")
@click.option(
    "--form",
    type=click.Choice(["value", "key-value", "json"]),
    default="value",
    show_default=True,
    help="json has offset, time, key, value and headers; what is not UTF-8 is in base64.",
)
@click.option(
    "--isolation",
    type=click.Choice([COMMITTED, "read-uncommitted"]),
    default=COMMITTED,
    show_default=True,
    help="read-uncommitted shows records of open and aborted transactions too.",
)
@cluster_options
def consume(  # noqa: PLR0913, PLR0917 - one per flag
    cluster: Cluster,
    topics: tuple[str, ...],
    group: str | None,
    start: str,
    partition: int | None,
    count_max: int | None,
    follow: bool,  # noqa: FBT001 - a flag
    form: str,
    isolation: str,
) -> None:
    """Print the records of TOPICS, then stop at their end (or --follow)."""
    admin = cluster.admin()
    known = admin.list_topics().topics
    missing = [name for name in topics if name not in known]
    if missing:
        raise Refused(
            f"there is no topic {', '.join(missing)}; 'headwater topics list' shows what there is"
        )
    for name in topics:
        if partition is not None and partition not in known[name].partitions:
            raise Refused(
                f"{name} has no partition {partition}; it has {len(known[name].partitions)}, from 0"
            )
    consumer = Consumer(
        cluster.config(
            **{
                "group.id": group or "headwater-consume",
                "enable.auto.commit": False,
                "isolation.level": isolation.replace("-", "_"),
                "auto.offset.reset": "latest" if start == "end" else "earliest",
                "enable.partition.eof": True,
                "fetch.queue.backoff.ms": 5,
                # The end of a partition is an empty answer: soon, unless more is waited for.
                "fetch.wait.max.ms": 500 if follow else 20,
            }
        )
    )
    try:
        places = [
            TopicPartition(name, index)
            for name in topics
            for index in ([partition] if partition is not None else sorted(known[name].partitions))
        ]
        if group is None:
            consumer.assign(_positions(consumer, places, start))
        else:
            consumer.subscribe(list(topics))
        count = _print(
            consumer, len(places), count_max, form, commits=group is not None, follow=follow
        )
        if isolation == COMMITTED and (count_max is None or count < count_max):
            _tell_of_open_transactions(admin, places)
    except KafkaException as error:
        raise Refused(explain(error.args[0])) from error
    except BrokenPipeError:
        stdout_is_closed()
    except KeyboardInterrupt:
        pass
    finally:
        consumer.close()


def _positions(
    consumer: Consumer, places: list[TopicPartition], start: str
) -> list[TopicPartition]:
    if start == "beginning":
        offset = OFFSET_BEGINNING
    elif start == "end":
        offset = OFFSET_END
    elif start.startswith("time:") and start[5:].isdigit():
        asked = [TopicPartition(place.topic, place.partition, int(start[5:])) for place in places]
        return list(consumer.offsets_for_times(asked, timeout=30))
    elif start.isdigit():
        offset = int(start)
    else:
        raise click.BadParameter(
            f"{start!r} is none of beginning, end, an offset, time:MS", param_hint="--from"
        )
    return [TopicPartition(place.topic, place.partition, offset) for place in places]


def _print(
    consumer: Consumer,
    partition_count: int,
    count_max: int | None,
    form: str,
    *,
    commits: bool,
    follow: bool,
) -> int:
    """Until the end of every partition, or *count_max* records; how many there were."""
    count = 0
    ended: set[tuple[str | None, int | None]] = set()
    while count_max is None or count < count_max:
        left = BATCH_COUNT if count_max is None else min(BATCH_COUNT, count_max - count)
        for message in consumer.consume(left, POLL_SECONDS):
            place = (message.topic(), message.partition())
            error = message.error()
            if error is None:
                ended.discard(place)
                sys.stdout.buffer.write(_line(message, form))
                count += 1
            elif error.name() == "_PARTITION_EOF":
                ended.add(place)
            else:
                raise KafkaException(error)
        sys.stdout.buffer.flush()
        if commits and count:
            consumer.commit(asynchronous=True)
        if not follow and len(ended) >= partition_count:
            break
    if commits and count:
        _commit(consumer)
    return count


def _tell_of_open_transactions(admin: AdminClient, places: list[TopicPartition]) -> None:
    """Say so where records of an open transaction, and what is behind them, are held back."""
    keys = [(place.topic, place.partition) for place in places]
    stable = offsets(admin, keys, LATEST, committed=True)
    ends = offsets(admin, keys, LATEST)
    held_back = {key for key in stable if stable[key] < ends.get(key, 0)}
    for topic in sorted({topic for topic, _ in held_back}):
        count = sum(ends[key] - stable[key] for key in held_back if key[0] == topic)
        click.echo(
            f"an open transaction holds back the last {count} offsets of {topic}; 'headwater "
            f"transactions producers {topic} --open' shows whose, --isolation read-uncommitted "
            "shows the records",
            err=True,
        )


def _commit(consumer: Consumer) -> None:
    """Commit what was printed since the last commit, if anything."""
    try:
        consumer.commit(asynchronous=False)
    except KafkaException as error:
        if error.args[0].name() != "_NO_OFFSET":
            raise


def _line(message: Message, form: str) -> bytes:
    value = message.value()
    if form == "value":
        return (value or b"") + b"\n"
    key = message.key()
    if form == "key-value":
        return (key or b"") + b"\t" + (value or b"") + b"\n"
    row: dict[str, Any] = {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp_ms": message.timestamp()[1],
        "key": _text(key),
        "value": _text(value),
        "headers": {name: _text(header) for name, header in _headers(message)},
    }
    return json_line(row).encode()


def _headers(message: Message) -> list[tuple[str, Any]]:
    found: Any = message.headers()  # typed as a mapping or a list; it is always the list
    return found or []


def _text(data: Any) -> object:
    """Text where it is UTF-8, else ``{"base64": …}``."""
    if data is None:
        return None
    raw = data.encode() if isinstance(data, str) else bytes(data)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode("ascii")}
