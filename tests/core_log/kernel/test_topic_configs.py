"""The topic configurations are Kafka 4.3's."""

import pytest

from headwater.core_log.kernel.config_keys import LONG_MAX, ConfigInvalid, ConfigType
from headwater.core_log.kernel.topic_configs import TOPIC_CONFIGS, check_topic_configs

FOREVER = str(LONG_MAX)

KAFKA = {
    "cleanup.policy": ("LIST", "delete", "log.cleanup.policy"),
    "compression.gzip.level": ("INT", "-1", "compression.gzip.level"),
    "compression.lz4.level": ("INT", "9", "compression.lz4.level"),
    "compression.type": ("STRING", "producer", "compression.type"),
    "compression.zstd.level": ("INT", "3", "compression.zstd.level"),
    "delete.retention.ms": ("LONG", "86400000", "log.cleaner.delete.retention.ms"),
    "file.delete.delay.ms": ("LONG", "60000", "log.segment.delete.delay.ms"),
    "flush.messages": ("LONG", FOREVER, "log.flush.interval.messages"),
    "flush.ms": ("LONG", FOREVER, "log.flush.interval.ms"),
    "follower.replication.throttled.replicas": ("LIST", "", None),
    "index.interval.bytes": ("INT", "4096", "log.index.interval.bytes"),
    "internal.segment.bytes": ("INT", None, None),
    "leader.replication.throttled.replicas": ("LIST", "", None),
    "local.retention.bytes": ("LONG", "-2", "log.local.retention.bytes"),
    "local.retention.ms": ("LONG", "-2", "log.local.retention.ms"),
    "max.compaction.lag.ms": ("LONG", FOREVER, "log.cleaner.max.compaction.lag.ms"),
    "max.message.bytes": ("INT", "1048588", "message.max.bytes"),
    "message.timestamp.after.max.ms": ("LONG", "3600000", "log.message.timestamp.after.max.ms"),
    "message.timestamp.before.max.ms": ("LONG", FOREVER, "log.message.timestamp.before.max.ms"),
    "message.timestamp.type": ("STRING", "CreateTime", "log.message.timestamp.type"),
    "min.cleanable.dirty.ratio": ("DOUBLE", "0.5", "log.cleaner.min.cleanable.ratio"),
    "min.compaction.lag.ms": ("LONG", "0", "log.cleaner.min.compaction.lag.ms"),
    "min.insync.replicas": ("INT", "1", "min.insync.replicas"),
    "preallocate": ("BOOLEAN", "false", "log.preallocate"),
    "remote.log.copy.disable": ("BOOLEAN", "false", None),
    "remote.log.delete.on.disable": ("BOOLEAN", "false", None),
    "remote.storage.enable": ("BOOLEAN", "false", None),
    "retention.bytes": ("LONG", "-1", "log.retention.bytes"),
    "retention.ms": ("LONG", "604800000", "log.retention.ms"),
    "segment.bytes": ("INT", "1073741824", "log.segment.bytes"),
    "segment.index.bytes": ("INT", "10485760", "log.index.size.max.bytes"),
    "segment.jitter.ms": ("LONG", "0", "log.roll.jitter.ms"),
    "segment.ms": ("LONG", "604800000", "log.roll.ms"),
    "unclean.leader.election.enable": ("BOOLEAN", "false", "unclean.leader.election.enable"),
}
"""Type, default and strongest broker name, as Apache Kafka 4.3.0 lists them."""


def test_every_configuration_is_kafkas() -> None:
    """Name, type, default, broker name; but for the one default that deviates."""
    ours = {
        name: (
            ConfigType(key.type).name,
            key.default,
            key.broker_names[0].name if key.broker_names else None,
        )
        for name, key in TOPIC_CONFIGS.items()
    }

    assert ours["flush.messages"] == ("LONG", "1", "log.flush.interval.messages")
    assert ours | {"flush.messages": KAFKA["flush.messages"]} == KAFKA


def test_every_configuration_says_what_it_does() -> None:
    """One sentence, for the docs and for DescribeConfigs."""
    for key in TOPIC_CONFIGS.values():
        assert key.doc.endswith(".")
        assert len(key.doc) > 20


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        ({"foo": "1"}, "Unknown topic config name: foo"),
        ({"retention.ms": "x"}, "Not a number of type LONG"),
        ({"remote.storage.enable": "true"}, "Tiered Storage functionality is disabled"),
        (
            {"min.compaction.lag.ms": "2", "max.compaction.lag.ms": "1"},
            r"min.compaction.lag.ms \(2\) > max.compaction.lag.ms \(1\)",
        ),
    ],
)
def test_configurations_that_cannot_be_together_are_refused(
    overrides: dict[str, str], reason: str
) -> None:
    """The first thing that is wrong is named."""
    with pytest.raises(ConfigInvalid, match=reason):
        check_topic_configs(overrides)


def test_configurations_that_can_be_together_pass() -> None:
    """Equal lags, remote storage off, nothing at all."""
    check_topic_configs({"min.compaction.lag.ms": "1", "max.compaction.lag.ms": "1"})
    check_topic_configs({"remote.storage.enable": "false"})
    check_topic_configs({})
