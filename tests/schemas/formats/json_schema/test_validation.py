"""Data against a schema that was compiled once."""

import pytest

from headwater.schemas.formats.contract import InvalidSchema
from headwater.schemas.formats.json_schema import Problem, validator


def test_a_value_that_does_not_fit_is_told_with_its_place() -> None:
    """The path into the value, not into the schema."""
    checks = validator('{"properties":{"a":{"items":{"type":"string"}}},"required":["a"]}', {})

    assert checks.problem({"a": ["x", 1]}) == Problem(
        path="$.a[1]", message='1 is not of type "string"'
    )
    assert checks.problem({}) == Problem(path="$", message='"a" is a required property')
    assert checks.problem({"a": []}) is None


def test_the_draft_of_the_schema_decides() -> None:
    """Draft 4 knows no ``const``, draft 7 no ``dependentRequired``."""
    for text, draft_4, draft_7, modern in [
        ('{"const":1}', True, False, False),
        ('{"dependentRequired":{"a":["b"]}}', True, True, False),
    ]:
        heads = (
            "http://json-schema.org/draft-04/schema#",
            "http://json-schema.org/draft-07/schema#",
            "https://json-schema.org/draft/2020-12/schema",
        )
        accepted = [
            validator(f'{{"$schema":"{head}",{text[1:]}', {}).is_valid({"a": 1}) for head in heads
        ]
        assert accepted == [draft_4, draft_7, modern]


def test_formats_describe_unless_asked_for() -> None:
    """As in a comparison of schemas."""
    text = '{"format":"date"}'

    assert validator(text, {}).is_valid("yesterday")
    assert not validator(text, {}, asserts_formats=True).is_valid("yesterday")
    assert validator(text, {}, asserts_formats=True).is_valid("2026-01-31")


def test_large_numbers_are_exact() -> None:
    """Where a float would round."""
    checks = validator('{"maximum":123456789012345678901234567890}', {})

    assert checks.is_valid(123456789012345678901234567890)
    assert not checks.is_valid(123456789012345678901234567891)
    assert validator('{"maximum":1e400}', {}).is_valid(1e300)


def test_nothing_is_fetched() -> None:
    """A schema that would need the network is invalid here."""
    with pytest.raises(InvalidSchema):
        validator('{"$ref":"http://localhost:1/schema.json"}', {})


def test_a_pattern_that_explodes_refuses_in_time() -> None:
    """The library's engine gives up, and the value with it."""
    checks = validator('{"pattern":"^(?=(a+)+$)(a|a)*b$"}', {})

    assert not checks.is_valid("a" * 5_000)
