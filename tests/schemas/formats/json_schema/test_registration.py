"""What a new schema must be, and what a stored one may be."""

import json
from typing import Any

import pytest

from headwater.schemas.formats.contract import InvalidSchema
from headwater.schemas.formats.json_schema import JSON_SCHEMA
from headwater.schemas.model import SchemaFormat

DRAFTS = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
]


def refusal(text: str, references: dict[str, str] | None = None, *, is_new: bool = True) -> str:
    """Why *text* is refused, with the place."""
    with pytest.raises(InvalidSchema) as caught:
        JSON_SCHEMA.parse(text, references or {}, is_new=is_new)
    return str(caught.value)


def test_the_canonical_text_keeps_order_and_numbers_and_drops_space() -> None:
    """What is stored says the same, as it was said."""
    text = (
        '{ "title": "caf\\u00e9 \\/ \\"x\\"", "maximum": 1.0,\n "minimum": -1E2,'
        ' "const": 123456789012345678901234567890, "multipleOf": 0.10 }'
    )

    parsed = JSON_SCHEMA.parse(text, {}, is_new=True)

    assert parsed.canonical == (
        '{"title":"café / \\"x\\"","maximum":1.0,"minimum":-1E2,'
        '"const":123456789012345678901234567890,"multipleOf":0.10}'
    )
    assert JSON_SCHEMA.parse(parsed.canonical, {}).canonical == parsed.canonical
    assert parsed.name == 'café / "x"'
    assert parsed.format is SchemaFormat.JSON
    assert parsed.rendered("resolved") == parsed.rendered("") == parsed.canonical


def test_the_normal_form_sorts_keys_as_java_does_and_keeps_arrays() -> None:
    """By UTF-16 code units: a key beyond the basic plane comes before U+FB01."""
    parsed = JSON_SCHEMA.parse('{"\\ufb01":1,"\\ud83d\\ude00":2,"b":[{"d":1,"c":2},1.0],"B":3}', {})

    normal = parsed.normalized()

    assert normal.canonical == '{"B":3,"b":[{"c":2,"d":1},1.0],"\U0001f600":2,"\ufb01":1}'
    assert normal.normalized() == normal


def test_equal_texts_are_equal_values() -> None:
    """Space and escapes make no difference, references do."""
    one, other = (JSON_SCHEMA.parse(text, {}) for text in ('{"a": "\\u0041"}', '{"a":"A"}'))

    assert one == other
    assert hash(one) == hash(other)
    assert one != JSON_SCHEMA.parse('{"a":"A"}', {"x": "{}"})


def test_a_schema_may_be_a_boolean() -> None:
    """True and false are schemas from draft 6 on."""
    assert JSON_SCHEMA.parse(" true ", {}, is_new=True).canonical == "true"
    assert JSON_SCHEMA.parse("false", {}, is_new=True).name is None


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_new_schema_fits_the_metaschema_of_its_draft(draft: str) -> None:
    """The refusal names the place."""
    schema = {"$schema": draft, "properties": {"a": {"type": "strnig"}}}

    assert "(at #/properties/a/type)" in refusal(json.dumps(schema))
    JSON_SCHEMA.parse(json.dumps(schema), {})  # what is stored still loads


def test_of_several_faults_the_deepest_is_told() -> None:
    """It is the one that says most."""
    text = '{"required": "a", "properties": {"a": {"items": {"maxLength": -1}}}}'

    assert "(at #/properties/a/items/maxLength)" in refusal(text)


@pytest.mark.parametrize(
    ("text", "draft", "is_known"),
    [
        ('{"exclusiveMaximum": true, "maximum": 3}', DRAFTS[0], True),
        ('{"exclusiveMaximum": true, "maximum": 3}', DRAFTS[1], False),
        ('{"exclusiveMaximum": true, "maximum": 3}', None, False),
        ('{"items": [true]}', DRAFTS[2], True),
        ('{"items": [true]}', DRAFTS[4], False),
        ('{"dependentRequired": {"a": "b"}}', DRAFTS[2], True),
        ('{"dependentRequired": {"a": "b"}}', DRAFTS[3], False),
        ('{"exclusiveMaximum": true, "maximum": 3}', "http://nobody.example/schema", False),
    ],
)
def test_the_draft_decides_and_is_draft_7_by_default(
    text: str,
    draft: str | None,
    is_known: bool,  # noqa: FBT001 - a column of the table
) -> None:
    """Also for a ``$schema`` that nobody knows, as Confluent's registry has it."""
    schema = json.loads(text) | ({"$schema": draft} if draft else {})
    if is_known:
        JSON_SCHEMA.parse(json.dumps(schema), {}, is_new=True)
    else:
        refusal(json.dumps(schema))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON: Expecting value (at line 1, column 1)"),
        ('{"a": 1,}', "no JSON"),
        ("{} {}", "no JSON: Extra data (at line 1, column 4)"),
        ('{"maximum": NaN}', "NaN is not JSON"),
        ("[]", "an object, true or false (at #/)"),
        ('"string"', "an object, true or false (at #/)"),
        ("[" * 100_000, "deeper than 100 levels"),
        ('{"a":' * 101 + "1" + "}" * 101, "deeper than 100 levels"),
        ('{"maximum": 1e1001}', "too long or too far from zero"),
        ('{"maximum": 1e-99999999999999}', "too long or too far from zero"),
        ('{"maximum": ' + "9" * 1001 + "}", "too long or too far from zero"),
        ('{"title": "\\ud800"}', "half of a surrogate pair"),
        ('{"\\ud800": 1}', "half of a surrogate pair"),
        ('"\ud800"', "half of a surrogate pair (at character 1)"),
        (json.dumps({"anyOf": [True] * 301}), "more than 300 branches in one anyOf"),
    ],
)
def test_what_is_no_schema_is_refused_stored_or_new(text: str, reason: str) -> None:
    """Also what no comparison could bear."""
    assert reason in refusal(text, is_new=False)
    assert reason in refusal(text)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ('{"title": "a", "title": "b"}', "an object has the key 'title' twice"),
        ('{"properties": {"$$a": {}}}', "cannot start with $$ prefix (at #/properties/$$a)"),
        ('{"pattern": "("}', 'is not a "regex" (at #/pattern)'),
        ('{"$ref": "other.json"}', "the reference 'other.json' leads nowhere"),
        ('{"properties": {"a": {"$ref": "#/definitions/b"}}}', "'#/definitions/b' leads nowhere"),
        ('{"properties": {"a": {"$ref": "http://x.example/a.json"}}}', "leads nowhere"),
        (
            '{"$ref": "#/definitions/a", "definitions": {"a": {"items": {"$ref": "#/no"}}}}',
            "'#/no' leads nowhere",
        ),
    ],
)
def test_a_new_schema_is_held_to_more(schema: str, reason: str) -> None:
    """What is stored still loads."""
    assert reason in refusal(schema)
    JSON_SCHEMA.parse(schema, {})


def test_more_references_than_anybody_needs_are_refused() -> None:
    """A bound on what one registration may drag in."""
    assert "1000 references" in refusal("{}", {f"r{i}": "{}" for i in range(1001)})


@pytest.mark.slow
def test_the_bounds_let_pass_what_lies_on_them() -> None:
    """A hundred levels, three hundred branches, a thousand digits."""
    deep: Any = {}
    for _ in range(99):
        deep = {"not": deep}
    for schema in (deep, {"anyOf": [{"maxLength": n} for n in range(300)]}):
        parsed = JSON_SCHEMA.parse(json.dumps(schema), {}, is_new=True)
        assert JSON_SCHEMA.incompatibilities(reader=parsed, writer=parsed) == []
    JSON_SCHEMA.parse('{"maximum": ' + "9" * 1000 + "}", {}, is_new=True)
    JSON_SCHEMA.parse('{"maximum": 1e1000, "minimum": 1e-1000}', {}, is_new=True)
