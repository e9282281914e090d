"""Records applied to an image, against a model of plain dicts; snapshots give the image again."""

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.core_log.controller.image import ConfigResource, ConfigResourceType, MetadataImage
from headwater.core_log.controller.replay import MetadataInvalid
from headwater.core_log.controller.snapshot import image_records
from headwater.core_log.protocol.metadata import decode_metadata_record, encode_metadata_record
from headwater.core_log.protocol.metadata.abort_transaction_record import AbortTransactionRecord
from headwater.core_log.protocol.metadata.access_control_entry_record import (
    AccessControlEntryRecord,
)
from headwater.core_log.protocol.metadata.begin_transaction_record import BeginTransactionRecord
from headwater.core_log.protocol.metadata.broker_registration_change_record import (
    BrokerRegistrationChangeRecord,
)
from headwater.core_log.protocol.metadata.clear_elr_record import ClearElrRecord
from headwater.core_log.protocol.metadata.client_quota_record import ClientQuotaRecord, EntityData
from headwater.core_log.protocol.metadata.config_record import ConfigRecord
from headwater.core_log.protocol.metadata.delegation_token_record import DelegationTokenRecord
from headwater.core_log.protocol.metadata.end_transaction_record import EndTransactionRecord
from headwater.core_log.protocol.metadata.feature_level_record import FeatureLevelRecord
from headwater.core_log.protocol.metadata.fence_broker_record import FenceBrokerRecord
from headwater.core_log.protocol.metadata.no_op_record import NoOpRecord
from headwater.core_log.protocol.metadata.partition_change_record import PartitionChangeRecord
from headwater.core_log.protocol.metadata.partition_record import PartitionRecord
from headwater.core_log.protocol.metadata.producer_ids_record import ProducerIdsRecord
from headwater.core_log.protocol.metadata.register_controller_record import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)
from headwater.core_log.protocol.metadata.remove_access_control_entry_record import (
    RemoveAccessControlEntryRecord,
)
from headwater.core_log.protocol.metadata.remove_topic_record import RemoveTopicRecord
from headwater.core_log.protocol.metadata.topic_record import TopicRecord
from headwater.core_log.protocol.metadata.unfence_broker_record import UnfenceBrokerRecord
from headwater.core_log.protocol.metadata.unregister_broker_record import UnregisterBrokerRecord
from headwater.core_log.protocol.metadata.user_scram_credential_record import (
    UserScramCredentialRecord,
)
from headwater.core_log.protocol.schema import Message

from .cluster import after, broker, changed, cluster, directory_of

TOKEN_ID = "t"  # noqa: S105 - a name
EMPTY = MetadataImage(cluster_id="cluster")


def topic_id(name: str) -> bytes:
    return name.encode().ljust(16, b"\x01")


def partition(name: str, index: int, **fields: Any) -> PartitionRecord:
    values: dict[str, Any] = {
        "replicas": [1],
        "isr": [1],
        "leader": 1,
        "leader_epoch": 0,
        "partition_epoch": 0,
        "directories": [directory_of(1)],
    } | fields
    return PartitionRecord(topic_id=topic_id(name), partition_id=index, **values)


def made(name: str, count: int = 1) -> list[Message]:
    record = TopicRecord(name=name, topic_id=topic_id(name))
    return [record, *(partition(name, index) for index in range(count))]


def rebuilt(image: MetadataImage) -> MetadataImage:
    """The image out of its snapshot, through the bytes on disk."""
    records = [
        decode_metadata_record(encode_metadata_record(record)) for record in image_records(image)
    ]
    again = after(EMPTY, records)
    return replace(
        again,
        last_offset=image.last_offset,
        last_epoch=image.last_epoch,
        last_timestamp_ms=image.last_timestamp_ms,
    )


def test_the_old_image_stays_as_it_was() -> None:
    """Whoever holds an image may go on reading it."""
    before = after(EMPTY, made("a", 2))
    kept = (dict(before.topics), dict(before.topic_names), dict(before.configs))

    change = PartitionChangeRecord(topic_id=topic_id("a"), partition_id=1, leader=-1)
    config = ConfigRecord(resource_type=2, resource_name="a", name="x", value="1")
    after(before, [*made("b"), change, config])

    assert (before.topics, before.topic_names, before.configs) == kept


def test_partitions_may_come_in_any_order() -> None:
    """Kafka's snapshots do not promise one."""
    image = after(
        EMPTY,
        [made("a")[0], partition("a", 2, leader=-1), *(partition("a", i) for i in (0, 1))],
    )

    assert [p.leader for p in image.topics["a"].partitions] == [1, 1, -1]


def test_a_partition_change_raises_epochs() -> None:
    """Naming a leader begins a leader epoch, even the same one; any change a partition epoch."""
    image = after(EMPTY, made("a"))
    unchanged = PartitionChangeRecord(topic_id=topic_id("a"), partition_id=0, isr=[1])
    led = PartitionChangeRecord(topic_id=topic_id("a"), partition_id=0, leader=1)

    (first,) = after(image, [unchanged]).topics["a"].partitions
    (second,) = after(image, [unchanged, led]).topics["a"].partitions

    assert (first.leader_epoch, first.partition_epoch) == (0, 1)
    assert (second.leader, second.leader_epoch, second.partition_epoch) == (1, 1, 2)


def test_a_partition_change_touches_only_what_it_names() -> None:
    """Null, -1 and -2 mean unchanged."""
    start = partition(
        "a",
        0,
        replicas=[1, 2],
        isr=[1],
        adding_replicas=[2],
        removing_replicas=[1],
        leader_recovery_state=1,
        eligible_leader_replicas=[2],
        last_known_elr=[1],
        directories=[directory_of(1), directory_of(2)],
    )
    image = after(EMPTY, [made("a")[0], start])
    (before,) = image.topics["a"].partitions

    bare = PartitionChangeRecord(topic_id=topic_id("a"), partition_id=0)
    (same,) = after(image, [bare]).topics["a"].partitions
    full = PartitionChangeRecord(
        topic_id=topic_id("a"),
        partition_id=0,
        replicas=[2],
        isr=[2],
        adding_replicas=[],
        removing_replicas=[],
        leader=2,
        leader_recovery_state=0,
        eligible_leader_replicas=[],
        last_known_elr=[],
        directories=[directory_of(2)],
    )
    (other,) = after(image, [full]).topics["a"].partitions

    assert same == replace(before, partition_epoch=1)
    assert other == replace(
        before,
        replicas=(2,),
        isr=(2,),
        adding_replicas=(),
        removing_replicas=(),
        leader=2,
        leader_epoch=1,
        partition_epoch=1,
        leader_recovery_state=0,
        eligible_leader_replicas=(),
        last_known_elr=(),
        directories=(directory_of(2),),
    )


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ([partition("a", 0)], "changes but does not exist"),
        ([TopicRecord(name="a", topic_id=topic_id("a")), partition("a", 1)], "not 0 to 0"),
        ([*made("a"), *made("a")], "created twice"),
        ([RemoveTopicRecord(topic_id=topic_id("a"))], "removed but does not exist"),
        (
            [*made("a"), PartitionChangeRecord(topic_id=topic_id("a"), partition_id=5)],
            "a-5 changes but does not exist",
        ),
        ([FenceBrokerRecord(id=4)], "broker 4 changes but is not registered"),
        ([UnregisterBrokerRecord(broker_id=4)], "broker 4 changes but is not registered"),
        ([ConfigRecord(resource_type=99, name="x")], "unknown type 99"),
        ([ClearElrRecord(topic_name="a")], "'a' changes but does not exist"),
        ([EndTransactionRecord()], "did not begin"),
        ([BeginTransactionRecord(), BeginTransactionRecord()], "begins inside another"),
        ([Message()], "no such metadata record"),
    ],
)
def test_records_that_do_not_fit_are_refused(records: list[Message], reason: str) -> None:
    """A damaged log is noticed, not guessed at."""
    with pytest.raises(MetadataInvalid, match=reason):
        after(EMPTY, records)


def test_a_delta_says_what_happened_to_topics() -> None:
    """Created, deleted, grown and changed are told apart."""
    before = after(EMPTY, [*made("old", 2), *made("going")])
    image, delta = changed(
        before,
        [
            *made("new", 2),
            PartitionChangeRecord(topic_id=topic_id("old"), partition_id=1, isr=[]),
            partition("old", 2),
            PartitionChangeRecord(topic_id=topic_id("old"), partition_id=2, isr=[]),
            RemoveTopicRecord(topic_id=topic_id("going")),
            ConfigRecord(resource_type=2, resource_name="new", name="x", value="1"),
        ],
    )

    assert delta.topics_created == ("new",)
    assert delta.topics_deleted == (before.topics["going"],)
    assert delta.partitions_created == (("old", 2),)
    assert delta.partitions_changed == (("old", 1),)
    assert delta.configs_changed == (ConfigResource(ConfigResourceType.TOPIC, "new"),)
    assert set(image.topics) == {"old", "new"}
    assert changed(image, [NoOpRecord()])[1].is_empty


def test_a_topic_that_came_and_went_in_one_batch_leaves_no_trace() -> None:
    """Nobody need create what is gone already."""
    image, delta = changed(EMPTY, [*made("a"), RemoveTopicRecord(topic_id=topic_id("a"))])

    assert delta.is_empty
    assert not image.topics


def test_a_topic_made_again_is_deleted_and_created() -> None:
    """The old one's files go, under the old id."""
    before = after(EMPTY, made("a"))
    again = [TopicRecord(name="a", topic_id=topic_id("b"))]
    again_partition = partition("b", 0)

    image, delta = changed(
        before, [RemoveTopicRecord(topic_id=topic_id("a")), *again, again_partition]
    )

    assert delta.topics_deleted == (before.topics["a"],)
    assert delta.topics_created == ("a",)
    assert image.topics["a"].topic_id == topic_id("b")
    assert image.topic_names == {topic_id("b"): "a"}


def test_a_metadata_transaction_counts_when_it_ends() -> None:
    """KIP-868: over any number of batches all of it comes at once, or nothing when aborted."""
    opened, delta = changed(EMPTY, [BeginTransactionRecord(), made("a")[0]])
    assert delta.is_empty
    assert not opened.topics

    waiting, _ = changed(opened, [partition("a", 0)])
    ended, delta = changed(waiting, [EndTransactionRecord(), *made("b")])
    aborted, none = changed(waiting, [AbortTransactionRecord()])

    assert delta.topics_created == ("a", "b")
    assert set(ended.topics) == {"a", "b"}
    assert none.is_empty
    assert not aborted.topics
    assert ended.open_transaction is aborted.open_transaction is None
    with pytest.raises(AssertionError):
        list(image_records(waiting))


def test_brokers_come_change_and_go() -> None:
    """Registration, both generations of fencing records, shutdown, directories, removal."""
    image = after(EMPTY, [broker(1, rack="r", fenced=True), broker(2)])
    change = BrokerRegistrationChangeRecord(broker_id=1, fenced=-1, log_dirs=[directory_of(9)])
    image, delta = changed(image, [change, FenceBrokerRecord(id=2)])
    assert delta.brokers_changed == (1, 2)
    assert not image.brokers[1].fenced
    assert image.brokers[1].log_dirs == (directory_of(9),)
    assert image.brokers[2].fenced

    leaving = BrokerRegistrationChangeRecord(
        broker_id=1, in_controlled_shutdown=1, cordoned_log_dirs=[directory_of(9)]
    )
    image = after(image, [leaving, UnfenceBrokerRecord(id=2)])
    assert image.brokers[1].in_controlled_shutdown
    assert image.brokers[1].log_dirs == image.brokers[1].cordoned_log_dirs == (directory_of(9),)
    assert not image.brokers[2].fenced

    image = after(image, [UnregisterBrokerRecord(broker_id=1)])
    assert set(image.brokers) == {2}


def everything() -> list[Message]:
    """At least one record of every type that leaves a trace."""
    return [
        FeatureLevelRecord(name="group.version", feature_level=1),
        FeatureLevelRecord(name="metadata.version", feature_level=30),
        FeatureLevelRecord(name="gone.version", feature_level=1),
        FeatureLevelRecord(name="gone.version", feature_level=0),
        RegisterControllerRecord(
            controller_id=1,
            incarnation_id=directory_of(7),
            end_points=[ControllerEndpoint(name="C", host="h", port=1, security_protocol=0)],
            features=[
                ControllerFeature(
                    name="kraft.version", min_supported_version=0, max_supported_version=1
                )
            ],
        ),
        broker(1, rack="r"),
        broker(2, fenced=True),
        BrokerRegistrationChangeRecord(
            broker_id=2, in_controlled_shutdown=1, cordoned_log_dirs=[directory_of(2)]
        ),
        *made("a.b", 3),
        PartitionChangeRecord(
            topic_id=topic_id("a.b"),
            partition_id=1,
            isr=[],
            leader=-1,
            eligible_leader_replicas=[1],
            last_known_elr=[1],
        ),
        *made("c"),
        ConfigRecord(resource_type=2, resource_name="c", name="retention.ms", value="1"),
        ConfigRecord(resource_type=4, resource_name="", name="x", value="2"),
        ConfigRecord(resource_type=32, resource_name="g", name="y", value="3"),
        ConfigRecord(resource_type=32, resource_name="h", name="y", value="3"),
        ConfigRecord(resource_type=32, resource_name="h", name="y", value=None),
        ClientQuotaRecord(
            entity=[
                EntityData(entity_type="user", entity_name=None),
                EntityData(entity_type="client-id", entity_name="app"),
            ],
            key="producer_byte_rate",
            value=2.5,
        ),
        ProducerIdsRecord(broker_id=1, broker_epoch=4, next_producer_id=3000),
        AccessControlEntryRecord(id=directory_of(1), resource_name="a", principal="User:x"),
        AccessControlEntryRecord(id=directory_of(2), resource_name="b", principal="User:y"),
        RemoveAccessControlEntryRecord(id=directory_of(2)),
        UserScramCredentialRecord(name="u", mechanism=1, salt=b"s", iterations=4096),
        DelegationTokenRecord(owner="o", token_id=TOKEN_ID, renewers=["r"]),
    ]


def test_nothing_is_lost_in_a_snapshot() -> None:
    """Also what this version does not act on: the log it stood in is deleted."""
    image = after(EMPTY, everything())

    assert image.quotas == {(("client-id", "app"), ("user", None)): {"producer_byte_rate": 2.5}}
    assert list(image.acls) == [directory_of(1)]
    assert ("u", 1) in image.scram
    assert TOKEN_ID in image.delegation_tokens
    assert image.features.levels == {"group.version": 1, "metadata.version": 30}
    assert ConfigResource(ConfigResourceType.GROUP, "h") not in image.configs
    assert rebuilt(image) == image


def test_a_snapshot_names_the_metadata_version_first() -> None:
    """A reader must know it before it can know anything else."""
    first = next(image_records(after(EMPTY, everything())))

    assert isinstance(first, FeatureLevelRecord)
    assert first.name == "metadata.version"


names = st.sampled_from(["a", "b", "c.d", "c_e"])
operations = st.one_of(
    st.tuples(st.just("create"), names, st.integers(1, 3)),
    st.tuples(st.just("delete"), names, st.just(0)),
    st.tuples(st.just("grow"), names, st.just(0)),
    st.tuples(st.just("lead"), names, st.integers(0, 2)),
    st.tuples(st.just("config"), names, st.integers(0, 2)),
)


def records_for(
    model: dict[str, list[int]],
    configs: dict[str, dict[str, str]],
    step: tuple[str, str, int],
) -> list[Message]:
    """Records of one step that fits; the model moves along: epochs of each partition by topic."""
    operation, name, number = step
    if operation == "create" and name not in model:
        model[name] = [0] * number
        return made(name, number)
    if name not in model:
        return []
    if operation == "delete":
        del model[name]
        configs.pop(name, None)
        return [RemoveTopicRecord(topic_id=topic_id(name))]
    if operation == "grow":
        model[name].append(0)
        return [partition(name, len(model[name]) - 1)]
    if operation == "lead" and number < len(model[name]):
        model[name][number] += 1
        return [PartitionChangeRecord(topic_id=topic_id(name), partition_id=number, leader=1)]
    if operation == "config":
        value = None if number == 0 else str(number)
        values = configs.setdefault(name, {})
        values.pop("k", None)
        if value is not None:
            values["k"] = value
        return [ConfigRecord(resource_type=2, resource_name=name, name="k", value=value)]
    return []


@settings(max_examples=150)
@given(batches=st.lists(st.lists(operations, max_size=6), max_size=6))
def test_an_image_is_what_its_records_say(batches: list[list[tuple[str, str, int]]]) -> None:
    """However records are cut into batches: the model, the delta and a snapshot agree."""
    model: dict[str, list[int]] = {}
    configs: dict[str, dict[str, str]] = {}
    image, everything_at_once = EMPTY, []
    for batch in batches:
        known = {name: topic.topic_id for name, topic in image.topics.items()}
        records = [record for step in batch for record in records_for(model, configs, step)]
        everything_at_once += records
        image, delta = changed(image, records)
        live = known.keys() - {topic.name for topic in delta.topics_deleted}
        assert live | set(delta.topics_created) == image.topics.keys()
        for name, index in (*delta.partitions_created, *delta.partitions_changed):
            assert index < len(image.topics[name].partitions)
            assert name not in delta.topics_created

    shown = {name: [p.leader_epoch for p in t.partitions] for name, t in image.topics.items()}
    assert shown == model
    assert {n: dict(image.topic_overrides(n)) for n in configs} == configs
    assert image.topic_names == {topic_id(name): name for name in model}
    assert image.colliding_names == {
        name.replace(".", "_"): name for name in model if "." in name or "_" in name
    }
    assert after(EMPTY, everything_at_once).topics == image.topics
    assert rebuilt(image) == image


def test_many_topics_one_by_one_are_not_slow() -> None:
    """Images share what did not change; a thousand creations are a thousand small copies."""
    image = cluster()
    rng = random.Random(1)
    for number in range(1000):
        identity = rng.randbytes(16)
        image = after(
            image,
            [
                TopicRecord(name=f"t{number}", topic_id=identity),
                PartitionRecord(topic_id=identity, partition_id=0, replicas=[1], isr=[1], leader=1),
            ],
        )

    assert len(image.topics) == 1000
