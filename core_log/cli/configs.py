"""``headwater configs``: what is configured on topics and brokers, and where it comes from."""

import sys
from typing import Any, Final

import click
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # exported without saying so
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
)

from headwater.service.tables import columns, show

from .cluster import (
    Cluster,
    KafkaHabits,
    Refused,
    cluster_options,
    json_option,
    pairs,
    settled,
)

_SHOWN: Final = columns("name", "value", "source", "read_only", "sensitive")
_TYPES: Final = {
    "topic": ConfigResource.Type.TOPIC,
    "broker": ConfigResource.Type.BROKER,
    "group": ConfigResource.Type.GROUP,
}
_resource = click.argument("kind", type=click.Choice(list(_TYPES)))
_name = click.argument("name")


@click.group(cls=KafkaHabits)
def configs() -> None:
    """Configurations of topics, brokers and groups: describe, set, unset."""


@configs.command()
@_resource
@_name
@click.option("--all", "everything", is_flag=True, help="Defaults too, not only what was set.")
@json_option
@cluster_options
def describe(cluster: Cluster, kind: str, name: str, everything: bool, as_json: bool) -> None:  # noqa: FBT001 - flags
    """Configurations of one resource, such as: topic orders, or: broker 1."""
    admin = cluster.admin()  # kept: its destruction would end the request
    _check_broker(admin, kind, name)
    resource = ConfigResource(_TYPES[kind], name)
    answer: Any = admin.describe_configs([resource])
    entries = settled({name: answer[resource]}, f"describing {kind}")[name]
    rows = [
        {
            "name": entry.name,
            "value": entry.value,
            "source": ConfigSource(entry.source).name,
            "read_only": entry.is_read_only,
            "sensitive": entry.is_sensitive,
        }
        for entry in sorted(entries.values(), key=lambda entry: entry.name)
        if everything or not entry.is_default
    ]
    show(rows, _SHOWN, as_json=as_json, out=sys.stdout, empty="everything is at its default")


@configs.command("set")
@_resource
@_name
@click.argument("settings", nargs=-1, required=True, metavar="NAME=VALUE...")
@cluster_options
def set_configs(cluster: Cluster, kind: str, name: str, settings: tuple[str, ...]) -> None:
    """Set configurations of one resource; the others stay."""
    entries = [
        ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
        for key, value in pairs(settings, "NAME=VALUE").items()
    ]
    _change(cluster, kind, name, entries)


@configs.command()
@_resource
@_name
@click.argument("names", nargs=-1, required=True)
@cluster_options
def unset(cluster: Cluster, kind: str, name: str, names: tuple[str, ...]) -> None:
    """Back to the default."""
    entries = [
        ConfigEntry(key, "", incremental_operation=AlterConfigOpType.DELETE) for key in names
    ]
    _change(cluster, kind, name, entries)


def _change(cluster: Cluster, kind: str, name: str, entries: list[ConfigEntry]) -> None:
    admin = cluster.admin()
    _check_broker(admin, kind, name)
    resource = ConfigResource(_TYPES[kind], name, incremental_configs=entries)
    answer: Any = admin.incremental_alter_configs([resource])
    settled({name: answer[resource]}, f"changing {kind}")
    click.echo(f"changed {', '.join(entry.name for entry in entries)} of {kind} {name}")


def _check_broker(admin: Any, kind: str, name: str) -> None:
    """Raise Refused for a broker that is not there: librdkafka would wait for it in silence."""
    if kind != "broker":
        return
    known = sorted(admin.list_topics().brokers)
    if name not in map(str, known):
        raise Refused(f"there is no broker {name}; there are: {', '.join(map(str, known))}")
