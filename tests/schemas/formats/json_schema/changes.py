"""Changes that break readers, each with the kind that tells it and a value that shows it."""

from typing import Any, NamedTuple

MODERN = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
STRING = {"type": "string"}
NUMBER = {"type": "number"}
INTEGER = {"type": "integer"}


class Breaking(NamedTuple):
    """From *writer* to *reader*: *kind* at *path*, as *witness* shows."""

    kind: str
    path: str
    writer: Any
    reader: Any
    witness: Any


def properties(**members: Any) -> dict[str, Any]:
    """An object with these properties and whatever else."""
    return {"type": "object", "properties": members}


def closed(**members: Any) -> dict[str, Any]:
    """An object with these properties and no others."""
    return {**properties(**members), "additionalProperties": False}


def partial(rest: Any, **members: Any) -> dict[str, Any]:
    """An object whose other members fit *rest*."""
    return {**properties(**members), "additionalProperties": rest}


def items(*given: Any, rest: Any = True) -> dict[str, Any]:
    """A tuple and what may follow it."""
    return {"type": "array", "items": [*given], "additionalItems": rest}


def _bounds() -> list[Breaking]:
    cases = [
        ("string", "maxLength", "MAX_LENGTH", 3, 2, "aaa"),
        ("string", "minLength", "MIN_LENGTH", 1, 2, "a"),
        ("number", "maximum", "MAXIMUM", 3, 2, 3),
        ("number", "minimum", "MINIMUM", 1, 2, 1),
        ("number", "exclusiveMaximum", "EXCLUSIVE_MAXIMUM", 3, 2, 2.5),
        ("number", "exclusiveMinimum", "EXCLUSIVE_MINIMUM", 1, 2, 1.5),
        ("object", "maxProperties", "MAX_PROPERTIES", 2, 1, {"a": 1, "b": 2}),
        ("object", "minProperties", "MIN_PROPERTIES", 1, 2, {"a": 1}),
        ("array", "maxItems", "MAX_ITEMS", 2, 1, [1, 2]),
        ("array", "minItems", "MIN_ITEMS", 1, 2, [1]),
    ]
    found = []
    for type_, keyword, kind, before, after, witness in cases:
        plain, loose, tight = (
            {"type": type_},
            {"type": type_, keyword: before},
            {"type": type_, keyword: after},
        )
        tightened = f"{kind}_{'DECREASED' if after < before else 'INCREASED'}"
        found.append(Breaking(f"{kind}_ADDED", f"#/{keyword}", plain, tight, witness))
        found.append(Breaking(tightened, f"#/{keyword}", loose, tight, witness))
    return found


BREAKING = [
    *_bounds(),
    Breaking("TYPE_CHANGED", "#/", STRING, NUMBER, "a"),
    Breaking("TYPE_CHANGED", "#/properties/a", closed(a=STRING), closed(a=NUMBER), {"a": "x"}),
    Breaking("TYPE_CHANGED", "#/", {}, {"properties": {"a": STRING}}, {"a": 1}),
    Breaking("TYPE_CHANGED", "#/", True, False, 1),
    Breaking("TYPE_NARROWED", "#/", NUMBER, INTEGER, 1.5),
    Breaking("TYPE_NARROWED", "#/", {"maxLength": 2}, {"type": "string", "maxLength": 2}, 1),
    Breaking("PATTERN_ADDED", "#/pattern", STRING, {"type": "string", "pattern": "a"}, "b"),
    Breaking(
        *("PATTERN_CHANGED", "#/pattern"),
        {"type": "string", "pattern": "b"},
        {"type": "string", "pattern": "a"},
        "b",
    ),
    Breaking("MULTIPLE_OF_ADDED", "#/multipleOf", NUMBER, {"type": "number", "multipleOf": 2}, 1),
    Breaking(
        *("MULTIPLE_OF_EXPANDED", "#/multipleOf"),
        {"type": "number", "multipleOf": 0.5},
        {"type": "number", "multipleOf": 1.5},
        0.5,
    ),
    Breaking(
        *("MULTIPLE_OF_CHANGED", "#/multipleOf"),
        {"type": "number", "multipleOf": 4},
        {"type": "number", "multipleOf": 6},
        4,
    ),
    Breaking("ENUM_ARRAY_NARROWED", "#/enum", {"enum": [1, 2]}, {"enum": [1]}, 2),
    Breaking("ENUM_ARRAY_CHANGED", "#/enum", {"enum": [1, 2]}, {"enum": [1, 3]}, 2),
    Breaking("ENUM_ARRAY_CHANGED", "#/const", {"const": 1}, {"const": True}, 1),
    Breaking(
        *("REQUIRED_ATTRIBUTE_ADDED", "#/required/a"),
        closed(a=STRING),
        {**closed(a=STRING), "required": ["a"]},
        {},
    ),
    Breaking(
        *("REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL", "#/properties/a"),
        closed(),
        {**closed(a=STRING), "required": ["a"]},
        {},
    ),
    Breaking(
        *("REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", "#/properties/a"),
        properties(),
        {**properties(a=STRING), "required": ["a"]},
        {},
    ),
    Breaking(
        *("REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", "#/properties/a"),
        properties(),
        {**properties(a={}), "required": ["a"]},
        {},
    ),
    Breaking(
        *("REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL", "#/properties/a"),
        properties(),
        {**properties(a={"type": "string", "default": ""}), "required": ["a"]},
        {"a": 1},
    ),
    Breaking(
        *("OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", "#/properties/a"),
        properties(),
        properties(a=STRING),
        {"a": 1},
    ),
    Breaking(
        *("OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", "#/properties/a"),
        {**MODERN, **properties(), "unevaluatedProperties": True},
        {**MODERN, **properties(a=STRING)},
        {"a": 1},
    ),
    Breaking(
        *("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", "#/properties/a"),
        closed(a=STRING),
        closed(),
        {"a": "x"},
    ),
    Breaking(
        *("PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "#/properties/a"),
        closed(a=STRING),
        partial(NUMBER),
        {"a": "x"},
    ),
    Breaking(
        *("PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "#/properties/a"),
        partial(NUMBER),
        partial(NUMBER, a=STRING),
        {"a": 1},
    ),
    Breaking(
        *("PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "#/properties/S_1"),
        {**closed(), "patternProperties": {"^S_": NUMBER}},
        {**closed(S_1=STRING), "patternProperties": {"^S_": NUMBER}},
        {"S_1": 1},
    ),
    Breaking(
        "ADDITIONAL_PROPERTIES_REMOVED", "#/additionalProperties", properties(), closed(), {"a": 1}
    ),
    Breaking(
        *("ADDITIONAL_PROPERTIES_NARROWED", "#/additionalProperties"),
        properties(),
        partial(STRING),
        {"a": 1},
    ),
    Breaking(
        *("ADDITIONAL_PROPERTIES_NARROWED", "#/patternProperties/^S_"),
        {**closed(), "patternProperties": {"^S_": STRING}},
        closed(),
        {"S_1": "x"},
    ),
    Breaking(
        *("UNEVALUATED_PROPERTIES_REMOVED", "#/unevaluatedProperties"),
        {**MODERN, **properties()},
        {**MODERN, **properties(), "unevaluatedProperties": False},
        {"a": 1},
    ),
    Breaking(
        *("UNEVALUATED_PROPERTIES_NARROWED", "#/unevaluatedProperties"),
        {**MODERN, **properties()},
        {**MODERN, **properties(), "unevaluatedProperties": STRING},
        {"a": 1},
    ),
    Breaking(
        *("COMBINED_TYPE_SUBSCHEMAS_CHANGED", "#/"),
        {**MODERN, "allOf": [properties(a=NUMBER)], "unevaluatedProperties": False},
        {
            **MODERN,
            "allOf": [properties(a=NUMBER)],
            "properties": {"a": STRING},
            "unevaluatedProperties": False,
        },
        {"a": 1},
    ),
    Breaking(
        *("SCHEMA_ADDED", "#/patternProperties/^S_"),
        partial(NUMBER),
        {**partial(NUMBER), "patternProperties": {"^S_": STRING}},
        {"S_1": 1},
    ),
    Breaking(
        *("SCHEMA_ADDED", "#/patternProperties/_1$"),
        {**closed(), "patternProperties": {"^S_": NUMBER}},
        {**closed(), "patternProperties": {"^S_": NUMBER, "_1$": STRING}},
        {"S_1": 1},
    ),
    Breaking(
        *("SCHEMA_ADDED", "#/propertyNames"),
        properties(),
        {**properties(), "propertyNames": {"maxLength": 1}},
        {"aa": 1},
    ),
    Breaking(
        *("DEPENDENCY_ARRAY_ADDED", "#/dependencies/a"),
        properties(),
        {**properties(), "dependencies": {"a": ["b"]}},
        {"a": 1},
    ),
    Breaking(
        *("DEPENDENCY_ARRAY_EXTENDED", "#/dependencies/a"),
        {**MODERN, **properties(), "dependentRequired": {"a": ["b"]}},
        {**MODERN, **properties(), "dependentRequired": {"a": ["b", "c"]}},
        {"a": 1, "b": 1},
    ),
    Breaking(
        *("DEPENDENCY_ARRAY_CHANGED", "#/dependencies/a"),
        {**properties(), "dependencies": {"a": ["b"]}},
        {**properties(), "dependencies": {"a": ["c"]}},
        {"a": 1, "b": 1},
    ),
    Breaking(
        *("DEPENDENCY_SCHEMA_ADDED", "#/dependencies/a"),
        properties(),
        {**properties(), "dependencies": {"a": {"maxProperties": 1}}},
        {"a": 1, "b": 1},
    ),
    Breaking("SCHEMA_ADDED", "#/items", {"type": "array"}, {"type": "array", "items": STRING}, [1]),
    Breaking(
        "SCHEMA_ADDED", "#/contains", {"type": "array"}, {"type": "array", "contains": {}}, []
    ),
    Breaking(
        *("MIN_CONTAINS_INCREASED", "#/minContains"),
        {**MODERN, "type": "array", "contains": STRING},
        {**MODERN, "type": "array", "contains": STRING, "minContains": 2},
        ["a"],
    ),
    Breaking(
        *("MIN_CONTAINS_INCREASED", "#/minContains"),
        {**MODERN, "type": "array", "contains": STRING, "minContains": 0},
        {**MODERN, "type": "array", "contains": STRING},
        [],
    ),
    Breaking(
        *("MAX_CONTAINS_ADDED", "#/maxContains"),
        {**MODERN, "type": "array", "contains": STRING},
        {**MODERN, "type": "array", "contains": STRING, "maxContains": 1},
        ["a", "b"],
    ),
    Breaking(
        *("TYPE_NARROWED", "#/contains"),
        {**MODERN, "type": "array", "contains": INTEGER, "maxContains": 1},
        {**MODERN, "type": "array", "contains": NUMBER, "maxContains": 1},
        [1, 1.5],
    ),
    Breaking(
        *("UNIQUE_ITEMS_ADDED", "#/uniqueItems"),
        {"type": "array"},
        {"type": "array", "uniqueItems": True},
        [1, 1],
    ),
    Breaking(
        "ITEM_ADDED_TO_OPEN_CONTENT_MODEL", "#/items/1", items(True), items(True, STRING), [1, 1]
    ),
    Breaking(
        *("ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "#/items/1"),
        items(True, rest=NUMBER),
        items(True, STRING, rest=NUMBER),
        [1, 1],
    ),
    Breaking(
        *("ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL", "#/items/1"),
        items(True, STRING, rest=False),
        items(True, rest=False),
        [1, "a"],
    ),
    Breaking(
        *("ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "#/items/1"),
        items(True, STRING, rest=NUMBER),
        items(True, rest=NUMBER),
        [1, "a"],
    ),
    Breaking(
        *("ADDITIONAL_ITEMS_REMOVED", "#/additionalItems"),
        items(True),
        items(True, rest=False),
        [1, 1],
    ),
    Breaking(
        *("ADDITIONAL_ITEMS_REMOVED", "#/additionalItems"),
        {**MODERN, "prefixItems": [True]},
        {**MODERN, "prefixItems": [True], "items": False},
        [1, 1],
    ),
    Breaking(
        *("ADDITIONAL_ITEMS_NARROWED", "#/additionalItems"),
        {"type": "array", "additionalItems": STRING},
        items(True, rest=STRING),
        [1, 1],
    ),
    Breaking(
        *("COMBINED_TYPE_CHANGED", "#/"),
        {"anyOf": [STRING, NUMBER]},
        {"oneOf": [{"maxLength": 5}, {"maximum": 5}]},
        "a",
    ),
    Breaking(
        *("ADDITIONAL_ITEMS_NARROWED", "#/additionalItems"),
        items(True),
        items(True, rest=STRING),
        [1, 1],
    ),
    Breaking(
        *("UNEVALUATED_ITEMS_REMOVED", "#/unevaluatedItems"),
        {**MODERN, "prefixItems": [True]},
        {**MODERN, "prefixItems": [True], "unevaluatedItems": False},
        [1, 1],
    ),
    Breaking("NOT_TYPE_EXTENDED", "#/not", {"not": INTEGER}, {"not": NUMBER}, 1.5),
    Breaking("SUM_TYPE_NARROWED", "#/", {"anyOf": [STRING, NUMBER]}, {"anyOf": [STRING]}, 1),
    Breaking(
        *("PRODUCT_TYPE_EXTENDED", "#/"),
        {"allOf": [STRING]},
        {"allOf": [STRING, {"enum": ["a"]}]},
        "b",
    ),
    Breaking(
        *("COMBINED_TYPE_CHANGED", "#/"),
        {"anyOf": [STRING, INTEGER]},
        {"allOf": [STRING, INTEGER]},
        "a",
    ),
    Breaking(
        *("COMBINED_TYPE_SUBSCHEMAS_CHANGED", "#/"),
        {"anyOf": [STRING, NUMBER]},
        {"anyOf": [STRING, {"type": "null"}]},
        1,
    ),
    Breaking(
        *("COMBINED_TYPE_SUBSCHEMAS_CHANGED", "#/if"),
        {"if": STRING, "then": {"const": "a"}},
        {"if": NUMBER, "then": {"const": "a"}},
        1,
    ),
    Breaking(
        *("COMBINED_TYPE_SUBSCHEMAS_CHANGED", "#/if"),
        {"if": INTEGER, "then": {"minimum": 1}},
        {"if": NUMBER, "then": {"minimum": 1}},
        0.5,
    ),
    Breaking(
        *("MINIMUM_INCREASED", "#/then/minimum"),
        {"if": INTEGER, "then": {"minimum": 0}},
        {"if": INTEGER, "then": {"minimum": 1}},
        0,
    ),
]
