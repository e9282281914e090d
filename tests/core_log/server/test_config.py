"""Settings of a broker process: what is refused, and what the parts are told."""

import pytest

from headwater.core_log.broker.config import Endpoint
from headwater.core_log.server.config import (
    BrokerSettings,
    broker_config,
    connection_limits,
    group_config,
    intervals,
    static_configs,
)
from headwater.service.kinds import ListenerAddress
from headwater.service.settings import SettingConflict

PLAIN = ListenerAddress("PLAINTEXT", "127.0.0.1", 9092)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"configs": {"log.retention.hours": "soon"}}, "log.retention.hours"),
        ({"listeners": (PLAIN, PLAIN)}, "named alike"),
        ({"listeners": (ListenerAddress("SSL", "h", 1),)}, "PLAINTEXT only"),
        (
            {
                "listeners": (ListenerAddress("INSIDE", "h", 1),),
                "configs": {"listener.security.protocol.map": "INSIDE:SASL_SSL"},
            },
            "SASL_SSL",
        ),
        ({"advertised_listeners": (ListenerAddress("OTHER", "h", 1),)}, "no listener is named"),
    ],
)
def test_what_cannot_be_served_is_refused_with_its_reason(
    settings: dict[str, object], told: str
) -> None:
    with pytest.raises(SettingConflict, match=told):
        BrokerSettings(**settings)  # type: ignore[arg-type]  # what a user might write


def test_a_listener_may_have_any_name_that_maps_to_plaintext() -> None:
    settings = BrokerSettings(
        listeners=(ListenerAddress("INSIDE", "h", 1),),
        configs={"listener.security.protocol.map": "INSIDE:plaintext, OUT:SSL"},
    )
    assert settings.protocol_of("INSIDE") == "PLAINTEXT"


def test_kafka_s_names_reach_the_parts() -> None:
    settings = BrokerSettings(
        configs={
            "num.partitions": "4",
            "auto.create.topics.enable": "false",
            "offsets.topic.num.partitions": "7",
            "group.initial.rebalance.delay.ms": "5",
            "offsets.retention.minutes": "3",
            "log.retention.check.interval.ms": "77",
            "max.connections.per.ip": "9",
            "fetch.max.bytes": "2000",
        }
    )
    endpoint = Endpoint(listener="PLAINTEXT", host="h", port=1)
    broker = broker_config(settings, (endpoint,))
    assert (broker.num_partitions, broker.auto_create_topics) == (4, False)
    assert (broker.offsets_topic_partitions, broker.fetch_bytes_max) == (7, 2000)
    assert broker.advertised == (endpoint,)
    groups = group_config(settings)
    assert (groups.initial_rebalance_delay_ms, groups.offsets_retention_ms) == (5, 180_000)
    assert intervals(settings).retention_check_ms == 77
    assert connection_limits(settings).connections_per_ip_max == 9


def test_a_configuration_falls_back_to_the_one_it_is_derived_from() -> None:
    """log.retention.ms falls back to log.retention.minutes and log.retention.hours."""
    settings = BrokerSettings(configs={"num.partitions": "2"})
    assert settings.value("num.partitions") == 2
    assert settings.whole("socket.request.max.bytes") == 100 * 1024 * 1024


def test_describe_configs_shows_what_was_given_at_the_start() -> None:
    settings = BrokerSettings(
        node_id=5,
        rack="r",
        advertised_listeners=(ListenerAddress("PLAINTEXT", "outside", 1),),
        configs={"a.key.of.a.plugin": "x"},
    )
    shown = static_configs(settings)
    assert shown["node.id"] == shown["broker.id"] == "5"
    assert shown["broker.rack"] == "r"
    assert shown["a.key.of.a.plugin"] == "x"
    assert shown["advertised.listeners"].endswith("outside:1")
