"""Which configuration is in force, where it comes from, and how DescribeConfigs shows it.

Pure. Kafka's precedence: the topic's own value, then for each broker name that stands in for it
the value set dynamically for the broker, dynamically for all, statically, by default.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Final, TypeAlias

from ..kernel.broker_configs import BROKER_CONFIGS
from ..kernel.config_keys import BrokerName, ConfigKey, ConfigType, Dynamic
from ..kernel.errors import ApiError, ErrorCode
from ..kernel.group_configs import CLIENT_METRICS_CONFIGS, GROUP_CONFIGS
from ..kernel.topic_configs import TOPIC_CONFIGS
from ..protocol.messages import list_config_resources as listing
from ..protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from ..protocol.messages.list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from .decision import ControllerConfig
from .image import CLUSTER_DEFAULT, ConfigResource, ConfigResourceType, MetadataImage
from .names import topic_name_error

_UNKNOWN_TYPE: Final = 0


class ConfigSource(IntEnum):
    """Where a value comes from; numbers of the DescribeConfigs response."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    GROUP = 8
    CLIENT_METRICS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Synonym:
    """One place a value could come from, and what stands there."""

    name: str
    value: str
    source: ConfigSource
    factor: int = 1

    @property
    def converted(self) -> str:
        """The value in the unit of the configuration it stands in for."""
        return self.value if self.factor == 1 else str(int(self.value) * self.factor)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEntry:
    """One configuration as it is in force."""

    key: ConfigKey
    value: str | None
    source: ConfigSource
    synonyms: tuple[Synonym, ...]
    read_only: bool = False


def effective_topic_configs(
    image: MetadataImage, topic: str, config: ControllerConfig
) -> dict[str, str | None]:
    """Every topic configuration by name, as text that its key parses; for a new topic too."""
    overrides = image.topic_overrides(topic)
    return {
        entry.key.name: overrides.get(entry.key.name, entry.value)
        for entry in _topic_defaults(_places(image, config))
        if not entry.key.internal or entry.key.name in overrides
    }


def effective_broker_config(
    image: MetadataImage, name: str, config: ControllerConfig
) -> str | None:
    """The value in force under one broker configuration's own name."""
    return next(
        (
            synonym.value
            for synonym in _broker_synonyms(_places(image, config), (BrokerName(name),))
        ),
        None,
    )


def topic_entries(
    image: MetadataImage, overrides: Mapping[str, str], config: ControllerConfig
) -> Iterator[ConfigEntry]:
    """Every listed topic configuration of a topic with these overrides."""
    for default in _topic_defaults(_places(image, config)):
        key = default.key
        if key.name in overrides:
            own = Synonym(name=key.name, value=overrides[key.name], source=ConfigSource.TOPIC)
            yield _entry(key, [own, *default.synonyms])
        elif not key.internal:
            yield default


def describe_configs(
    image: MetadataImage, request: DescribeConfigsRequest, config: ControllerConfig
) -> DescribeConfigsResponse:
    """Configurations of each resource asked for; errors stand beside the resource."""
    return DescribeConfigsResponse(
        results=[_described(image, resource, request, config) for resource in request.resources]
    )


def list_config_resources(
    image: MetadataImage, request: ListConfigResourcesRequest, *, version: int
) -> ListConfigResourcesResponse:
    """Resources that have, or may have, configurations. Version 0 knows client metrics only."""
    kinds = [*_LISTED] if not request.resource_types else request.resource_types
    if version == 0:
        kinds = [ConfigResourceType.CLIENT_METRICS]
    if any(kind not in _LISTED for kind in kinds):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    return ListConfigResourcesResponse(
        config_resources=[
            listing.ConfigResource(resource_name=name, resource_type=kind)
            for kind in kinds
            for name in _names(image, ConfigResourceType(kind))
        ]
    )


_LISTED: Final = (
    ConfigResourceType.BROKER_LOGGER,
    ConfigResourceType.BROKER,
    ConfigResourceType.TOPIC,
    ConfigResourceType.GROUP,
    ConfigResourceType.CLIENT_METRICS,
)


def _names(image: MetadataImage, kind: ConfigResourceType) -> list[str]:
    match kind:
        case ConfigResourceType.TOPIC:
            return [*image.topics]
        case ConfigResourceType.BROKER | ConfigResourceType.BROKER_LOGGER:
            return [str(broker_id) for broker_id in sorted(image.brokers)]
        case _:
            return [resource.name for resource in image.configs if resource.type == kind]


def _described(
    image: MetadataImage,
    resource: DescribeConfigsResource,
    request: DescribeConfigsRequest,
    config: ControllerConfig,
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(
        resource_type=resource.resource_type, resource_name=resource.resource_name
    )
    try:
        entries = _entries(image, resource.resource_type, resource.resource_name, config)
    except ApiError as error:
        result.error_code, result.error_message = error.code, error.message or ""
        return result
    wanted = frozenset(resource.configuration_keys or ())
    result.configs = [
        _shown(entry, request) for entry in entries if not wanted or entry.key.name in wanted
    ]
    return result


def _shown(entry: ConfigEntry, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    secret = entry.key.is_sensitive
    return DescribeConfigsResourceResult(
        name=entry.key.name,
        value=None if secret or entry.value is None else entry.key.normal(entry.value),
        read_only=entry.read_only,
        config_source=entry.source,
        is_sensitive=secret,
        synonyms=[
            DescribeConfigsSynonym(
                name=synonym.name, value=None if secret else synonym.value, source=synonym.source
            )
            for synonym in entry.synonyms
        ]
        if request.include_synonyms
        else [],
        config_type=entry.key.type,
        documentation=entry.key.doc if request.include_documentation else None,
    )


def _entries(
    image: MetadataImage, kind: int, name: str, config: ControllerConfig
) -> Sequence[ConfigEntry]:
    """The entries of a resource. Raises ApiError with Kafka's reason."""
    match kind:
        case ConfigResourceType.TOPIC:
            return _topic(image, name, config)
        case ConfigResourceType.BROKER if name == CLUSTER_DEFAULT:
            return _cluster_default(image)
        case ConfigResourceType.BROKER:
            _check_broker(name, config, "expected {} or empty string, but received {}")
            return [*_broker(image, config)]
        case ConfigResourceType.BROKER_LOGGER:
            if not name:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
            _check_broker(name, config, "expected {} but received {}")
            return []  # log levels are set at the start here, not by Kafka's protocol
        case ConfigResourceType.GROUP:
            _check_named(name, "Group name must not be empty")
            return _simple(image, GROUP_CONFIGS, kind, name, ConfigSource.GROUP)
        case ConfigResourceType.CLIENT_METRICS:
            _check_named(name, "Client metrics subscription name must not be empty")
            return _simple(image, CLIENT_METRICS_CONFIGS, kind, name, ConfigSource.CLIENT_METRICS)
        case _:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Unsupported resource type: {kind}")


def _topic(image: MetadataImage, name: str, config: ControllerConfig) -> list[ConfigEntry]:
    error = topic_name_error(name)
    if error is not None:
        raise error
    if image.topic(name) is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return [*topic_entries(image, image.topic_overrides(name), config)]


def _broker(image: MetadataImage, config: ControllerConfig) -> Iterator[ConfigEntry]:
    own = image.overrides(ConfigResource(ConfigResourceType.BROKER, str(config.node_id)))
    known = {*own, *image.overrides(_CLUSTER), *config.static_configs}
    places = _places(image, config)
    for key in BROKER_CONFIGS.values():
        synonyms = tuple(_broker_synonyms(places, _broker_chain(key)))
        mine = [synonym for synonym in synonyms if synonym.name == key.name]
        yield ConfigEntry(
            key=key,
            value=mine[0].value if mine else None,
            source=mine[0].source if mine else ConfigSource.DEFAULT,
            synonyms=synonyms,
            read_only=key.dynamic is Dynamic.READ_ONLY,
        )
    for name in sorted(known - BROKER_CONFIGS.keys()):
        yield _stranger(image, name, config)


def _stranger(image: MetadataImage, name: str, config: ControllerConfig) -> ConfigEntry:
    """A configuration that somebody set and the table does not have: it may be a secret."""
    key = ConfigKey(name=name, type=ConfigType.PASSWORD, default=None, doc="Not known here.")
    synonyms = tuple(_broker_synonyms(_places(image, config), (BrokerName(name),)))
    return ConfigEntry(key=key, value=None, source=synonyms[0].source, synonyms=synonyms)


def _cluster_default(image: MetadataImage) -> list[ConfigEntry]:
    """Only what is set: there is no broker whose values could be shown."""
    source = ConfigSource.DYNAMIC_DEFAULT_BROKER
    return [
        _entry(
            BROKER_CONFIGS.get(name)
            or ConfigKey(name=name, type=ConfigType.PASSWORD, default=None, doc="Not known here."),
            [Synonym(name=name, value=value, source=source)],
        )
        for name, value in image.overrides(_CLUSTER).items()
    ]


def _simple(
    image: MetadataImage,
    table: Mapping[str, ConfigKey],
    kind: int,
    name: str,
    source: ConfigSource,
) -> list[ConfigEntry]:
    overrides = image.overrides(ConfigResource(ConfigResourceType(kind), name))
    return [
        _entry(
            key,
            [
                *([_override(key, overrides, source)] if key.name in overrides else []),
                Synonym(name=key.name, value=key.default or "", source=ConfigSource.DEFAULT),
            ],
        )
        for key in table.values()
    ]


_CLUSTER: Final = ConfigResource(ConfigResourceType.BROKER, CLUSTER_DEFAULT)


Place: TypeAlias = tuple[ConfigSource, tuple[tuple[str, str], ...]]
"""Where broker configurations are set, and what is set there."""


def _places(image: MetadataImage, config: ControllerConfig) -> tuple[Place, ...]:
    """The places for this node, strongest first, as a value that can key a cache."""
    own = image.overrides(ConfigResource(ConfigResourceType.BROKER, str(config.node_id)))
    return (
        (ConfigSource.DYNAMIC_BROKER, tuple(own.items())),
        (ConfigSource.DYNAMIC_DEFAULT_BROKER, tuple(image.overrides(_CLUSTER).items())),
        (ConfigSource.STATIC_BROKER, tuple(config.static_configs.items())),
    )


@lru_cache(maxsize=8)
def _topic_defaults(places: tuple[Place, ...]) -> tuple[ConfigEntry, ...]:
    """Every topic configuration of a topic that sets nothing itself.

    Cached, because with thousands of topics all but a few share it.
    """
    return tuple(
        _entry(key, [*_broker_synonyms(places, key.broker_names)]) for key in TOPIC_CONFIGS.values()
    )


def _broker_chain(key: ConfigKey) -> tuple[BrokerName, ...]:
    return tuple(BrokerName(name) for name in (key.name, *key.fallbacks))


def _broker_synonyms(places: tuple[Place, ...], chain: Sequence[BrokerName]) -> Iterator[Synonym]:
    """Values set under the names of *chain*, strongest first."""
    settings = [(source, dict(items)) for source, items in places]
    for broker_name in chain:
        for source, values in settings:
            value = values.get(broker_name.name)
            if value is not None:
                yield Synonym(
                    name=broker_name.name, value=value, source=source, factor=broker_name.factor
                )
        key = BROKER_CONFIGS.get(broker_name.name)
        if key is not None and key.default is not None:
            yield Synonym(
                name=broker_name.name,
                value=key.default,
                source=ConfigSource.DEFAULT,
                factor=broker_name.factor,
            )


def _override(key: ConfigKey, overrides: Mapping[str, str], source: ConfigSource) -> Synonym:
    return Synonym(name=key.name, value=overrides[key.name], source=source)


def _entry(key: ConfigKey, synonyms: Sequence[Synonym]) -> ConfigEntry:
    first = synonyms[0] if synonyms else None
    return ConfigEntry(
        key=key,
        value=key.default if first is None else first.converted,
        source=ConfigSource.DEFAULT if first is None else first.source,
        synonyms=tuple(synonyms),
    )


def _check_broker(name: str, config: ControllerConfig, expectation: str) -> None:
    if not name.isascii() or not name.isdecimal():
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}"
        )
    if name != str(config.node_id):
        text = expectation.format(config.node_id, name)
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Unexpected broker id, {text}")


def _check_named(name: str, problem: str) -> None:
    if not name:
        raise ApiError(ErrorCode.INVALID_REQUEST, problem)
