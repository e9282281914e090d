"""Compatible means: what the writer's schema allows, the reader's schema allows."""

import json
import random
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from headwater.schemas.formats.json_schema import JSON_SCHEMA, validator

from . import generating

seeds = st.integers(0, 2**32)


def in_definitions(schema: Any, dice: random.Random) -> Any:
    """*schema* with some of its parts moved to ``definitions``."""
    root = {"root": schema}
    moved: dict[str, Any] = {}
    for holder, key in list(generating.places(root, ["root"]))[1:]:
        if dice.random() < 0.3:
            name = f"d{len(moved)}"
            moved[name], holder[key] = holder[key], {"$ref": f"#/definitions/{name}"}
    return {**schema, "definitions": moved} if moved and isinstance(schema, dict) else schema


def pair_of(dice: random.Random) -> tuple[Any, Any, Any]:
    """A schema, its next version, both of one draft, and the first as it was generated."""
    draft = dice.choice([*generating.DRAFTS])
    writer = generating.schema(dice, draft)
    related = dice.random() < 0.9
    reader = (
        generating.next_version(dice, writer, draft) if related else generating.schema(dice, draft)
    )
    template = json.loads(json.dumps(writer))
    if dice.random() < 0.4:
        writer, reader = in_definitions(writer, dice), in_definitions(reader, dice)
    head = {"$schema": generating.DRAFTS[draft]}
    with_heads = [{**head, **s} if isinstance(s, dict) else s for s in (writer, reader)]
    return with_heads[0], with_heads[1], template


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(seed=seeds)
def test_a_compatible_reader_accepts_all_that_the_writer_allows(seed: int) -> None:
    """Values are really validated on both sides."""
    dice = random.Random(seed)
    writer, reader, template = pair_of(dice)
    texts = json.dumps(writer), json.dumps(reader)
    parsed = [JSON_SCHEMA.parse(text, {}, is_new=True) for text in texts]
    if JSON_SCHEMA.incompatibilities(writer=parsed[0], reader=parsed[1]):
        return
    note(f"writer {texts[0]}\nreader {texts[1]}")
    allows, accepts = (validator(text, {}) for text in texts)
    for _ in range(40):
        value = generating.value(dice, template)
        if allows.is_valid(value):
            assert accepts.is_valid(value), value


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(seed=seeds)
def test_a_schema_suits_itself_in_any_order_of_keys(seed: int) -> None:
    """Reading one's own data never breaks, however the text is arranged."""
    writer, _, _ = pair_of(random.Random(seed))
    parsed = JSON_SCHEMA.parse(json.dumps(writer), {}, is_new=True)

    assert JSON_SCHEMA.incompatibilities(reader=parsed, writer=parsed.normalized()) == []


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(seed=seeds)
def test_lenient_never_refuses_what_the_strict_policy_lets_pass(seed: int) -> None:
    """LENIENT only tolerates more, also below ``not``."""
    writer, reader, _ = pair_of(random.Random(seed))
    parsed = [JSON_SCHEMA.parse(json.dumps(s), {}, is_new=True) for s in (writer, reader)]

    if not JSON_SCHEMA.incompatibilities(writer=parsed[0], reader=parsed[1]):
        assert not JSON_SCHEMA.incompatibilities(writer=parsed[0], reader=parsed[1], lenient=True)
