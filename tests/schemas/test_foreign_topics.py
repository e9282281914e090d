"""Topics that other registries wrote, as they wrote them: taken over without a conversion."""

from tests.schemas.registry import Registry, numbers, ref

from headwater.schemas import commands, listings
from headwater.schemas.commands import LookupRequest
from headwater.schemas.commands.looking_up import MEANINGS_MAX
from headwater.schemas.listings import Shown
from headwater.schemas.model import SchemaFormat
from headwater.schemas.settings import CompatibilityLevel, Mode
from headwater.schemas.state import RegistryState

Topic = list[tuple[str, str | None]]

CONFLUENT: Topic = [
    ('{"keytype":"NOOP","magic":0}', None),
    ('{"keytype":"CONFIG","subject":null,"magic":0}', '{"compatibilityLevel":"FULL"}'),
    (
        '{"keytype":"SCHEMA","subject":"orders-value","version":1,"magic":1}',
        r'{"subject":"orders-value","version":1,"id":1,"schema":"\"string\"","deleted":false}',
    ),
    (
        '{"keytype":"SCHEMA","subject":"orders-value","version":2,"magic":1}',
        (
            r'{"subject":"orders-value","version":2,"id":2,"md5":"aGVsbG8gd29ybGQhISEhIQ==",'
            r'"metadata":{"properties":{"__enc__":"true"}},"schema":"\"bytes\"","deleted":false}'
        ),
    ),
    (
        '{"keytype":"CONTEXT","tenant":"default","context":".eu","magic":0}',
        '{"tenant":"default","context":".eu"}',
    ),
    (
        '{"keytype":"SCHEMA","subject":":.eu:orders-value","version":1,"magic":1}',
        (
            r'{"subject":":.eu:orders-value","version":1,"id":1,"schemaType":"PROTOBUF",'
            r'"schema":"syntax = \"proto3\";\nmessage M {}\n","deleted":false}'
        ),
    ),
    ('{"keytype":"MODE","subject":"orders-value","magic":0}', '{"mode":"READONLY"}'),
    (
        '{"keytype":"DELETE_SUBJECT","subject":"orders-value","magic":0}',
        '{"subject":"orders-value","version":2}',
    ),
    ('{"keytype":"NOOP","magic":0}', None),
]

KARAPACE: Topic = [
    (
        '{"subject": "orders-value", "version": 1, "magic": 1, "keytype": "SCHEMA"}',
        (
            r'{"subject": "orders-value", "version": 1, "id": 1, "schema": "\"string\"", '
            r'"deleted": false}'
        ),
    ),
    (
        '{"subject": "other", "version": 1, "magic": 1, "keytype": "SCHEMA"}',
        (
            r'{"subject": "other", "version": 1, "id": 2, "schema": "{\"type\":\"object\"}", '
            r'"deleted": true, "schemaType": "JSON"}'
        ),
    ),
    ('{"subject": "other", "magic": 0, "keytype": "CONFIG"}', '{"compatibilityLevel": "NONE"}'),
    (
        '{"subject": "orders-value", "magic": 0, "keytype": "CONFIG"}',
        '{"compatibilityLevel":"FULL"}',
    ),
    ('{"subject": "other", "magic": 0, "keytype": "CONFIG"}', ""),
    ('{"keytype": "NOOP", "magic": 0}', ""),
]

REDPANDA: Topic = [
    (
        '{"keytype":"SCHEMA","subject":"s","version":1,"magic":1,"seq":0,"node":1}',
        r'{"subject":"s","version":1,"id":1,"schema":"\"int\"","deleted":false}',
    ),
    (
        '{"keytype":"CONFIG","subject":"s","magic":0,"seq":1,"node":1}',
        '{"compatibilityLevel":"FULL"}',
    ),
    (
        '{"keytype":"CONFIG","subject":"s","magic":0,"seq":2,"node":2}',
        '{"compatibilityLevel":"NONE"}',
    ),
    (
        '{"keytype":"SCHEMA","subject":"s","version":1,"magic":1,"seq":3,"node":1}',
        r'{"subject":"s","version":1,"id":1,"schema":"\"int\"","deleted":true}',
    ),
]


def taken_over(topic: Topic) -> Registry:
    registry = Registry()
    for key, value in topic:
        encoded = key.encode(), None if value is None else value.encode()
        registry.topic.append(encoded)
        assert registry.state.replay_encoded(*encoded) is None
    registry.state.check()
    return registry


def listed(state: RegistryState) -> list[tuple[str, int, int, SchemaFormat]]:
    found = (one.version for one in listings.list_schemas(state, shown=Shown.ALL))
    return [(one.subject, one.version, one.id, one.definition.format) for one in found]


def test_confluents_topic_goes_on() -> None:
    registry = taken_over(CONFLUENT)
    assert listed(registry.state) == [
        (":.eu:orders-value", 1, 1, SchemaFormat.PROTOBUF),
        ("orders-value", 1, 1, SchemaFormat.AVRO),
        ("orders-value", 2, 2, SchemaFormat.AVRO),
    ]
    assert numbers(registry.state, "orders-value") == [-1, -2]
    assert registry.state.settings.mode_in_scope("orders-value") is Mode.READONLY
    config = registry.state.settings.config_in_scope("any")
    assert config.compatibility_level is CompatibilityLevel.FULL
    assert registry.state.contexts() == [".", ".eu"]
    assert registry.register("new", "a").id == 3
    assert registry.register(":.eu:new", "a").id == 2


def test_karapaces_topic_goes_on() -> None:
    registry = taken_over(KARAPACE)
    assert listed(registry.state) == [
        ("orders-value", 1, 1, SchemaFormat.AVRO),
        ("other", 1, 2, SchemaFormat.JSON),
    ]
    assert numbers(registry.state, "other") == [-1]
    assert registry.state.settings.configs().keys() == {"orders-value"}


def test_redpandas_topic_goes_on() -> None:
    """Its keys carry a sequence number, so compaction keeps every one of its records."""
    registry = taken_over(REDPANDA)
    assert numbers(registry.state, "s") == [-1]
    config = registry.state.settings.config("s")
    assert config is not None
    assert config.compatibility_level is CompatibilityLevel.NONE


def test_a_schema_in_another_spelling_is_the_same_schema() -> None:
    """Karapace stores what it was sent: a producer that registers it again must get its id."""
    key = '{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}'
    value = '{"subject":"s","version":1,"id":7,"schema":"a   b","deleted":false}'
    registry = taken_over([(key, value)])
    (held,) = registry.state.schemas.versions("s")
    assert registry.register("s", "a b") == held
    asked = LookupRequest(text="a b")
    assert commands.look_up(registry.state, registry.parser, "s", asked) == held
    assert registry.register("s", "a").version == 2


def test_with_references_too() -> None:
    registry = taken_over(
        [
            ('{"keytype":"SCHEMA","subject":"r","version":1,"magic":1}', '{"id":1,"schema":"x"}'),
            (
                '{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}',
                '{"id":2,"schema":"a   @r","references":[{"name":"r","subject":"r","version":1}]}',
            ),
        ]
    )
    assert registry.register("s", "a @r", references=(ref("r", "r"),)).version == 1
    assert registry.register("s", "a x").version == 1


def test_only_the_newest_versions_are_compared_by_meaning() -> None:
    """The bound keeps one registration from parsing a subject's whole past."""
    registry = taken_over(
        [
            (
                f'{{"keytype":"SCHEMA","subject":"s","version":{version},"magic":1}}',
                f'{{"id":{version},"schema":"f{version}  g"}}',
            )
            for version in range(1, MEANINGS_MAX + 2)
        ]
    )
    registry.configure("s", compatibility="NONE")
    assert registry.register("s", "f2 g").version == 2
    assert registry.register("s", "f1  g").version == MEANINGS_MAX + 2


def test_what_is_deleted_for_good_stays_so_whoever_wrote_it() -> None:
    """Compacted, with tombstones dropped, no record of the old spelling comes back."""
    for topic, subject in ((KARAPACE, "other"), (REDPANDA, "s"), (CONFLUENT, "orders-value")):
        registry = taken_over(topic)
        registry.do(commands.set_mode, subject, "READWRITE")
        registry.delete(subject, permanent=True)
        assert numbers(registry.compacted(), subject) == []
        assert registry.compacted() == registry.replayed() == registry.state
