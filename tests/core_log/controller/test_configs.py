"""Which value is in force, where it comes from, and how it is shown."""

import pytest

from headwater.core_log.controller.configs import (
    ConfigSource,
    describe_configs,
    effective_broker_config,
    effective_topic_configs,
    list_config_resources,
)
from headwater.core_log.controller.decision import ControllerConfig
from headwater.core_log.controller.image import MetadataImage
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.kernel.topic_configs import TOPIC_CONFIGS
from headwater.core_log.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
)
from headwater.core_log.protocol.messages.list_config_resources import ListConfigResourcesRequest
from headwater.core_log.protocol.metadata.config_record import ConfigRecord

from .cluster import CONFIG, after, cluster, topic, with_topics

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
STATIC = ControllerConfig(
    node_id=1,
    static_configs={"log.retention.hours": "24", "node.id": "1", "ssl.keystore.password": "pw"},
)


def set_on(kind: int, name: str, key: str, value: str) -> ConfigRecord:
    return ConfigRecord(resource_type=kind, resource_name=name, name=key, value=value)


BASE = with_topics(cluster(), topic("a"))
OWN = set_on(TOPIC, "a", "retention.ms", "1")
FOR_BROKER = set_on(BROKER, "1", "log.retention.ms", "2")
FOR_ALL = set_on(BROKER, "", "log.retention.ms", "3")
FOR_OTHER = set_on(BROKER, "2", "log.retention.ms", "4")

DAY = ("log.retention.hours", "24", ConfigSource.STATIC_BROKER)
WEEK = ("log.retention.hours", "168", ConfigSource.DEFAULT)


def described(
    image: MetadataImage,
    kind: int,
    name: str,
    keys: list[str] | None = None,
    *,
    config: ControllerConfig = STATIC,
    documentation: bool = False,
) -> DescribeConfigsResult:
    resource = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=keys
    )
    request = DescribeConfigsRequest(
        resources=[resource], include_synonyms=True, include_documentation=documentation
    )
    (result,) = describe_configs(image, request, config).results
    return result


def entry(
    image: MetadataImage, kind: int, name: str, key: str, *, config: ControllerConfig = STATIC
) -> DescribeConfigsResourceResult:
    (found,) = described(image, kind, name, [key], config=config).configs
    return found


@pytest.mark.parametrize(
    ("records", "value", "synonyms"),
    [
        ([], "86400000", [DAY, WEEK]),
        ([FOR_OTHER], "86400000", [DAY, WEEK]),
        (
            [FOR_ALL],
            "3",
            [("log.retention.ms", "3", ConfigSource.DYNAMIC_DEFAULT_BROKER), DAY, WEEK],
        ),
        (
            [FOR_ALL, FOR_BROKER],
            "2",
            [
                ("log.retention.ms", "2", ConfigSource.DYNAMIC_BROKER),
                ("log.retention.ms", "3", ConfigSource.DYNAMIC_DEFAULT_BROKER),
                DAY,
                WEEK,
            ],
        ),
        (
            [FOR_BROKER, OWN],
            "1",
            [
                ("retention.ms", "1", ConfigSource.TOPIC),
                ("log.retention.ms", "2", ConfigSource.DYNAMIC_BROKER),
                DAY,
                WEEK,
            ],
        ),
    ],
)
def test_the_strongest_place_wins_and_all_are_listed(
    records: list[ConfigRecord], value: str, synonyms: list[tuple[str, str, int]]
) -> None:
    """Topic, this broker, all brokers, the start, the default; hours are shown as hours."""
    image = after(BASE, records)

    found = entry(image, TOPIC, "a", "retention.ms")

    assert found.value == value
    assert [(s.name, s.value, s.source) for s in found.synonyms] == synonyms
    assert found.config_source == synonyms[0][2]
    assert effective_topic_configs(image, "a", STATIC)["retention.ms"] == value


def test_without_any_setting_every_default_is_in_force() -> None:
    """Each listed configuration parses; the internal one is left out."""
    effective = effective_topic_configs(BASE, "a", CONFIG)

    assert len(effective) == 33
    for name, value in effective.items():
        assert value == TOPIC_CONFIGS[name].default
        TOPIC_CONFIGS[name].parse(value or "")


def test_flushing_each_batch_is_the_default_and_lazy_flushing_a_setting() -> None:
    """The one default that is not Kafka's; the broker's own default goes through its name."""
    lazy = ControllerConfig(node_id=1, static_configs={"log.flush.interval.messages": "10000"})

    assert effective_topic_configs(BASE, "a", CONFIG)["flush.messages"] == "1"
    assert effective_topic_configs(BASE, "a", lazy)["flush.messages"] == "10000"


def test_an_internal_configuration_shows_only_when_set() -> None:
    """internal.segment.bytes is for tests, as in Kafka."""
    image = after(BASE, [set_on(TOPIC, "a", "internal.segment.bytes", "2000")])

    assert "internal.segment.bytes" not in effective_topic_configs(BASE, "a", CONFIG)
    assert effective_topic_configs(image, "a", CONFIG)["internal.segment.bytes"] == "2000"


def test_a_topic_is_described_whole_or_by_key() -> None:
    """Unknown keys are passed over; an empty list of keys means all; docs only when asked for."""
    assert len(described(BASE, TOPIC, "a").configs) == 33
    assert len(described(BASE, TOPIC, "a", []).configs) == 33
    (found,) = described(BASE, TOPIC, "a", ["retention.ms", "foo"]).configs
    assert found.documentation is None
    assert (found.read_only, found.is_sensitive, found.config_type) == (False, False, 5)
    (with_doc,) = described(BASE, TOPIC, "a", ["retention.ms"], documentation=True).configs
    assert with_doc.documentation == TOPIC_CONFIGS["retention.ms"].doc


def test_values_are_shown_as_they_are_understood() -> None:
    """Whatever the spelling in which they were set."""
    image = after(
        BASE,
        [
            set_on(TOPIC, "a", "preallocate", "TRUE"),
            set_on(TOPIC, "a", "cleanup.policy", " compact , delete "),
        ],
    )

    assert entry(image, TOPIC, "a", "preallocate").value == "true"
    assert entry(image, TOPIC, "a", "cleanup.policy").value == "compact,delete"


def test_a_brokers_own_configurations() -> None:
    """What cannot change while it runs is read-only; names that stand in are synonyms only."""
    image = after(BASE, [set_on(BROKER, "1", "message.max.bytes", "5")])
    node_id = entry(image, BROKER, "1", "node.id")
    limit = entry(image, BROKER, "1", "message.max.bytes")
    retention = entry(image, BROKER, "1", "log.retention.ms")

    assert (node_id.value, node_id.config_source, node_id.read_only) == ("1", 4, True)
    assert (limit.value, limit.config_source, limit.read_only) == ("5", 2, False)
    assert [s.source for s in limit.synonyms] == [2, 5]
    assert (retention.value, retention.config_source) == (None, 5)
    assert [s.name for s in retention.synonyms] == ["log.retention.hours", "log.retention.hours"]
    assert effective_broker_config(image, "message.max.bytes", STATIC) == "5"
    assert effective_broker_config(image, "log.retention.ms", STATIC) is None


def test_an_unknown_setting_of_a_broker_is_not_shown() -> None:
    """It may be a secret: name and source are listed, the value nowhere."""
    found = entry(BASE, BROKER, "1", "ssl.keystore.password")

    assert found.is_sensitive
    assert found.value is None
    assert [(s.value, s.source) for s in found.synonyms] == [(None, 4)]


def test_the_cluster_default_lists_what_is_set() -> None:
    """Other values belong to brokers."""
    image = after(BASE, [FOR_ALL, set_on(BROKER, "", "own.plugin", "x")])

    shown = [(c.name, c.value, c.config_source) for c in described(image, BROKER, "").configs]

    assert shown == [("log.retention.ms", "3", 3), ("own.plugin", None, 3)]


def test_groups_and_subscriptions_have_their_own_sources() -> None:
    """Defaults are listed below what is set."""
    image = after(
        BASE,
        [
            set_on(GROUP, "g", "consumer.session.timeout.ms", "50000"),
            set_on(METRICS, "m", "interval.ms", "500"),
        ],
    )
    timeout = entry(image, GROUP, "g", "consumer.session.timeout.ms")
    interval = entry(image, METRICS, "m", "interval.ms")

    assert (timeout.value, timeout.config_source) == ("50000", 8)
    assert [(s.value, s.source) for s in timeout.synonyms] == [("50000", 8), ("45000", 5)]
    assert (interval.value, interval.config_source) == ("500", 7)
    assert entry(image, GROUP, "other", "consumer.session.timeout.ms").value == "45000"


@pytest.mark.parametrize(
    ("kind", "name", "code", "message"),
    [
        (TOPIC, "nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ""),
        (
            TOPIC,
            "",
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            "Topic name is invalid: the empty string is not allowed",
        ),
        (
            BROKER,
            "9",
            ErrorCode.INVALID_REQUEST,
            "Unexpected broker id, expected 1 or empty string, but received 9",
        ),
        (
            BROKER,
            "x",
            ErrorCode.INVALID_REQUEST,
            "Broker id must be an integer, but it is: x",
        ),
        (LOGGER, "", ErrorCode.INVALID_REQUEST, "Broker id must not be empty"),
        (
            LOGGER,
            "9",
            ErrorCode.INVALID_REQUEST,
            "Unexpected broker id, expected 1 but received 9",
        ),
        (GROUP, "", ErrorCode.INVALID_REQUEST, "Group name must not be empty"),
        (
            METRICS,
            "",
            ErrorCode.INVALID_REQUEST,
            "Client metrics subscription name must not be empty",
        ),
        (3, "x", ErrorCode.INVALID_REQUEST, "Unsupported resource type: 3"),
    ],
)
def test_what_cannot_be_described_says_why(
    kind: int, name: str, code: ErrorCode, message: str
) -> None:
    """In Kafka's words, beside the resource."""
    result = described(BASE, kind, name)

    assert (result.error_code, result.error_message) == (code, message)
    assert (result.resource_type, result.resource_name) == (kind, name)
    assert result.configs == []


def test_log_levels_are_an_empty_list() -> None:
    """They are set at the start, not over the protocol."""
    assert described(BASE, LOGGER, "1").configs == []


def listed(version: int, *kinds: int) -> list[tuple[int, str]] | int:
    image = after(
        BASE,
        [
            set_on(GROUP, "g", "consumer.session.timeout.ms", "50000"),
            set_on(METRICS, "m", "interval.ms", "500"),
        ],
    )
    response = list_config_resources(
        image, ListConfigResourcesRequest(resource_types=[*kinds]), version=version
    )
    found = [(r.resource_type, r.resource_name) for r in response.config_resources]
    return response.error_code or found


def test_resources_with_configurations_are_listed() -> None:
    """All kinds, some kinds, and subscriptions alone in version 0."""
    everything = listed(1)
    assert isinstance(everything, list)
    assert sorted(everything) == [(2, "a"), (4, "1"), (8, "1"), (16, "m"), (32, "g")]
    assert listed(1, TOPIC, GROUP) == [(2, "a"), (32, "g")]
    assert listed(0) == [(16, "m")]
    assert listed(1, TOPIC, 99) == ErrorCode.UNSUPPORTED_VERSION
