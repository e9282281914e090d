"""Configurations change with Kafka's checks, codes and words."""

import pytest

from headwater.core_log.controller.alter_configs import (
    Operation,
    alter_configs,
    incremental_alter_configs,
)
from headwater.core_log.controller.image import ConfigResource, ConfigResourceType, MetadataImage
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages import alter_configs as legacy
from headwater.core_log.protocol.messages import incremental_alter_configs as incremental
from headwater.core_log.protocol.messages.alter_configs import AlterConfigsRequest
from headwater.core_log.protocol.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
)
from headwater.core_log.protocol.metadata.config_record import ConfigRecord

from .cluster import CONFIG, after, carried_out, cluster, topic, with_topics

SET, DELETE, APPEND, SUBTRACT = Operation
TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
INVALID_CONFIG, INVALID_REQUEST = ErrorCode.INVALID_CONFIG, ErrorCode.INVALID_REQUEST

IMAGE = after(
    with_topics(
        cluster(),
        topic("a", configs={"retention.ms": "1000", "cleanup.policy": "compact,delete"}),
    ),
    [ConfigRecord(resource_type=BROKER, resource_name="1", name="log.retention.ms", value="9")],
)

Change = tuple[str, int, str | None]


def resource(kind: int, name: str, *changes: Change) -> incremental.AlterConfigsResource:
    return incremental.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            incremental.AlterableConfig(name=key, config_operation=operation, value=value)
            for key, operation, value in changes
        ],
    )


def altered(*resources: incremental.AlterConfigsResource) -> tuple[MetadataImage, list[str | None]]:
    """The image afterwards, and each resource's error message."""
    decision = incremental_alter_configs(
        IMAGE, IncrementalAlterConfigsRequest(resources=[*resources]), CONFIG
    )
    return carried_out(IMAGE, decision), [r.error_message for r in decision.response.responses]


REFUSALS: list[tuple[int, str, Change, ErrorCode, str]] = [
    (
        TOPIC,
        "a",
        ("retention.ms", SET, "-5"),
        INVALID_CONFIG,
        "Invalid value -5 for configuration retention.ms: Value must be at least -1",
    ),
    (
        TOPIC,
        "a",
        ("retention.ms", SET, None),
        INVALID_REQUEST,
        "Null value not supported for : retention.ms",
    ),
    (TOPIC, "a", ("foo", SET, "1"), INVALID_CONFIG, "Unknown topic config name: foo"),
    (
        TOPIC,
        "a",
        ("retention.ms", APPEND, "1"),
        INVALID_CONFIG,
        "Can't APPEND to key retention.ms because its type is not LIST.",
    ),
    (
        TOPIC,
        "a",
        ("foo", SUBTRACT, "1"),
        INVALID_CONFIG,
        "Can't SUBTRACT to key foo because its type is not LIST.",
    ),
    (TOPIC, "a", ("foo", 9, "1"), INVALID_REQUEST, "Unknown config operation 9"),
    (
        TOPIC,
        "a",
        ("remote.storage.enable", SET, "true"),
        INVALID_CONFIG,
        (
            "Tiered Storage functionality is disabled in the broker. Topic cannot be configured "
            "with remote log storage."
        ),
    ),
    (
        TOPIC,
        "nope",
        ("retention.ms", SET, "1"),
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "The topic 'nope' does not exist.",
    ),
    (
        TOPIC,
        "",
        ("retention.ms", SET, "1"),
        INVALID_REQUEST,
        "Default topic resources are not allowed.",
    ),
    (
        TOPIC,
        "..",
        ("retention.ms", SET, "1"),
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        "Topic name is invalid: '..' is not allowed",
    ),
    (
        BROKER,
        "1",
        ("log.retention.ms", SET, "x"),
        INVALID_REQUEST,
        "Invalid value x for configuration log.retention.ms: Not a number of type LONG",
    ),
    (
        BROKER,
        "1",
        ("num.partitions", SET, "4"),
        INVALID_REQUEST,
        "Cannot update these configs dynamically: [num.partitions]",
    ),
    (
        BROKER,
        "",
        ("listeners", SET, "PLAINTEXT://:1"),
        INVALID_REQUEST,
        (
            "Cannot update these configs at default cluster level, broker id must be specified: "
            "[listeners]"
        ),
    ),
    (
        BROKER,
        "9",
        ("log.retention.ms", SET, "1"),
        INVALID_REQUEST,
        "Unexpected broker id, expected 1, but received 9",
    ),
    (
        BROKER,
        "x",
        ("log.retention.ms", SET, "1"),
        INVALID_REQUEST,
        "Node id must be an integer, but it is: x",
    ),
    (
        GROUP,
        "g",
        ("consumer.session.timeout.ms", SET, "5"),
        INVALID_CONFIG,
        (
            "consumer.session.timeout.ms must be greater than or equal to "
            "group.consumer.min.session.timeout.ms"
        ),
    ),
    (GROUP, "g", ("foo", SET, "5"), INVALID_CONFIG, "Unknown group config name: foo"),
    (
        GROUP,
        "",
        ("consumer.session.timeout.ms", SET, "50000"),
        INVALID_REQUEST,
        "Default group resources are not allowed.",
    ),
    (
        METRICS,
        "m",
        ("interval.ms", SET, "5"),
        INVALID_REQUEST,
        "Invalid value 5 for interval.ms, interval must be between 100 and 3600000 (1 hour)",
    ),
    (
        METRICS,
        "m",
        ("foo", SET, "5"),
        INVALID_REQUEST,
        "Unknown client metrics configuration: foo",
    ),
    (METRICS, "", ("interval.ms", SET, "500"), INVALID_REQUEST, "Subscription name can't be empty"),
    (LOGGER, "1", ("root", SET, "INFO"), INVALID_REQUEST, "Unknown resource type 8"),
    (3, "m", ("x", SET, "5"), INVALID_REQUEST, "Unknown resource type 3"),
]
"""Asked of Apache Kafka 4.3 and written down; loggers alone are our own refusal."""


@pytest.mark.parametrize(("kind", "name", "change", "code", "message"), REFUSALS)
def test_a_change_is_refused_in_kafkas_words(
    kind: int, name: str, change: Change, code: ErrorCode, message: str
) -> None:
    """The bad resource changes nothing, the good one beside it changes."""
    bad, good = resource(kind, name, change), resource(TOPIC, "a", ("retention.ms", SET, "2"))
    if (kind, name) == (TOPIC, "a"):
        good = resource(BROKER, "", ("log.retention.ms", SET, "2"))

    decision = incremental_alter_configs(
        IMAGE, IncrementalAlterConfigsRequest(resources=[bad, good]), CONFIG
    )

    first, second = decision.response.responses
    assert (first.error_code, first.error_message) == (code, message)
    assert (first.resource_type, first.resource_name) == (kind, name)
    assert (second.error_code, second.error_message) == (0, None)
    assert len(decision.records) == 1


@pytest.mark.parametrize(
    ("change", "value"),
    [
        (("cleanup.policy", APPEND, "delete"), "compact,delete"),
        (("cleanup.policy", SUBTRACT, "compact"), "delete"),
        (("cleanup.policy", SUBTRACT, "compact,delete,other"), ""),
        (("cleanup.policy", SET, " compact , delete "), " compact , delete "),
        (("cleanup.policy", SET, ""), ""),
        (("cleanup.policy", DELETE, None), None),
        (("flush.ms", DELETE, None), None),
        (("leader.replication.throttled.replicas", APPEND, "0:1,1:1"), "0:1,1:1"),
    ],
)
def test_operations_on_a_topic(change: Change, value: str | None) -> None:
    """Set and delete work on everything, append and subtract on the entries of lists."""
    image, errors = altered(resource(TOPIC, "a", change))

    assert errors == [None]
    assert image.topic_overrides("a").get(change[0]) == value


def test_append_to_what_is_not_set_extends_the_default() -> None:
    """The default's entries are not lost by adding one."""
    image, _ = altered(
        resource(TOPIC, "a", ("cleanup.policy", DELETE, None)),
    )
    request = IncrementalAlterConfigsRequest(
        resources=[resource(TOPIC, "a", ("cleanup.policy", APPEND, "compact"))]
    )

    image = carried_out(image, incremental_alter_configs(image, request, CONFIG))

    assert image.topic_overrides("a")["cleanup.policy"] == "delete,compact"


def test_values_are_checked_together_with_what_was_there() -> None:
    """A change that is fine by itself may contradict another value."""
    _, errors = altered(
        resource(
            TOPIC,
            "a",
            ("min.compaction.lag.ms", SET, "100"),
            ("max.compaction.lag.ms", SET, "50"),
        )
    )

    assert errors == [
        "conflict topic config setting min.compaction.lag.ms (100) > max.compaction.lag.ms (50)"
    ]


def test_the_same_value_writes_no_record() -> None:
    """Asking again costs nothing."""
    request = IncrementalAlterConfigsRequest(
        resources=[resource(TOPIC, "a", ("retention.ms", SET, "1000"), ("flush.ms", DELETE, None))]
    )

    assert incremental_alter_configs(IMAGE, request, CONFIG).records == ()


def test_one_key_or_one_resource_twice_is_refused() -> None:
    """It would not be clear which of them holds."""
    keys = resource(TOPIC, "a", ("retention.ms", SET, "1"), ("retention.ms", SET, "2"))
    _, errors = altered(keys)
    _, both = altered(resource(TOPIC, "a"), resource(TOPIC, "a"))

    assert errors == ["Error due to duplicate config keys"]
    assert both == ["Each resource must appear at most once."] * 2


def test_validate_only_writes_nothing() -> None:
    """The answer is the same."""
    request = IncrementalAlterConfigsRequest(
        resources=[resource(TOPIC, "a", ("retention.ms", SET, "2"))], validate_only=True
    )

    decision = incremental_alter_configs(IMAGE, request, CONFIG)

    assert decision.records == ()
    assert decision.response.responses[0].error_code == 0


def test_brokers_groups_and_metrics_have_configurations_too() -> None:
    """For one broker, for all of them, for a group, for a subscription."""
    image, errors = altered(
        resource(BROKER, "1", ("log.retention.ms", DELETE, None), ("plugin.own", SET, "x")),
        resource(BROKER, "", ("log.retention.ms", SET, "7000")),
        resource(GROUP, "g", ("consumer.session.timeout.ms", SET, "50000")),
        resource(METRICS, "m", ("interval.ms", SET, "500")),
    )

    assert errors == [None] * 4
    kinds = ConfigResourceType
    assert image.overrides(ConfigResource(kinds.BROKER, "1")) == {"plugin.own": "x"}
    assert image.overrides(ConfigResource(kinds.BROKER, "")) == {"log.retention.ms": "7000"}
    assert image.overrides(ConfigResource(kinds.GROUP, "g"))
    assert image.overrides(ConfigResource(kinds.CLIENT_METRICS, "m"))


def replaced(
    kind: int, name: str, configs: dict[str, str | None], *, validate_only: bool = False
) -> tuple[MetadataImage, int, str | None]:
    request = AlterConfigsRequest(
        resources=[
            legacy.AlterConfigsResource(
                resource_type=kind,
                resource_name=name,
                configs=[
                    legacy.AlterableConfig(name=key, value=value) for key, value in configs.items()
                ],
            )
        ],
        validate_only=validate_only,
    )
    decision = alter_configs(IMAGE, request, CONFIG)
    (result,) = decision.response.responses
    return carried_out(IMAGE, decision), result.error_code, result.error_message


def test_the_old_request_replaces_everything() -> None:
    """What is not named goes back to its default."""
    image, code, _ = replaced(TOPIC, "a", {"flush.ms": "5", "retention.ms": "1000"})

    assert code == 0
    assert image.topic_overrides("a") == {"flush.ms": "5", "retention.ms": "1000"}
    assert replaced(TOPIC, "a", {"flush.ms": "5"}, validate_only=True)[0].configs == IMAGE.configs


@pytest.mark.parametrize(
    ("kind", "name", "configs", "code", "message"),
    [
        (
            TOPIC,
            "a",
            {"retention.ms": None},
            INVALID_REQUEST,
            "Null value not supported for : retention.ms",
        ),
        (TOPIC, "a", {"foo": "1"}, INVALID_CONFIG, "Unknown topic config name: foo"),
        (
            TOPIC,
            "nope",
            {},
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "The topic 'nope' does not exist.",
        ),
        (LOGGER, "1", {"root": "INFO"}, INVALID_REQUEST, "Unknown resource type 8"),
    ],
)
def test_the_old_request_is_refused_alike(
    kind: int, name: str, configs: dict[str, str | None], code: ErrorCode, message: str
) -> None:
    """The checks are the same."""
    image, found, text = replaced(kind, name, configs)

    assert (found, text) == (code, message)
    assert image.configs == IMAGE.configs
