"""The changes that break readers: Confluent's constant, its sentence and our way out for each.

Changes that break nobody (``MAX_LENGTH_INCREASED`` …) have no place here.
"""

from dataclasses import dataclass
from typing import Final

from ..contract import READER, WRITER, Incompatibility

_ADDED: Final = (
    f"The keyword at path '{{path}}' in the {READER} schema is not present in the {WRITER} schema"
)
_INCREASED: Final = (
    f"The value at path '{{path}}' in the {READER} schema is more than its value in the "
    f"{WRITER} schema"
)
_DECREASED: Final = (
    f"The value at path '{{path}}' in the {READER} schema is less than its value in the "
    f"{WRITER} schema"
)
_VALUE_CHANGED: Final = (
    f"The value at path '{{path}}' is different between the {READER} and {WRITER} schema"
)
_FEWER: Final = (
    f"An array or combined type at path '{{path}}' has fewer elements in the {READER} schema than "
    f"the {WRITER} schema"
)
_MORE: Final = (
    f"An array or combined type at path '{{path}}' has more elements in the {READER} schema than "
    f"the {WRITER} schema"
)
_TYPE_CHANGED: Final = (
    f"A type at path '{{path}}' is different between the {READER} schema and the {WRITER} schema"
)
_ADDED_TO_OPEN: Final = (
    f"The {READER} schema has an open content model and has a property or item at path '{{path}}' "
    f"which is missing in the {WRITER} schema"
)
_ADDED_TO_UNOPEN: Final = (
    f"The {READER} schema has an unopen content model and has a required property at path "
    f"'{{path}}' which is missing in the {WRITER} schema"
)
_REMOVED_FROM_CLOSED: Final = (
    f"The {READER} schema has a closed content model and is missing a property or item present at "
    f"path '{{path}}' in the {WRITER} schema"
)
_REMOVED_NOT_COVERED: Final = (
    f"A property or item is missing in the {READER} schema but present at path '{{path}}' in the "
    f"{WRITER} schema and is not covered by its partially open content model"
)
_ADDED_NOT_COVERED: Final = (
    f"The {READER} schema has a property or item at path '{{path}}' which is missing in the "
    f"{WRITER} schema and is not covered by its partially open content model"
)
_UNTOLD: Final = ""
"""Confluent's registry has no sentence for these."""

_KEEP_TYPE: Final = "keep the type, or offer the new one beside it in an anyOf"
_KEEP_BRANCHES: Final = "keep every old branch and only widen or append"
_CLOSE_WRITER: Final = (
    "first forbid unknown members (additionalProperties false), or leave the new one without a "
    "schema, or use the LENIENT compatibility policy"
)
_KEEP_OPEN: Final = "keep allowing what the old schema allowed"

_TOLD: Final[dict[str, tuple[str, str]]] = {
    "SCHEMA_ADDED": (_UNTOLD, "leave the new constraint out, or add it on a new subject"),
    "TYPE_CHANGED": (_TYPE_CHANGED, _KEEP_TYPE),
    "TYPE_NARROWED": (_TYPE_CHANGED, "keep the wider type"),
    "PATTERN_ADDED": (_ADDED, "leave the pattern out"),
    "PATTERN_CHANGED": (_VALUE_CHANGED, "keep the pattern or remove it"),
    "MULTIPLE_OF_ADDED": (_ADDED, "leave multipleOf out"),
    "MULTIPLE_OF_EXPANDED": (_INCREASED, "use a divisor of the old multipleOf"),
    "MULTIPLE_OF_CHANGED": (_VALUE_CHANGED, "use a divisor of the old multipleOf"),
    "UNIQUE_ITEMS_ADDED": (_ADDED, "leave uniqueItems out"),
    "REQUIRED_ATTRIBUTE_ADDED": (_ADDED, "keep it optional or give it a default"),
    "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL": (
        _ADDED_TO_UNOPEN,
        "add it as optional or give it a default",
    ),
    "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": (_ADDED_TO_OPEN, _CLOSE_WRITER),
    "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL": (_ADDED_TO_OPEN, _CLOSE_WRITER),
    "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": (_ADDED_TO_OPEN, _CLOSE_WRITER),
    "ITEM_ADDED_TO_OPEN_CONTENT_MODEL": (
        _ADDED_TO_OPEN,
        "first forbid further items (additionalItems false), or leave the new one without a schema",
    ),
    "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL": (_REMOVED_FROM_CLOSED, "keep the property"),
    "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL": (_REMOVED_FROM_CLOSED, "keep the item"),
    "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        _REMOVED_NOT_COVERED,
        "keep the property, or widen what unknown members may be",
    ),
    "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        _REMOVED_NOT_COVERED,
        "keep the item, or widen what further items may be",
    ),
    "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        _ADDED_NOT_COVERED,
        "let the property accept all that unknown members could be",
    ),
    "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        _ADDED_NOT_COVERED,
        "let the item accept all that further items could be",
    ),
    **{
        f"{what}_{how}": told
        for what in (
            "ADDITIONAL_PROPERTIES",
            "UNEVALUATED_PROPERTIES",
            "ADDITIONAL_ITEMS",
            "UNEVALUATED_ITEMS",
        )
        for how, told in (("REMOVED", (_ADDED, _KEEP_OPEN)), ("NARROWED", (_FEWER, _KEEP_OPEN)))
    },
    **{
        f"{what}_{how}": told
        for what in (
            *("MAX_LENGTH", "MAXIMUM", "EXCLUSIVE_MAXIMUM"),
            *("MAX_PROPERTIES", "MAX_ITEMS", "MAX_CONTAINS"),
        )
        for how, told in (
            ("ADDED", (_ADDED, "leave the bound out")),
            ("DECREASED", (_DECREASED, "keep the bound or raise it")),
        )
    },
    **{
        f"{what}_{how}": told
        for what in (
            *("MIN_LENGTH", "MINIMUM", "EXCLUSIVE_MINIMUM"),
            *("MIN_PROPERTIES", "MIN_ITEMS", "MIN_CONTAINS"),
        )
        for how, told in (
            ("ADDED", (_ADDED, "leave the bound out")),
            ("INCREASED", (_INCREASED, "keep the bound or lower it")),
        )
    },
    "DEPENDENCY_ARRAY_ADDED": (_ADDED, "leave the dependency out"),
    "DEPENDENCY_ARRAY_EXTENDED": (_MORE, "keep what the member already needed, or less"),
    "DEPENDENCY_ARRAY_CHANGED": (_VALUE_CHANGED, "keep what the member already needed, or less"),
    "DEPENDENCY_SCHEMA_ADDED": (_ADDED, "leave the dependency out"),
    "ENUM_ARRAY_NARROWED": (_FEWER, "keep the old values"),
    "ENUM_ARRAY_CHANGED": (_TYPE_CHANGED, "keep the old values and only add new ones"),
    "COMBINED_TYPE_CHANGED": (_TYPE_CHANGED, "keep the kind of combination, or make it an anyOf"),
    "COMBINED_TYPE_SUBSCHEMAS_CHANGED": (_TYPE_CHANGED, _KEEP_BRANCHES),
    "PRODUCT_TYPE_EXTENDED": (_MORE, "leave the new branch of the allOf out"),
    "SUM_TYPE_NARROWED": (_FEWER, _KEEP_BRANCHES),
    "NOT_TYPE_EXTENDED": (_MORE, "forbid what was forbidden, or less"),
}

TOLERATED_BY_LENIENT: Final = frozenset(
    {
        "ADDITIONAL_PROPERTIES_NARROWED",
        "ADDITIONAL_PROPERTIES_REMOVED",
        "UNEVALUATED_PROPERTIES_NARROWED",
        "UNEVALUATED_PROPERTIES_REMOVED",
        "ADDITIONAL_ITEMS_NARROWED",
        "ADDITIONAL_ITEMS_REMOVED",
        "UNEVALUATED_ITEMS_NARROWED",
        "UNEVALUATED_ITEMS_REMOVED",
        "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
        "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL",
        "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
        "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    }
)
"""What the LENIENT policy lets pass: members that neither side promised anything about."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change that breaks readers, at a path below the pair of schemas that it was found in."""

    kind: str
    path: tuple[str, ...] = ()

    def told(self, above: tuple[str, ...]) -> Incompatibility:
        """The change as the registry reports it, *above* being the way to the pair."""
        path = "#/" + "/".join((*above, *self.path))
        sentence, hint = _TOLD[self.kind]
        # Confluent prints the whole difference, and closes a double quote with a single one.
        message = f'{{errorType:"{self.kind}", description:"{sentence.replace("{path}", path)}\'}}'
        return Incompatibility(kind=self.kind, path=path, message=message, hint=hint)
