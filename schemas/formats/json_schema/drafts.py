"""The drafts of JSON Schema: which one a schema follows and what its metaschema says of it."""

from collections.abc import Iterator
from enum import Enum
from functools import cache

import jsonschema_rs

from ..contract import InvalidSchema
from .text import Json


class Draft(Enum):
    """One draft, by the address that ``$schema`` gives."""

    DRAFT_4 = "http://json-schema.org/draft-04/schema"
    DRAFT_6 = "http://json-schema.org/draft-06/schema"
    DRAFT_7 = "http://json-schema.org/draft-07/schema"
    DRAFT_2019_09 = "https://json-schema.org/draft/2019-09/schema"
    DRAFT_2020_12 = "https://json-schema.org/draft/2020-12/schema"

    @property
    def id_keyword(self) -> str:
        """What names a schema: draft 4 has no dollar."""
        return "id" if self is Draft.DRAFT_4 else "$id"

    @property
    def is_modern(self) -> bool:
        """From 2019-09 on: keywords beside ``$ref`` count, ``dependencies`` is split in two."""
        return self in {Draft.DRAFT_2019_09, Draft.DRAFT_2020_12}


def draft_of(schema: Json, *, default: Draft = Draft.DRAFT_7) -> Draft:
    """The draft that ``$schema`` names; *default* without one or with one that nobody knows.

    Confluent's registry takes draft 7 then.
    """
    named = schema.get("$schema") if isinstance(schema, dict) else None
    if not isinstance(named, str):
        return default
    address = named.removesuffix("#").partition("://")[2]
    return next((d for d in Draft if d.value.partition("://")[2] == address), default)


def check_against_metaschema(schema: object, draft: Draft) -> None:
    """Raises InvalidSchema with the deepest place where *schema*, as plain values, breaks *draft*.

    Regular expressions are not looked at: a new schema is compiled, which tells more.
    """
    found = sorted(_complaints(schema, draft), key=lambda complaint: -len(complaint[0]))
    if found:
        path, message = found[0]
        place = "/".join(["#", *(str(part) for part in path)]) if path else "#/"
        raise InvalidSchema(message, place=place)


def validator_class(draft: Draft) -> type["jsonschema_rs.Validator"]:
    """The class that compiles schemas of *draft*."""
    return {
        Draft.DRAFT_4: jsonschema_rs.Draft4Validator,
        Draft.DRAFT_6: jsonschema_rs.Draft6Validator,
        Draft.DRAFT_7: jsonschema_rs.Draft7Validator,
        Draft.DRAFT_2019_09: jsonschema_rs.Draft201909Validator,
        Draft.DRAFT_2020_12: jsonschema_rs.Draft202012Validator,
    }[draft]


def draft_number(draft: Draft) -> int:
    """The library's number of *draft*."""
    return {
        Draft.DRAFT_4: jsonschema_rs.Draft4,
        Draft.DRAFT_6: jsonschema_rs.Draft6,
        Draft.DRAFT_7: jsonschema_rs.Draft7,
        Draft.DRAFT_2019_09: jsonschema_rs.Draft201909,
        Draft.DRAFT_2020_12: jsonschema_rs.Draft202012,
    }[draft]


def _complaints(schema: object, draft: Draft) -> Iterator[tuple[list[str | int], str]]:
    todo = [*_metaschema(draft).iter_errors(schema)]
    for error in todo:  # grows by what lies behind
        yield error.instance_path, error.message
        if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.AnyOf):
            # "a schema or a list of schemas": what each of the two complains of says more.
            todo += (inside for branch in error.kind.context for inside in branch)


@cache
def _metaschema(draft: Draft) -> "jsonschema_rs.Validator":
    reference = draft.value if draft.is_modern else draft.value + "#"
    return validator_class(draft)({"$ref": reference}, validate_formats=False, offline=True)
