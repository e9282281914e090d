"""``headwater groups``: consumer groups, their members, their lag, and where they continue."""

import sys
from typing import Any, Final

import click
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # exported without saying so
    AdminClient,
    OffsetSpec,
)

from headwater.service.tables import Column, Shape, columns, show

from .cluster import (
    EARLIEST,
    LATEST,
    Cluster,
    KafkaHabits,
    Refused,
    cluster_options,
    explain,
    json_option,
    offsets,
    settled,
)

_LISTED: Final = columns("group", "state", "type", "simple")
_LAGS: Final = (
    Column(name="group"),
    Column(name="topic"),
    Column(name="partition"),
    Column(name="committed_offset", title="COMMITTED"),
    Column(name="end_offset", title="END"),
    Column(name="lag", shape=Shape.COUNT),
    Column(name="member_id", title="MEMBER"),
    Column(name="host"),
)
_RESETS: Final = columns("topic", "partition", "old_offset", "new_offset")
NO_OFFSET: Final = -1001
"""librdkafka's "nothing is committed"."""


@click.group(cls=KafkaHabits)
def groups() -> None:
    """Consumer groups: list, describe, reset, delete."""


@groups.command("list")
@json_option
@cluster_options
def list_groups(cluster: Cluster, as_json: bool) -> None:  # noqa: FBT001 - a flag
    """All groups, by name."""
    admin = cluster.admin()
    listing = settled({"groups": admin.list_consumer_groups()}, "listing")["groups"]
    if listing.errors:
        raise Refused("\n".join(explain(error) for error in listing.errors))
    rows = [
        {
            "group": group.group_id,
            "state": group.state.name,
            "type": group.type.name,
            "simple": group.is_simple_consumer_group,
        }
        for group in sorted(listing.valid, key=lambda group: group.group_id)
    ]
    show(rows, _LISTED, as_json=as_json, out=sys.stdout, empty="no groups")


@groups.command()
@click.argument("groups", nargs=-1, required=True)
@json_option
@cluster_options
def describe(cluster: Cluster, groups: tuple[str, ...], as_json: bool) -> None:  # noqa: FBT001 - a flag
    """Lag of GROUPS by partition, and which member has it."""
    admin = cluster.admin()
    found = settled(admin.describe_consumer_groups(list(groups)), "describing")
    missing = [name for name in groups if found[name].state.name == "DEAD"]
    if missing:
        raise Refused(
            f"there is no group {', '.join(missing)}; 'headwater groups list' shows what there is"
        )
    rows = [row for name in groups for row in _lags(admin, name, found[name])]
    show(rows, _LAGS, as_json=as_json, out=sys.stdout, empty="nothing is committed or assigned")


@groups.command()
@click.argument("group")
@click.option("--topic", "topics", multiple=True, required=True, help="TOPIC or TOPIC:PARTITION.")
@click.option("--to-earliest", "target", flag_value="earliest", help="To the first record.")
@click.option("--to-latest", "target", flag_value="latest", help="Behind the last record.")
@click.option("--to-offset", type=click.IntRange(min=0), help="To this offset.")
@click.option("--to-time-ms", type=int, help="To the first record of that time or later.")
@click.option("--execute", is_flag=True, help="Commit the new offsets; else they are only shown.")
@json_option
@cluster_options
def reset(
    cluster: Cluster,
    group: str,
    topics: tuple[str, ...],
    target: str | None,
    to_offset: int | None,
    to_time_ms: int | None,
    execute: bool,  # noqa: FBT001 - a flag
    as_json: bool,  # noqa: FBT001 - a flag
) -> None:
    """Say where GROUP continues; it must have no members. Shows what would change."""
    if sum(choice is not None for choice in (target, to_offset, to_time_ms)) != 1:
        raise click.UsageError(
            "give exactly one of --to-earliest, --to-latest, --to-offset, --to-time-ms"
        )
    admin = cluster.admin()
    places = _places(admin, topics)
    old = _committed(admin, group)
    new = _targets(admin, places, target, to_offset, to_time_ms)
    rows = [
        {
            "topic": place.topic,
            "partition": place.partition,
            "old_offset": old.get((place.topic, place.partition)),
            "new_offset": new[place.topic, place.partition],
        }
        for place in places
    ]
    if execute:
        positions = [TopicPartition(topic, index, offset) for (topic, index), offset in new.items()]
        asked = [ConsumerGroupTopicPartitions(group, positions)]
        changed = admin.alter_consumer_group_offsets(asked)
        result = settled(changed, "resetting")[group]
        problems = [
            f"{entry.topic}-{entry.partition}: {explain(entry.error)}"
            for entry in result.topic_partitions
            if entry.error is not None
        ]
        if problems:
            raise Refused("\n".join(problems))
    show(rows, _RESETS, as_json=as_json, out=sys.stdout)
    if not execute and not as_json:
        click.echo("nothing was changed; add --execute to commit these offsets", err=True)


@groups.command()
@click.argument("groups", nargs=-1, required=True)
@cluster_options
def delete(cluster: Cluster, groups: tuple[str, ...]) -> None:
    """Delete GROUPS that have no members, with their offsets."""
    admin = cluster.admin()
    settled(admin.delete_consumer_groups(list(groups)), "deleting")
    click.echo(f"deleted {', '.join(groups)}")


def _lags(admin: AdminClient, group: str, description: Any) -> list[dict[str, Any]]:
    committed = _committed(admin, group)
    owners = {
        (place.topic, place.partition): member
        for member in description.members
        if member.assignment is not None
        for place in member.assignment.topic_partitions
    }
    places = sorted({*committed, *owners})
    ends = offsets(admin, places, LATEST)
    rows: list[dict[str, Any]] = []
    for topic, index in places:
        owner = owners.get((topic, index))
        offset, end = committed.get((topic, index)), ends.get((topic, index))
        rows.append(
            {
                "group": group,
                "topic": topic,
                "partition": index,
                "committed_offset": offset,
                "end_offset": end,
                "lag": None if offset is None or end is None else max(0, end - offset),
                "member_id": None if owner is None else owner.member_id,
                "host": None if owner is None else owner.host,
            }
        )
    return rows


def _committed(admin: AdminClient, group: str) -> dict[tuple[str, int], int]:
    asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
    result = settled(asked, "reading the offsets of")[group]
    return {
        (entry.topic, entry.partition): entry.offset
        for entry in result.topic_partitions
        if entry.offset not in (NO_OFFSET, -1)
    }


def _places(admin: AdminClient, topics: tuple[str, ...]) -> list[TopicPartition]:
    known = admin.list_topics().topics
    places: list[TopicPartition] = []
    for text in topics:
        name, colon, index = text.partition(":")
        if name not in known:
            raise Refused(f"there is no topic {name}; 'headwater topics list' shows what there is")
        if colon and not index.isdigit():
            raise click.BadParameter(
                f"{text!r} is not TOPIC or TOPIC:PARTITION", param_hint="--topic"
            )
        indexes = [int(index)] if colon else sorted(known[name].partitions)
        places += [TopicPartition(name, number) for number in indexes]
    return places


def _targets(
    admin: AdminClient,
    places: list[TopicPartition],
    target: str | None,
    to_offset: int | None,
    to_time_ms: int | None,
) -> dict[tuple[str, int], int]:
    keys = [(place.topic, place.partition) for place in places]
    starts = offsets(admin, keys, EARLIEST)
    ends = offsets(admin, keys, LATEST)
    if target is not None:
        return starts if target == "earliest" else ends
    if to_time_ms is not None:
        found = offsets(admin, keys, OffsetSpec.for_timestamp(to_time_ms))
        return {key: ends[key] if found[key] < 0 else found[key] for key in keys}
    assert to_offset is not None
    return {key: min(max(to_offset, starts[key]), ends[key]) for key in keys}
