"""Topics: create, delete, add partitions.

Pure. We deviate from Kafka in one way: two names in one request that collide with each other
(``a.b`` and ``a_b``) are refused, which Kafka notices only between requests.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..kernel.config_keys import ConfigInvalid
from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ids import NO_TOPIC_ID, TopicId
from ..kernel.ports import Random
from ..kernel.topic_configs import check_topic_configs
from ..protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from ..protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ..protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ..protocol.metadata.config_record import ConfigRecord
from ..protocol.metadata.partition_record import PartitionRecord
from ..protocol.metadata.remove_topic_record import RemoveTopicRecord
from ..protocol.metadata.topic_record import TopicRecord
from ..protocol.schema import Message
from .assignments import check_assignment, new_partition
from .configs import topic_entries
from .decision import RECORDS_MAX, ControllerConfig, Decision, too_many_records
from .image import ConfigResourceType, MetadataImage, TopicImage, collision_key
from .names import METADATA_TOPIC, topic_name_error
from .placement import Candidate, place

_UNSET = -1
"""A number left to the broker's default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _NewTopic:
    name: str
    topic_id: TopicId
    overrides: dict[str, str]
    partitions: list[PartitionRecord]

    def records(self) -> list[Message]:
        configs = [
            ConfigRecord(
                resource_type=ConfigResourceType.TOPIC,
                resource_name=self.name,
                name=name,
                value=value,
            )
            for name, value in self.overrides.items()
        ]
        return [TopicRecord(name=self.name, topic_id=self.topic_id), *configs, *self.partitions]


def create_topics(
    image: MetadataImage, request: CreateTopicsRequest, config: ControllerConfig, rng: Random
) -> Decision[CreateTopicsResponse]:
    """Create each topic that can be created; the others' errors stand beside them."""
    by_name = {topic.name: topic for topic in request.topics}
    occurrences = Counter(topic.name for topic in request.topics)
    excessive = _partition_count(request.topics, config) > RECORDS_MAX
    taken: dict[str, str] = {}
    listed: dict[tuple[tuple[str, str], ...], list[CreatableTopicConfigs]] = {}
    records: list[Message] = []
    results: list[CreatableTopicResult] = []
    for name, topic in by_name.items():
        try:
            _check_request(name, is_duplicate=occurrences[name] > 1, is_excessive=excessive)
            new = _new_topic(image, topic, config, rng, taken)
            new_records = new.records()
            if len(records) + len(new_records) > RECORDS_MAX:
                raise too_many_records()
        except ApiError as error:
            results.append(_refusal(name, error))
        else:
            records += new_records
            results.append(_created(image, new, config, listed))
    return Decision(
        records=() if request.validate_only else tuple(records),
        response=CreateTopicsResponse(topics=results),
    )


def delete_topics(
    image: MetadataImage, request: DeleteTopicsRequest, config: ControllerConfig
) -> Decision[DeleteTopicsResponse]:
    """Delete topics by name or by id; requests before version 6 fill ``topic_names`` alone."""
    states = [*request.topics, *(DeleteTopicState(name=name) for name in request.topic_names)]
    records: list[Message] = []
    results: list[DeletableTopicResult] = []
    twice = _given_by_name_and_id(image, states)
    for state, is_duplicate in _occurring(states):
        try:
            topic = _to_delete(image, state, config, is_duplicate=is_duplicate)
            if topic.topic_id in twice:
                raise _refused("The provided topic name maps to an ID that was already supplied.")
            if len(records) == RECORDS_MAX:
                raise too_many_records()
        except ApiError as error:
            results.append(
                DeletableTopicResult(
                    name=state.name,
                    topic_id=state.topic_id,
                    error_code=error.code,
                    error_message=error.message or error.code.meaning,
                )
            )
        else:
            records.append(RemoveTopicRecord(topic_id=topic.topic_id))
            results.append(DeletableTopicResult(name=topic.name, topic_id=topic.topic_id))
    return Decision(records=tuple(records), response=DeleteTopicsResponse(responses=results))


def create_partitions(
    image: MetadataImage, request: CreatePartitionsRequest, rng: Random
) -> Decision[CreatePartitionsResponse]:
    """Give topics more partitions, as many as ``count`` says in all."""
    by_name = {topic.name: topic for topic in request.topics}
    occurrences = Counter(topic.name for topic in request.topics)
    records: list[Message] = []
    results: list[CreatePartitionsTopicResult] = []
    for name, topic in by_name.items():
        result = CreatePartitionsTopicResult(name=name)
        results.append(result)
        try:
            if occurrences[name] > 1:
                raise _refused("Duplicate topic name.")
            found = _more_partitions(image, topic, rng, count_max=RECORDS_MAX - len(records))
        except ApiError as error:
            result.error_code, result.error_message = error.code, error.message
        else:
            records += found
    return Decision(
        records=() if request.validate_only else tuple(records),
        response=CreatePartitionsResponse(results=results),
    )


def new_topic_id(image: MetadataImage, rng: Random) -> TopicId:
    """A random id in the form of a version 4 UUID, not in use, whose text begins with no dash."""
    while True:
        raw = bytearray(rng.randbytes(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        topic_id = TopicId(bytes(raw))
        # A leading dash would make command line tools take the text for an option.
        if raw[0] >> 2 != 62 and topic_id not in image.topic_names:
            return topic_id


def _partition_count(topics: Sequence[CreatableTopic], config: ControllerConfig) -> int:
    total = 0
    for topic in topics:
        if topic.assignments:
            total += len(topic.assignments)
        else:
            asked = topic.num_partitions
            total += config.num_partitions if asked == _UNSET else max(asked, 0)
    return total


def _check_request(name: str, *, is_duplicate: bool, is_excessive: bool) -> None:
    if is_duplicate:
        raise _refused("Duplicate topic name.")
    if name == METADATA_TOPIC:
        raise _refused(f"Creation of internal topic {METADATA_TOPIC} is prohibited.")
    if is_excessive:
        raise ApiError(
            ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
        )


def _new_topic(
    image: MetadataImage,
    topic: CreatableTopic,
    config: ControllerConfig,
    rng: Random,
    taken: dict[str, str],
) -> _NewTopic:
    """The topic as it will be. Raises ApiError. *taken* collects this request's names."""
    _check_name(image, topic.name, taken)
    overrides = _overrides(topic)
    topic_id = new_topic_id(image, rng)
    replica_lists = (
        _manual(image, topic) if topic.assignments else _placed(image, topic, config, rng)
    )
    partitions = [
        new_partition(image, topic_id, index, replicas)
        for index, replicas in enumerate(replica_lists)
    ]
    key = collision_key(topic.name)
    if key is not None:
        taken[key] = topic.name
    return _NewTopic(name=topic.name, topic_id=topic_id, overrides=overrides, partitions=partitions)


def _check_name(image: MetadataImage, name: str, taken: dict[str, str]) -> None:
    error = topic_name_error(name)
    if error is not None:
        raise error
    if image.topic(name) is not None:
        raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    key = collision_key(name)
    other = None if key is None else image.colliding_names.get(key) or taken.get(key)
    if other is not None:
        raise ApiError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topic: {other}",
        )


def _overrides(topic: CreatableTopic) -> dict[str, str]:
    overrides: dict[str, str] = {}
    for entry in topic.configs:
        if entry.value is None:
            raise ApiError(
                ErrorCode.INVALID_CONFIG,
                f"Null value not supported for topic configs: {entry.name}",
            )
        overrides[entry.name] = entry.value
    try:
        check_topic_configs(overrides)
    except ConfigInvalid as invalid:
        raise ApiError(ErrorCode.INVALID_CONFIG, str(invalid)) from invalid
    return overrides


def _manual(image: MetadataImage, topic: CreatableTopic) -> list[list[int]]:
    """The replica lists given by hand, by partition."""
    for number, what in (
        (topic.replication_factor, "replication factor"),
        (topic.num_partitions, "numPartitions"),
    ):
        if number != _UNSET:
            raise ApiError(
                ErrorCode.INVALID_REQUEST,
                f"A manual partition assignment was specified, but {what} was not set to -1.",
            )
    found: dict[int, list[int]] = {}
    replication_factor: int | None = None
    for assignment in topic.assignments:
        if assignment.partition_index in found:
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "Found multiple manual partition assignments for partition "
                f"{assignment.partition_index}",
            )
        check_assignment(image, assignment.broker_ids, replication_factor=replication_factor)
        replication_factor = len(assignment.broker_ids)
        found[assignment.partition_index] = assignment.broker_ids
    if any(index not in found for index in range(len(found))):
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        )
    return [found[index] for index in range(len(found))]


def _placed(
    image: MetadataImage, topic: CreatableTopic, config: ControllerConfig, rng: Random
) -> list[tuple[int, ...]]:
    """Replica lists of our choice, by partition."""
    count, factor = topic.num_partitions, topic.replication_factor
    if factor < _UNSET or factor == 0:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if count < _UNSET or count == 0:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        )
    return place(
        _candidates(image),
        partition_count=config.num_partitions if count == _UNSET else count,
        replication_factor=config.default_replication_factor if factor == _UNSET else factor,
        rng=rng,
    )


def _candidates(image: MetadataImage) -> Iterator[Candidate]:
    for broker in image.brokers.values():
        yield Candidate(broker_id=broker.broker_id, rack=broker.rack, fenced=broker.fenced)


def _refusal(name: str, error: ApiError) -> CreatableTopicResult:
    return CreatableTopicResult(
        name=name, error_code=error.code, error_message=error.message, configs=[]
    )


def _created(
    image: MetadataImage,
    new: _NewTopic,
    config: ControllerConfig,
    listed: dict[tuple[tuple[str, str], ...], list[CreatableTopicConfigs]],
) -> CreatableTopicResult:
    """The answer for a new topic; topics configured alike share one list of their configs."""
    likeness = tuple(new.overrides.items())
    if likeness not in listed:
        listed[likeness] = _listed(image, new.overrides, config)
    return CreatableTopicResult(
        name=new.name,
        topic_id=new.topic_id,
        error_message=None,
        num_partitions=len(new.partitions),
        replication_factor=len(new.partitions[0].replicas),
        configs=listed[likeness],
    )


def _listed(
    image: MetadataImage, overrides: dict[str, str], config: ControllerConfig
) -> list[CreatableTopicConfigs]:
    return [
        CreatableTopicConfigs(
            name=entry.key.name,
            value=None if entry.value is None else entry.key.normal(entry.value),
            read_only=False,
            config_source=entry.source,
            is_sensitive=entry.key.is_sensitive,
        )
        for entry in topic_entries(image, overrides, config)
    ]


def _occurring(states: Sequence[DeleteTopicState]) -> Iterator[tuple[DeleteTopicState, bool]]:
    """Each name or id once, and whether it was given more than once."""
    keys = [(state.name, state.topic_id) for state in states]
    occurrences = Counter(keys)
    for key, state in dict(zip(keys, states, strict=True)).items():
        yield state, occurrences[key] > 1


def _given_by_name_and_id(image: MetadataImage, states: Sequence[DeleteTopicState]) -> set[bytes]:
    """Ids of topics that one entry names by name and another by id."""
    named = {topic.topic_id for state in states if (topic := image.topic(state.name or ""))}
    return named & {bytes(state.topic_id) for state in states}


def _to_delete(
    image: MetadataImage, state: DeleteTopicState, config: ControllerConfig, *, is_duplicate: bool
) -> TopicImage:
    """The topic that *state* names. Raises ApiError when it cannot be deleted."""
    by_id = state.topic_id != NO_TOPIC_ID
    if by_id and state.name is not None:
        raise _refused("You may not specify both topic name and topic id.")
    if not by_id and state.name is None:
        raise _refused("Neither topic name nor id were specified.")
    if is_duplicate:
        raise _refused("Duplicate topic id." if by_id else "Duplicate topic name.")
    if not config.delete_topic_enable:
        raise ApiError(ErrorCode.TOPIC_DELETION_DISABLED, "Topic deletion is disabled.")
    topic = image.topic_by_id(state.topic_id) if by_id else image.topic(state.name or "")
    if topic is None:
        code = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        raise ApiError(code)
    return topic


def _more_partitions(
    image: MetadataImage, request: CreatePartitionsTopic, rng: Random, *, count_max: int
) -> list[PartitionRecord]:
    topic = image.topic(request.name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    present = len(topic.partitions)
    if request.count == present:
        raise ApiError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {present} partition(s).")
    if request.count < present:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {request.name} currently has {present} partition(s); {request.count} "
            "would not be an increase.",
        )
    added = request.count - present
    if added > count_max:
        raise too_many_records()
    factor = len(topic.partitions[0].replicas)
    replica_lists: Sequence[Sequence[int]]
    if request.assignments is None:
        replica_lists = place(
            _candidates(image), partition_count=added, replication_factor=factor, rng=rng
        )
    else:
        replica_lists = [assignment.broker_ids for assignment in request.assignments]
        if len(replica_lists) != added:
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Attempted to add {added} additional partition(s), but only "
                f"{len(replica_lists)} assignment(s) were specified.",
            )
        for replicas in replica_lists:
            check_assignment(image, replicas, replication_factor=factor)
    return [
        new_partition(image, topic.topic_id, present + offset, replicas)
        for offset, replicas in enumerate(replica_lists)
    ]


def _refused(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
