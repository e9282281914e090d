"""The topic's keys and values, byte for byte, and what others write into it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.schemas.contracts import canonical_metadata
from headwater.schemas.model import Definition, Metadata, Reference, Rule, RuleSet, SchemaFormat
from headwater.schemas.records import (
    ClearSubjectRecord,
    ConfigRecord,
    ContextRecord,
    DeleteSubjectRecord,
    ModeRecord,
    NoopRecord,
    Record,
    SchemaRecord,
    StoredSchema,
    Unreadable,
    decode,
    encode,
)
from headwater.schemas.settings import CompatibilityLevel, CompatibilityPolicy, Config, Mode

CONFLUENT: list[tuple[Record, bytes, bytes | None]] = [
    (
        SchemaRecord(
            "test-value", 1, StoredSchema(id=7, definition=Definition(text='{"type":"string"}'))
        ),
        b'{"keytype":"SCHEMA","subject":"test-value","version":1,"magic":1}',
        (
            b'{"subject":"test-value","version":1,"id":7,"schema":"{\\"type\\":\\"string\\"}",'
            b'"deleted":false}'
        ),
    ),
    (
        SchemaRecord(
            ":.ctx:s",
            3,
            StoredSchema(
                id=8,
                definition=Definition(
                    text='syntax = "proto3";\n',
                    format=SchemaFormat.PROTOBUF,
                    references=(Reference(name="a.proto", subject="a", version=2),),
                    metadata=Metadata(
                        tags={"p": ("PII",)}, properties={"owner": "é"}, sensitive=("owner",)
                    ),
                    rule_set=RuleSet(
                        domain_rules=(
                            Rule(
                                name="r",
                                kind="CONDITION",
                                mode="WRITE",
                                type="CEL",
                                tags=("PII",),
                                params={"a": "b"},
                                expr="x",
                                on_failure="DLQ",
                            ),
                        )
                    ),
                ),
                deleted=True,
            ),
        ),
        b'{"keytype":"SCHEMA","subject":":.ctx:s","version":3,"magic":1}',
        '{"subject":":.ctx:s","version":3,"id":8,"schemaType":"PROTOBUF",'
        '"references":[{"name":"a.proto","subject":"a","version":2}],'
        '"metadata":{"tags":{"p":["PII"]},"properties":{"owner":"é"},"sensitive":["owner"]},'
        '"ruleSet":{"domainRules":[{"name":"r","kind":"CONDITION","mode":"WRITE","type":"CEL",'
        '"tags":["PII"],"params":{"a":"b"},"expr":"x","onFailure":"DLQ","disabled":false}]},'
        '"schema":"syntax = \\"proto3\\";\\n","deleted":true}'.encode(),
    ),
    (
        SchemaRecord("s", 1, None),
        b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}',
        None,
    ),
    (
        ConfigRecord(None, Config(compatibility_level=CompatibilityLevel.FULL)),
        b'{"keytype":"CONFIG","subject":null,"magic":0}',
        b'{"compatibilityLevel":"FULL"}',
    ),
    (
        ConfigRecord(
            "s",
            Config(
                alias="t",
                normalize=True,
                compatibility_level=CompatibilityLevel.NONE,
                compatibility_policy=CompatibilityPolicy.LENIENT,
                compatibility_group="g",
                default_metadata=Metadata(properties={"a": "b"}),
            ),
        ),
        b'{"keytype":"CONFIG","subject":"s","magic":0}',
        (
            b'{"subject":"s","alias":"t","normalize":true,"compatibilityLevel":"NONE",'
            b'"compatibilityPolicy":"LENIENT","compatibilityGroup":"g",'
            b'"defaultMetadata":{"properties":{"a":"b"}}}'
        ),
    ),
    (ConfigRecord("s", None), b'{"keytype":"CONFIG","subject":"s","magic":0}', None),
    (
        ModeRecord(":.ctx:", Mode.IMPORT),
        b'{"keytype":"MODE","subject":":.ctx:","magic":0}',
        b'{"subject":":.ctx:","mode":"IMPORT"}',
    ),
    (ModeRecord(None, None), b'{"keytype":"MODE","subject":null,"magic":0}', None),
    (
        DeleteSubjectRecord("s", 4),
        b'{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}',
        b'{"subject":"s","version":4}',
    ),
    (
        ClearSubjectRecord("s"),
        b'{"keytype":"CLEAR_SUBJECT","subject":"s","magic":0}',
        b'{"subject":"s"}',
    ),
    (ClearSubjectRecord(None), b'{"keytype":"CLEAR_SUBJECT","subject":null,"magic":0}', b"{}"),
    (
        ContextRecord(".ctx"),
        b'{"keytype":"CONTEXT","tenant":"default","context":".ctx","magic":0}',
        b'{"tenant":"default","context":".ctx"}',
    ),
    (
        ContextRecord(".ctx", exists=False),
        b'{"keytype":"CONTEXT","tenant":"default","context":".ctx","magic":0}',
        None,
    ),
    (NoopRecord(), b'{"keytype":"NOOP","magic":0}', None),
    (NoopRecord({".": 9}), b'{"keytype":"NOOP","magic":0}', b'{"idMax":{".":9}}'),
]


@pytest.mark.parametrize(("record", "key", "value"), CONFLUENT)
def test_records_are_spelt_as_confluent_spells_them(
    record: Record, key: bytes, value: bytes | None
) -> None:
    assert encode(record) == (key, value)
    assert decode(key, value) == record


def schema() -> SchemaRecord:
    return SchemaRecord("s", 1, StoredSchema(id=7, definition=Definition(text="x")))


@pytest.mark.parametrize(
    ("key", "value", "record"),
    [
        pytest.param(
            b'{"subject": "s", "version": 1, "magic": 1, "keytype": "SCHEMA"}',
            b'{"subject": "s", "version": 1, "id": 7, "schema": "x", "deleted": false}',
            schema(),
            id="Karapace of old: another order, and spaces",
        ),
        pytest.param(
            b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}',
            b'{"id":7,"schema":"x"}',
            schema(),
            id="nothing but what is needed",
        ),
        pytest.param(
            b'{"keytype":"SCHEMA","subject":"s","version":"1","magic":1,"seqno":5}',
            b'{"subject":"s","version":"1","id":"7","md5":"xx==","schemaType":"AVRO","schema":"x",'
            b'"references":[],"schemaTags":[{}],"deleted":"false","ts":17}',
            schema(),
            id="Redpanda's members, numbers as text, members of later versions",
        ),
        pytest.param(
            b'{"keytype":"CONFIG","subject":"s","magic":0}',
            b"",
            ConfigRecord("s", None),
            id="Karapace's empty value",
        ),
        pytest.param(
            b'{"keytype":"CONFIG","magic":0}',
            b'{"compatibilityLevel":"NONE"}',
            ConfigRecord(None, Config(compatibility_level=CompatibilityLevel.NONE)),
            id="no subject is all",
        ),
        pytest.param(
            b'{"keytype":"DELETE_SUBJECT","subject":":.:s","magic":0}',
            b'{"subject":"s","version":2}',
            DeleteSubjectRecord("s", 2),
            id="another spelling of the subject",
        ),
        pytest.param(
            b'{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}',
            None,
            DeleteSubjectRecord("s", 0),
            id="a tombstone that deletes nothing",
        ),
        pytest.param(
            b'{"keytype":"CLEAR_SUBJECT","subject":"s","magic":0}', None, NoopRecord(), id="as well"
        ),
        pytest.param(
            b'{"keytype":"NOOP","magic":0}', b"not ours", NoopRecord(), id="somebody's NOOP"
        ),
    ],
)
def test_what_others_write_is_understood(key: bytes, value: bytes | None, record: Record) -> None:
    assert decode(key, value) == record


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, None),
        (b"", b"{}"),
        (b"\xff", b"{}"),
        (b"[]", b"{}"),
        (b'"SCHEMA"', b"{}"),
        (b"{}", b"{}"),
        (b'{"keytype":"ASSOC"}', b"{}"),
        (b'{"keytype":"CONTEXT"}', b"{}"),
        (b'{"keytype":"DELETE_SUBJECT"}', b'{"version":1}'),
        (b'{"keytype":"SCHEMA","version":1}', b'{"id":7,"schema":"x"}'),
        (b'{"keytype":"SCHEMA","subject":"s"}', b'{"id":7,"schema":"x"}'),
        (b'{"keytype":"SCHEMA","subject":"s","version":0}', b'{"id":7,"schema":"x"}'),
        (b'{"keytype":"SCHEMA","subject":"s","version":2147483648}', b'{"id":7,"schema":"x"}'),
        (b'{"keytype":"SCHEMA","subject":"s","version":1}', b'{"id":-1,"schema":"x"}'),
        (b'{"keytype":"SCHEMA","subject":"s","version":1}', b'{"id":2147483648,"schema":"x"}'),
        (b'{"keytype":"SCHEMA","subject":"s","version":1}', b'{"schema":"x"}'),
        (b'{"keytype":"SCHEMA","subject":"s","version":1}', b'{"id":1}'),
        (b'{"keytype":"SCHEMA","subject":"s","version":1}', b'{"id":1,"schema":"\xff"}'),
        (
            b'{"keytype":"SCHEMA","subject":"s","version":1}',
            b'{"id":1,"schema":"x","schemaType":"THRIFT"}',
        ),
        (b'{"keytype":"CONFIG","subject":"s"}', b'{"compatibilityLevel":"SOME"}'),
        (b'{"keytype":"MODE","subject":"s"}', b'{"mode":"SLOW"}'),
        (b'{"keytype":"MODE","subject":"s"}', b"[" * 10_000),
    ],
)
def test_what_cannot_be_understood_is_told_and_never_raises(
    key: bytes | None, value: bytes | None
) -> None:
    told = decode(key, value)
    assert isinstance(told, Unreadable)
    assert told.reason


@given(key=st.binary(max_size=40), value=st.none() | st.binary(max_size=40))
def test_no_bytes_raise(key: bytes, value: bytes | None) -> None:
    decode(key, value)


words = st.text(max_size=4)
definitions = st.builds(
    Definition,
    text=words,
    format=st.sampled_from(SchemaFormat),
    references=st.lists(
        st.builds(Reference, name=words, subject=words, version=st.integers(1, 9)), max_size=2
    ).map(tuple),
    metadata=st.none()
    | st.builds(
        lambda properties: canonical_metadata(Metadata(properties=properties)),
        st.dictionaries(words, words),
    ),
)


@given(
    definition=definitions,
    schema_id=st.integers(0, 2**31 - 1),
    version=st.integers(1, 2**31 - 1),
    deleted=st.booleans(),
)
def test_schemas_come_back_as_they_went(
    definition: Definition, schema_id: int, version: int, *, deleted: bool
) -> None:
    stored = StoredSchema(id=schema_id, definition=definition, deleted=deleted)
    record = SchemaRecord("s", version, stored)
    assert decode(*encode(record)) == record
