"""Nothing that a stranger sends raises anything but a refusal."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.schemas.formats.contract import InvalidSchema
from headwater.schemas.formats.json_schema import JSON_SCHEMA

KEYWORDS = [
    *("$schema", "$id", "id", "$ref", "$anchor", "$dynamicRef", "$recursiveRef", "$defs"),
    *("definitions", "type", "enum", "const", "allOf", "anyOf", "oneOf", "not", "if", "then"),
    *("else", "properties", "required", "patternProperties", "additionalProperties"),
    *("unevaluatedProperties", "propertyNames", "dependencies", "dependentSchemas"),
    *("dependentRequired", "items", "prefixItems", "additionalItems", "unevaluatedItems"),
    *("contains", "minContains", "maxContains", "uniqueItems", "maxLength", "minLength", "pattern"),
    *("maximum", "exclusiveMinimum", "multipleOf", "default", "title", "connect.type", "#", "a"),
]
WORDS = st.sampled_from(
    [
        *(
            "",
            "#",
            "#/",
            "#/definitions/a",
            "#a",
            "a",
            "./a",
            "http://[",
            "urn:a:b",
            "../..",
            "%",
            "(",
        ),
        *(
            "string",
            "integer",
            "object",
            "array",
            "null",
            "bytes",
            "/properties/a/items/0",
            "#/enum/1",
        ),
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-04/schema#",
    ]
)
SCALARS = st.one_of(
    st.none(), st.booleans(), WORDS, st.sampled_from([0, 1, -1, 2.5, 1e300, -0.0, 10**40])
)
NONSENSE: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4)
    ),
    max_leaves=25,
)
SCHEMAS = st.booleans() | st.dictionaries(st.sampled_from(KEYWORDS), NONSENSE, max_size=6)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(one=SCHEMAS, other=SCHEMAS, reference=SCHEMAS)
def test_nonsense_is_refused_or_compared(one: Any, other: Any, reference: Any) -> None:
    """Stored nonsense loads, is equal to itself after a round trip, and is compared somehow."""
    references = {"a": json.dumps(reference), "http://[": "true"}
    stored = [JSON_SCHEMA.parse(json.dumps(schema), references) for schema in (one, other)]

    assert JSON_SCHEMA.parse(stored[0].canonical, references) == stored[0]
    assert stored[0].normalized() == stored[0].normalized().normalized()
    JSON_SCHEMA.incompatibilities(reader=stored[0], writer=stored[1])
    JSON_SCHEMA.incompatibilities(reader=stored[1], writer=stored[0], lenient=True)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(schema=SCHEMAS, reference=SCHEMAS)
def test_new_nonsense_is_a_schema_or_refused(schema: Any, reference: Any) -> None:
    """Or it is a schema after all, and suits itself."""
    references = {"a": json.dumps(reference)}
    try:
        new = JSON_SCHEMA.parse(json.dumps(schema), references, is_new=True)
    except InvalidSchema:
        return
    assert JSON_SCHEMA.incompatibilities(reader=new, writer=new) == []


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet='{}[]":,\\ud80a0123456789.eE+-tfn ', max_size=40))
def test_text_that_is_hardly_json_is_a_schema_or_refused(text: str) -> None:
    """Brackets, quotes and escapes in any order."""
    try:
        parsed = JSON_SCHEMA.parse(text, {})
    except InvalidSchema:
        return
    assert json.loads(parsed.canonical) == json.loads(text)
