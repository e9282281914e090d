"""GUIDs: what they cover, and how they are written."""

import hashlib

import pytest

from headwater.schemas.identity import guid_of, guid_read, guid_text
from headwater.schemas.model import Definition, Metadata, Reference, Rule, RuleSet, SchemaFormat


def test_the_guid_of_plain_text_is_its_md5() -> None:
    assert (
        guid_of(Definition(text='"string"'))
        == hashlib.md5(b'"string"', usedforsecurity=False).digest()
    )


def test_references_metadata_and_rules_are_in_the_guid() -> None:
    """In the order of Confluent's ``Schema.updateHash``."""
    definition = Definition(
        text="t",
        references=(Reference(name="n", subject="s", version=258),),
        metadata=Metadata(
            tags={"p": ("A", "B")}, properties={"k": "v", "l": "w"}, sensitive=("k",)
        ),
        rule_set=RuleSet(
            migration_rules=(Rule(name="m", kind="TRANSFORM", mode="UPGRADE", type="JSONATA"),),
            domain_rules=(
                Rule(
                    name="d",
                    doc="why",
                    kind="CONDITION",
                    mode="WRITE",
                    type="CEL",
                    tags=("T",),
                    params={"x": "y"},
                    expr="1",
                    on_success="NONE",
                    on_failure="ERROR",
                    disabled=True,
                ),
            ),
            enable_at="v1",
        ),
    )
    told = b"t" + b"ns" + b"\x00\x00\x01\x02" + b"\x01" + b"pABkvlwk"
    told += b"\x01" + b"mTRANSFORMUPGRADEJSONATA" + b"dwhyCONDITIONWRITECELTxy1NONEERROR\x01v1"
    assert guid_of(definition) == hashlib.md5(told, usedforsecurity=False).digest()


def test_the_format_is_not_in_the_guid() -> None:
    assert guid_of(Definition(text="t")) == guid_of(Definition(text="t", format=SchemaFormat.JSON))


def test_absent_metadata_are_not_empty_metadata() -> None:
    assert guid_of(Definition(text="t")) != guid_of(Definition(text="t", metadata=Metadata()))


def test_a_guid_is_written_as_a_uuid_and_read_with_or_without_dashes() -> None:
    guid = bytes(range(16))
    assert guid_text(guid) == "00010203-0405-0607-0809-0a0b0c0d0e0f"
    assert guid_read(guid_text(guid)) == guid
    assert guid_read(guid.hex()) == guid


@pytest.mark.parametrize("text", ["", "no", "00010203", "g" * 32])
def test_other_text_is_no_guid(text: str) -> None:
    assert guid_read(text) is None
