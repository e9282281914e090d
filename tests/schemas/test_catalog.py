"""The three real formats under the registry's commands: one story each."""

import pytest
from tests.schemas.registry import AVRO, JSON, PROTOBUF, Registry, ref

from headwater.schemas import commands, listings
from headwater.schemas.errors import IncompatibleSchema, InvalidSchemaRefused
from headwater.schemas.formats.catalog import FORMATS
from headwater.schemas.model import SchemaFormat
from headwater.schemas.parsing import SchemaParser


@pytest.fixture
def registry() -> Registry:
    registry = Registry()
    registry.parser = SchemaParser(FORMATS)
    return registry


def test_the_formats_are_listed_as_confluent_lists_them() -> None:
    assert list(FORMATS) == ["JSON", "PROTOBUF", "AVRO"]
    assert set(FORMATS) == set(SchemaFormat)


USER = '{"type":"record","name":"User","fields":[{"name":"f1","type":"string"}]}'
USER_2 = USER.replace("}]}", '},{"name":"f2","type":"string"%s}]}')


def test_avro(registry: Registry) -> None:
    registry.register("user", " " + USER + "\n")
    with pytest.raises(IncompatibleSchema) as refused:
        registry.register("user", USER_2 % "")
    assert refused.value.details == [
        (
            "{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'The field 'f2' at path "
            "'/fields/1' in the new schema has no default value and is missing in the old schema', "
            "additionalInfo:'f2'}"
        ),
        "{oldSchemaVersion: 1}",
        f"{{oldSchema: '{USER}'}}",
        "{validateFields: 'false', compatibility: 'BACKWARD'}",
    ]
    registry.register("user", USER_2 % ',"default":"x"')
    holder = '{"type":"record","name":"Holder","fields":[{"name":"user","type":%s}]}'
    held = registry.register("holder", holder % '"User"', references=(ref("User", "user"),))
    assert (held.id, held.definition.text) == (3, holder % '"User"')
    inlined = registry.register("holder", holder % USER)
    assert inlined == held, "with what it references inlined, it is the same schema"
    assert listings.list_referencing(registry.state, "user", "1") == [3]


def test_json_schema(registry: Registry) -> None:
    closed = '{"type":"object","properties":{"a":{"type":"%s"}},"additionalProperties":false}'
    registry.register("s", closed % "integer", format=JSON)
    with pytest.raises(IncompatibleSchema) as refused:
        registry.register("s", closed % "string", format=JSON)
    assert refused.value.details[0].startswith('{errorType:"TYPE_CHANGED", description:"')
    assert " new schema" in refused.value.details[0]
    assert registry.register("s", closed % "number", format=JSON).version == 2
    uses = '{"type":"object","properties":{"b":{"$ref":"s.json"}}}'
    version = registry.register("t", uses, format=JSON, references=(ref("s.json", "s", -1),))
    assert version.definition.references == (ref("s.json", "s", 2),)


def test_protobuf(registry: Registry) -> None:
    first = 'syntax = "proto3"; package x; message M { %s a = 1; }'
    stored = registry.register("p", first % "string", format=PROTOBUF)
    assert stored.definition.text == (
        'syntax = "proto3";\npackage x;\n\nmessage M {\n  string a = 1;\n}\n'
    )
    with pytest.raises(IncompatibleSchema) as refused:
        registry.register("p", first % "int32", format=PROTOBUF)
    assert refused.value.details[0] == (
        '{errorType:"FIELD_SCALAR_KIND_CHANGED", description:"The kind of a SCALAR field at path '
        "'#/M/1' in the new schema does not match its kind in the old schema\"}"
    )
    imports = 'syntax = "proto3"; import "p.proto"; message N { x.M m = 1; }'
    with pytest.raises(InvalidSchemaRefused, match="Invalid schema of type PROTOBUF, details: "):
        registry.register("q", imports, format=PROTOBUF)
    version = registry.register("q", imports, format=PROTOBUF, references=(ref("p.proto", "p"),))
    assert version.id == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (AVRO, '{"type":"record"}'),
        (AVRO, "syntax"),
        (JSON, '{"type":"strange"}'),
        (JSON, "{"),
        (PROTOBUF, '{"type":"string"}'),
        (PROTOBUF, "message {"),
        (AVRO, "[" * 100_000),
        (JSON, '{"not":' * 100_000),
        (PROTOBUF, "message A {" * 50_000),
    ],
)
def test_bad_schemas_are_refused(registry: Registry, name: SchemaFormat, text: str) -> None:
    with pytest.raises(InvalidSchemaRefused, match=f"^Invalid schema of type {name}, details: "):
        registry.register("s", text, format=name)


def test_another_format_never_follows(registry: Registry) -> None:
    registry.register("s", USER)
    with pytest.raises(IncompatibleSchema, match="Incompatible because of different schema type"):
        registry.register("s", '{"type":"object"}', format=JSON)
    registry.do(commands.delete_subject, "s")
    assert registry.register("s", '{"type":"object"}', format=JSON).version == 2
