"""The order that normalize=true asks for."""

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.schemas.formats.avro.build import drawn, enum, field, parsed, reasons, record
from tests.schemas.formats.avro.generated import SchemaMaker
from tests.schemas.formats.avro.recordings import Json, recorded

from headwater.schemas.formats.avro import AVRO


@pytest.mark.parametrize("entry", recorded("normalized"), ids=lambda entry: str(entry["text"])[:60])
def test_order_is_confluents(entry: Json) -> None:
    assert AVRO.parse(entry["text"], {}).normalized().canonical == entry["normalized"]


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False))
def test_normalizing_twice_is_as_good_as_once(pick: Random) -> None:
    once = drawn(SchemaMaker(pick).schema()).normalized()
    assert once.normalized() == once
    assert AVRO.parse(once.canonical, {}).normalized() == once


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False))
def test_order_does_not_matter_to_it(pick: Random) -> None:
    schema = SchemaMaker(pick).schema()
    assert drawn(_reversed(schema)).normalized() == drawn(schema).normalized()


def test_references_stay_references() -> None:
    schema = parsed(record("R", field("f", "a.S", z=1, a=2)), record("a.S"))
    normalized = schema.normalized()
    assert normalized.canonical.endswith('"fields":[{"name":"f","type":"a.S","a":2,"z":1}]}')
    assert '"name":"S"' in normalized.rendered("resolved")


def test_a_default_of_a_later_branch_is_kept() -> None:
    """Confluent's loses it, and with it what made the field readable."""
    schema = record("R", field("f", ["null", "string"], default="x"))
    assert '"default":"x"' in parsed(schema).normalized().canonical


def test_a_type_without_namespace_keeps_none() -> None:
    inner = enum("E", "A", namespace="")
    normalized = parsed(record("a.R", field("f", inner))).normalized()
    assert '"namespace":""' in normalized.canonical
    assert reasons(json.loads(normalized.canonical), record("a.R", field("f", inner))) == []


def _reversed(value: Json) -> Json:
    """All attributes in the other order, and aliases too; fields and symbols stay."""
    if isinstance(value, list):
        return [_reversed(item) for item in value]
    if not isinstance(value, dict):
        return value
    turned = {key: _reversed(item) for key, item in reversed(value.items())}
    if isinstance(turned.get("aliases"), list):
        turned["aliases"].reverse()
    return turned
