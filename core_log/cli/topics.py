"""``headwater topics``: list, describe, create, change and delete topics of any cluster."""

import sys
from typing import Any, Final

import click
from confluent_kafka import TopicCollection, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # exported without saying so
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
)

from headwater.service.tables import Column, Shape, show

from .cluster import (
    EARLIEST,
    LATEST,
    Cluster,
    KafkaHabits,
    cluster_options,
    json_option,
    pairs,
    settled,
)

_URL_SAFE: Final = str.maketrans("+/", "-_")
_LISTED = (
    Column(name="topic"),
    Column(name="partitions", shape=Shape.COUNT),
    Column(name="replication_factor", title="REPLICAS"),
    Column(name="internal"),
    Column(name="topic_id"),
)
_PARTITIONS = (
    Column(name="topic"),
    Column(name="partition"),
    Column(name="leader"),
    Column(name="leader_epoch", title="EPOCH"),
    Column(name="replicas"),
    Column(name="isr"),
    Column(name="start_offset", title="START"),
    Column(name="end_offset", title="END"),
)


@click.group(cls=KafkaHabits)
def topics() -> None:
    """Topics: list, describe, create, change, delete."""


@topics.command("list")
@click.option("--internal", "with_internal", is_flag=True, help="Internal topics too.")
@json_option
@cluster_options
def list_topics(cluster: Cluster, with_internal: bool, as_json: bool) -> None:  # noqa: FBT001 - flags
    """All topics, by name."""
    admin = cluster.admin()
    names = list(admin.list_topics().topics) if with_internal else _ordinary(admin)
    rows = [
        {
            "topic": topic.name,
            "partitions": len(topic.partitions),
            "replication_factor": max((len(p.replicas) for p in topic.partitions), default=0),
            "internal": topic.is_internal,
            # Kafka writes ids in the alphabet for addresses, librdkafka in the other one.
            "topic_id": str(topic.topic_id).translate(_URL_SAFE),
        }
        for topic in _descriptions(admin, names)
    ]
    show(rows, _LISTED, as_json=as_json, out=sys.stdout, empty="no topics")


@topics.command()
@click.argument("topics", nargs=-1)
@json_option
@cluster_options
def describe(cluster: Cluster, topics: tuple[str, ...], as_json: bool) -> None:  # noqa: FBT001 - a flag
    """Partitions of TOPICS, or of all: leader, replicas, first and next offset.

    What is configured on a topic is shown by `headwater configs describe topic NAME`.
    """
    admin = cluster.admin()
    found = _descriptions(admin, list(topics) or _ordinary(admin))
    places = [
        TopicPartition(topic.name, partition.id)
        for topic in found
        for partition in topic.partitions
    ]
    starts = admin.list_offsets(dict.fromkeys(places, EARLIEST))
    ends = admin.list_offsets(dict.fromkeys(places, LATEST))
    rows = [
        {
            "topic": topic.name,
            "partition": partition.id,
            "leader": partition.leader.id if partition.leader else None,
            "leader_epoch": ends[TopicPartition(topic.name, partition.id)].result().leader_epoch,
            "replicas": [node.id for node in partition.replicas],
            "isr": [node.id for node in partition.isr],
            "start_offset": starts[TopicPartition(topic.name, partition.id)].result().offset,
            "end_offset": ends[TopicPartition(topic.name, partition.id)].result().offset,
        }
        for topic in found
        for partition in topic.partitions
    ]
    show(rows, _PARTITIONS, as_json=as_json, out=sys.stdout, empty="no topics")


@topics.command()
@click.argument("topics", nargs=-1, required=True)
@click.option("--partitions", type=int, default=-1, help="Default: the broker's num.partitions.")
@click.option("--replication-factor", type=int, default=-1, help="Default: the broker's.")
@click.option(
    "--config", "configs", multiple=True, metavar="NAME=VALUE", help="A topic configuration."
)
@click.option("--if-not-exists", is_flag=True, help="Fine when a topic is there already.")
@cluster_options
def create(
    cluster: Cluster,
    topics: tuple[str, ...],
    partitions: int,
    replication_factor: int,
    configs: tuple[str, ...],
    if_not_exists: bool,  # noqa: FBT001 - a flag
) -> None:
    """Create TOPICS, such as: headwater topics create orders --partitions 3.

    `headwater configs describe topic NAME --all` lists what --config may set.
    """
    admin = cluster.admin()
    wanted = [name for name in topics if not (if_not_exists and name in admin.list_topics().topics)]
    if not wanted:
        return
    overrides = pairs(configs, "--config")
    settled(
        admin.create_topics(
            [
                NewTopic(
                    name,
                    num_partitions=partitions,
                    replication_factor=replication_factor,
                    config=overrides,
                )
                for name in wanted
            ]
        ),
        "creating",
    )
    click.echo(f"created {', '.join(wanted)}")


@topics.command()
@click.argument("topic")
@click.option("--partitions", type=click.IntRange(min=1), help="New number of partitions.")
@click.option("--config", "configs", multiple=True, metavar="NAME=VALUE", help="Set this.")
@click.option("--unset", "unset", multiple=True, metavar="NAME", help="Back to the default.")
@cluster_options
def alter(
    cluster: Cluster,
    topic: str,
    partitions: int | None,
    configs: tuple[str, ...],
    unset: tuple[str, ...],
) -> None:
    """Add partitions to TOPIC, or change its configuration."""
    admin = cluster.admin()
    if partitions is not None:
        settled(admin.create_partitions([NewPartitions(topic, partitions)]), "adding partitions to")
        click.echo(f"{topic} has {partitions} partitions now")
    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        for name, value in pairs(configs, "--config").items()
    ] + [ConfigEntry(name, "", incremental_operation=AlterConfigOpType.DELETE) for name in unset]
    if entries:
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
        changed: Any = admin.incremental_alter_configs([resource])
        settled({topic: changed[resource]}, "changing")
        click.echo(f"changed {', '.join(entry.name for entry in entries)} of {topic}")
    if partitions is None and not entries:
        raise click.UsageError("nothing to change: give --partitions, --config or --unset")


@topics.command()
@click.argument("topics", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--if-exists", is_flag=True, help="Fine when a topic is not there.")
@cluster_options
def delete(cluster: Cluster, topics: tuple[str, ...], yes: bool, if_exists: bool) -> None:  # noqa: FBT001 - flags
    """Delete TOPICS with all their records."""
    admin = cluster.admin()
    known = admin.list_topics().topics
    wanted = [name for name in topics if name in known or not if_exists]
    if not wanted:
        return
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("nobody can be asked here: --yes deletes without asking")
        click.confirm(f"delete {', '.join(wanted)} with all records?", abort=True)
    settled(admin.delete_topics(wanted), "deleting")
    click.echo(f"deleted {', '.join(wanted)}")


def _ordinary(admin: Any) -> list[str]:
    """Names of all topics but internal ones."""
    return [name for name in admin.list_topics().topics if not name.startswith("__")]


def _descriptions(admin: Any, names: list[str]) -> list[Any]:
    """Descriptions by name. Raises Refused naming every topic that is not there."""
    if not names:
        return []
    results = admin.describe_topics(TopicCollection(names))
    found = settled({name: results[name] for name in sorted(results)}, "describing")
    return list(found.values())
