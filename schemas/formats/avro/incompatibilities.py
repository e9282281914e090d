"""The reasons why a reader cannot read: Java's words for them, Confluent's sentence, our hint.

Sources: ``SchemaCompatibility`` of Java's library, ``Difference`` of Confluent's client.
"""

from collections.abc import Sequence
from typing import Final

from ..contract import READER, WRITER, Incompatibility
from .model import Record

LIMIT_REACHED: Final = "LIMIT_REACHED"
"""Ours: the comparison was too large to finish, or to tell in full."""
AMBIGUOUS_FIELD: Final = "AMBIGUOUS_FIELD"
"""Ours: Java's library throws, and Confluent's registry prints what it threw."""


def fixed_size_mismatch(path: str, reader_bytes: int, writer_bytes: int) -> Incompatibility:
    """A fixed of another size."""
    return _reason(
        "FIXED_SIZE_MISMATCH",
        path,
        f"The size of FIXED type field at path '{path}' in the {READER} schema does not match "
        f"with the {WRITER} schema",
        f"expected: {writer_bytes}, found: {reader_bytes}",
        f"keep the size of {writer_bytes} bytes, or add a new type beside this one in a union",
    )


def type_mismatch(path: str, reader_kind: str, writer_kind: str) -> Incompatibility:
    """Types of which the first does not read the second; both in capitals."""
    return _reason(
        "TYPE_MISMATCH",
        path,
        f"The type (path '{path}') of a field in the {READER} schema does not match with the "
        f"{WRITER} schema",
        f"reader type: {reader_kind} not compatible with writer type: {writer_kind}",
        f"keep the type {writer_kind.lower()}, or make it a union that has it as a branch",
    )


def name_mismatch(path: str, reader_name: str, writer_name: str) -> Incompatibility:
    """Named types that are not called the same."""
    return _reason(
        "NAME_MISMATCH",
        path,
        f"The name of the schema has changed (path '{path}')",
        f"expected: {writer_name}",
        f"give '{reader_name}' the alias '{writer_name}'",
    )


def missing_enum_symbols(path: str, reader_name: str, symbols: Sequence[str]) -> Incompatibility:
    """Symbols that the writer may use and the reader does not have."""
    listed = f"[{', '.join(symbols)}]"
    return _reason(
        "MISSING_ENUM_SYMBOLS",
        path,
        f"The {READER} schema is missing enum symbols '{listed}' at path '{path}' in the "
        f"{WRITER} schema",
        listed,
        f"keep the symbols, or give enum '{reader_name}' a default",
    )


def missing_union_branch(path: str, writer_kind: str) -> Incompatibility:
    """A union that has no branch for the writer's type."""
    return _reason(
        "MISSING_UNION_BRANCH",
        path,
        f"The {READER} schema is missing a type inside a union field at path '{path}' in the "
        f"{WRITER} schema",
        f"reader union lacking writer type: {writer_kind}",
        f"add a branch to the union that reads {writer_kind.lower()}",
    )


def missing_default(path: str, field: str) -> Incompatibility:
    """A field that the writer does not have and nothing fills."""
    return _reason(
        "READER_FIELD_MISSING_DEFAULT_VALUE",
        path,
        f"The field '{field}' at path '{path}' in the {READER} schema has no default value and "
        f"is missing in the {WRITER} schema",
        field,
        f"give field '{field}' a default, or the alias of the field that it was",
    )


def ambiguous_field(
    path: str, field: str, writer: Record, sources: Sequence[str]
) -> Incompatibility:
    """A field that by its name and its aliases is several of the writer's."""
    return Incompatibility(
        kind=AMBIGUOUS_FIELD,
        path=path,
        message=(
            f"Unexpected exception during compatibility check: Reader record field {field} "
            f"matches multiple fields in writer record schema {writer.name.full}"
        ),
        hint=f"keep only one of {', '.join(sources)} among the name and aliases of '{field}'",
    )


def bound_reached(bound: str) -> Incompatibility:
    """Not compared to the end, or not told to the end."""
    return _reason(
        LIMIT_REACHED,
        "/",
        f"Comparing the {READER} schema with the {WRITER} schema ended early",
        bound,
        "use fewer types that contain each other, or smaller unions",
    )


def _reason(kind: str, path: str, description: str, info: str, hint: str) -> Incompatibility:
    message = f"{{errorType:'{kind}', description:'{description}', additionalInfo:'{info}'}}"
    return Incompatibility(kind=kind, path=path, message=message, hint=hint)
