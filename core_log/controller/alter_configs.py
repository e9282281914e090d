"""AlterConfigs and IncrementalAlterConfigs: what becomes of a resource's own configurations.

Pure. Each resource succeeds or fails as a whole and by itself. A value that is what it was before
writes no record. We deviate from Kafka in one way: log levels (resource type 8) are set when the
broker starts, and changing them over the protocol is refused.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Final, TypeVar

from ..kernel.broker_configs import BROKER_CONFIGS
from ..kernel.config_keys import ConfigInvalid, ConfigKey, ConfigType, Dynamic, split_list
from ..kernel.errors import ApiError, ErrorCode
from ..kernel.group_configs import (
    CLIENT_METRICS_CONFIGS,
    GROUP_CONFIGS,
    check_client_metrics_configs,
    check_group_configs,
)
from ..kernel.topic_configs import TOPIC_CONFIGS, check_topic_configs
from ..protocol.messages import alter_configs as legacy
from ..protocol.messages import incremental_alter_configs as incremental
from ..protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from ..protocol.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ..protocol.metadata.config_record import ConfigRecord
from .decision import RECORDS_MAX, ControllerConfig, Decision, too_many_records
from .image import CLUSTER_DEFAULT, ConfigResource, ConfigResourceType, MetadataImage
from .names import topic_name_error

T = TypeVar("T", legacy.AlterConfigsResource, incremental.AlterConfigsResource)


class Operation(IntEnum):
    """What an incremental change does to one configuration."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


def incremental_alter_configs(
    image: MetadataImage, request: IncrementalAlterConfigsRequest, config: ControllerConfig
) -> Decision[IncrementalAlterConfigsResponse]:
    """Set, delete, append and subtract on each resource."""

    def change(resource: incremental.AlterConfigsResource) -> list[ConfigRecord]:
        kind, name = _target(image, resource.resource_type, resource.resource_name, config)
        _check_no_duplicates([entry.name for entry in resource.configs])
        before = image.overrides(ConfigResource(kind, name))
        after = dict(before)
        for entry in resource.configs:
            _operate(kind, after, entry)
        return _records(kind, name, before, after, config)

    records, errors = _each(request.resources, change)
    return Decision(
        records=() if request.validate_only else records,
        response=IncrementalAlterConfigsResponse(
            responses=[
                incremental.AlterConfigsResourceResponse(
                    error_code=error.code if error else ErrorCode.NONE,
                    error_message=error.message if error else None,
                    resource_type=resource.resource_type,
                    resource_name=resource.resource_name,
                )
                for resource, error in zip(request.resources, errors, strict=True)
            ]
        ),
    )


def alter_configs(
    image: MetadataImage, request: AlterConfigsRequest, config: ControllerConfig
) -> Decision[AlterConfigsResponse]:
    """Replace each resource's own configurations by those given."""

    def change(resource: legacy.AlterConfigsResource) -> list[ConfigRecord]:
        kind, name = _target(image, resource.resource_type, resource.resource_name, config)
        _check_no_duplicates([entry.name for entry in resource.configs])
        after = {entry.name: _not_null(entry.name, entry.value) for entry in resource.configs}
        before = image.overrides(ConfigResource(kind, name))
        return _records(kind, name, before, after, config)

    records, errors = _each(request.resources, change)
    return Decision(
        records=() if request.validate_only else records,
        response=AlterConfigsResponse(
            responses=[
                legacy.AlterConfigsResourceResponse(
                    error_code=error.code if error else ErrorCode.NONE,
                    error_message=error.message if error else None,
                    resource_type=resource.resource_type,
                    resource_name=resource.resource_name,
                )
                for resource, error in zip(request.resources, errors, strict=True)
            ]
        ),
    )


def _each(
    resources: Sequence[T], change: Callable[[T], list[ConfigRecord]]
) -> tuple[tuple[ConfigRecord, ...], list[ApiError | None]]:
    """The records of all resources that succeed, and each one's error."""
    keys = [(resource.resource_type, resource.resource_name) for resource in resources]
    seen: dict[tuple[int, str], int] = {}
    for key in keys:
        seen[key] = seen.get(key, 0) + 1
    records: list[ConfigRecord] = []
    errors: list[ApiError | None] = []
    for key, resource in zip(keys, resources, strict=True):
        try:
            if seen[key] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
            found = change(resource)
            if len(records) + len(found) > RECORDS_MAX:
                raise too_many_records()
        except ApiError as error:
            errors.append(error)
        else:
            records += found
            errors.append(None)
    return tuple(records), errors


def _target(
    image: MetadataImage, kind: int, name: str, config: ControllerConfig
) -> tuple[ConfigResourceType, str]:
    """The resource to change. Raises ApiError when there is none of that type and name."""
    match kind:
        case ConfigResourceType.TOPIC:
            _check_topic(image, name)
        case ConfigResourceType.BROKER if name != CLUSTER_DEFAULT:
            _check_broker(image, name, config)
        case ConfigResourceType.BROKER:
            pass
        case ConfigResourceType.GROUP if not name:
            raise _refused("Default group resources are not allowed.")
        case ConfigResourceType.CLIENT_METRICS if not name:
            raise _refused("Subscription name can't be empty")
        case ConfigResourceType.GROUP | ConfigResourceType.CLIENT_METRICS:
            pass
        case _:
            raise _refused(f"Unknown resource type {kind}")
    return ConfigResourceType(kind), name


def _check_topic(image: MetadataImage, name: str) -> None:
    if not name:
        raise _refused("Default topic resources are not allowed.")
    error = topic_name_error(name)
    if error is not None:
        raise error
    if image.topic(name) is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")


def _check_broker(image: MetadataImage, name: str, config: ControllerConfig) -> None:
    if not name.isascii() or not name.isdecimal():
        raise _refused(f"Node id must be an integer, but it is: {name}")
    if image.broker(int(name)) is None:
        raise _refused(f"Unexpected broker id, expected {config.node_id}, but received {name}")


def _operate(
    kind: ConfigResourceType, values: dict[str, str], entry: incremental.AlterableConfig
) -> None:
    """Apply one operation to *values*."""
    name = entry.name
    match entry.config_operation:
        case Operation.SET:
            values[name] = _not_null(name, entry.value)
        case Operation.DELETE:
            values.pop(name, None)
        case Operation.APPEND | Operation.SUBTRACT:
            operation = Operation(entry.config_operation)
            key = _KEYS[kind].get(name)
            if key is None or key.type is not ConfigType.LIST:
                raise ApiError(
                    ErrorCode.INVALID_CONFIG,
                    f"Can't {operation.name} to key {name} because its type is not LIST.",
                )
            present = split_list(values.get(name, key.default or ""))
            given = split_list(_not_null(name, entry.value))
            values[name] = ",".join(_combined(operation, present, given))
        case unknown:
            raise _refused(f"Unknown config operation {unknown}")


def _combined(operation: Operation, present: Iterable[str], given: Iterable[str]) -> list[str]:
    if operation is Operation.APPEND:
        return [*dict.fromkeys([*present, *given])]
    removed = frozenset(given)
    return [entry for entry in present if entry not in removed]


def _records(
    kind: ConfigResourceType,
    name: str,
    before: Mapping[str, str],
    after: Mapping[str, str],
    config: ControllerConfig,
) -> list[ConfigRecord]:
    """What leads from *before* to *after*. Raises ApiError when *after* is not allowed."""
    changed = [key for key in after if after[key] != before.get(key)]
    gone = [key for key in before if key not in after]
    if changed or gone:
        _CHECKS[kind](name, after, [*changed, *gone], config)
    return [
        ConfigRecord(resource_type=kind, resource_name=name, name=key, value=after.get(key))
        for key in [*changed, *gone]
    ]


def _check_topic_values(
    name: str, after: Mapping[str, str], changed: list[str], config: ControllerConfig
) -> None:
    del name, changed, config
    _as_invalid_config(check_topic_configs, after)


def _check_group_values(
    name: str, after: Mapping[str, str], changed: list[str], config: ControllerConfig
) -> None:
    del name, changed, config
    _as_invalid_config(check_group_configs, after)


def _check_client_metrics_values(
    name: str, after: Mapping[str, str], changed: list[str], config: ControllerConfig
) -> None:
    del name, changed, config
    try:
        check_client_metrics_configs(after)
    except ConfigInvalid as invalid:
        raise _refused(str(invalid)) from invalid


def _check_broker_values(
    name: str, after: Mapping[str, str], changed: list[str], config: ControllerConfig
) -> None:
    """Names that this broker does not know are kept, as Kafka keeps those of its plugins."""
    del config
    known = [BROKER_CONFIGS[key] for key in changed if key in BROKER_CONFIGS]
    fixed = [key.name for key in known if key.dynamic is Dynamic.READ_ONLY]
    if fixed:
        raise _refused(f"Cannot update these configs dynamically: [{', '.join(fixed)}]")
    private = [key.name for key in known if key.dynamic is Dynamic.PER_BROKER]
    if private and name == CLUSTER_DEFAULT:
        raise _refused(
            "Cannot update these configs at default cluster level, broker id must be specified: "
            f"[{', '.join(private)}]"
        )
    try:
        for key in known:
            if key.name in after:
                key.parse(after[key.name])
    except ConfigInvalid as invalid:
        raise _refused(str(invalid)) from invalid


def _as_invalid_config(
    check: Callable[[Mapping[str, str]], None], values: Mapping[str, str]
) -> None:
    try:
        check(values)
    except ConfigInvalid as invalid:
        raise ApiError(ErrorCode.INVALID_CONFIG, str(invalid)) from invalid


def _check_no_duplicates(names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise _refused("Error due to duplicate config keys")


def _not_null(name: str, value: str | None) -> str:
    if value is None:
        raise _refused(f"Null value not supported for : {name}")
    return value


def _refused(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)


_KEYS: Final[Mapping[ConfigResourceType, Mapping[str, ConfigKey]]] = {
    ConfigResourceType.TOPIC: TOPIC_CONFIGS,
    ConfigResourceType.BROKER: BROKER_CONFIGS,
    ConfigResourceType.GROUP: GROUP_CONFIGS,
    ConfigResourceType.CLIENT_METRICS: CLIENT_METRICS_CONFIGS,
}
_CHECKS: Final = {
    ConfigResourceType.TOPIC: _check_topic_values,
    ConfigResourceType.BROKER: _check_broker_values,
    ConfigResourceType.GROUP: _check_group_values,
    ConfigResourceType.CLIENT_METRICS: _check_client_metrics_values,
}
