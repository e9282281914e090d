"""The canonical text is Java's, and what a schema is called."""

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.schemas.formats.avro.build import drawn, enum, field, parsed, record, refusal
from tests.schemas.formats.avro.generated import SchemaMaker
from tests.schemas.formats.avro.recordings import Json, recorded

from headwater.schemas.formats.avro import AVRO
from headwater.schemas.formats.contract import InvalidSchema
from headwater.schemas.model import SchemaFormat

TEXTS = recorded("texts")


@pytest.mark.parametrize("entry", TEXTS, ids=lambda entry: str(entry["text"])[:60])
def test_a_text_becomes_what_java_makes_of_it(entry: Json) -> None:
    references = dict(enumerate(entry.get("references", ())))
    texts = {str(name): text for name, text in references.items()}
    is_new = entry.get("is_new", False)
    if "error" in entry:
        with pytest.raises(InvalidSchema):
            AVRO.parse(entry["text"], texts, is_new=is_new)
        return
    schema = AVRO.parse(entry["text"], texts, is_new=is_new)
    assert schema.canonical == schema.rendered("") == schema.rendered("serialized")
    assert schema.canonical == entry["canonical"]
    assert schema.rendered("resolved") == entry["resolved"]


def test_the_recordings_hold_both_kinds() -> None:
    refused = sum("error" in entry for entry in TEXTS)
    assert refused > 50
    assert len(TEXTS) - refused > 50


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_canonical_text_is_its_own_canonical_text(pick: Random) -> None:
    schema = drawn(SchemaMaker(pick).schema())
    again = AVRO.parse(schema.canonical, {})
    assert again.canonical == schema.canonical
    assert again == schema


def test_an_alias_without_namespace_stays_one() -> None:
    """Java writes "X", which it then reads as "a.X"."""
    schema = parsed(record("a.R", aliases=[".X", "X"]))
    assert schema.canonical.endswith('"aliases":[".X","X"]}')


def test_only_the_root_of_a_reference_is_left_out() -> None:
    """What else it defines is written out, as Confluent's registry does."""
    reference = record("a.Ref", field("e", enum("E", "A")))
    schema = parsed(record("R", field("r", "a.Ref"), field("e", "a.E")), reference)
    assert json.loads(schema.canonical)["fields"][0]["type"] == "a.Ref"
    assert json.loads(schema.canonical)["fields"][1]["type"]["symbols"] == ["A"]
    resolved = json.loads(schema.rendered("resolved"))
    assert resolved["fields"][0]["type"]["name"] == "Ref"
    assert resolved["fields"][1]["type"] == "a.E"


def test_the_stored_text_reads_with_its_references_again() -> None:
    reference = record("a.Ref", field("e", enum("E", "A")))
    schema = parsed(record("R", field("e", "a.E"), field("r", "a.Ref")), reference)
    assert AVRO.parse(schema.canonical, {"a.Ref": json.dumps(reference)}) == schema


def test_only_records_have_a_name() -> None:
    assert parsed(record("a.R")).name == "a.R"
    assert parsed(enum("a.E", "A")).name is None
    assert parsed("int").name is None
    assert parsed("int").format is SchemaFormat.AVRO


def test_names_cannot_nest_types_without_end() -> None:
    """A flat text, in which each record names the next."""
    chain = [record(f"R{index}", field("f", f"R{index + 1}")) for index in range(200)]
    assert "nest deeper than 100" in str(refusal(json.dumps([*chain, record("R200")])))


def test_half_a_surrogate_pair_is_refused() -> None:
    assert "surrogate" in str(refusal('{"type":"int","x":"\\ud800"}'))
