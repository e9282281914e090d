"""What a format of schemas does for the registry, the serializers and the commands.

A format parses text to a ``ParsedSchema`` and compares two of them. Everything here is pure and
bounded: text comes from strangers, so too deep, too large or too entangled schemas are
``InvalidSchema``, never a ``RecursionError`` and never minutes of work.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from ..model import SchemaFormat

READER: Final = "{reader}"
WRITER: Final = "{writer}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Incompatibility:
    """One reason why a reader cannot read what a writer wrote."""

    kind: str
    """The registry's own constant, as READER_FIELD_MISSING_DEFAULT_VALUE or TYPE_CHANGED."""
    path: str
    """Where: Avro's JSON pointer "/fields/2/type", JSON Schema's "#/properties/a", Protobuf's
    "#/Message/field number"."""
    message: str
    """The sentence that Confluent's registry prints for it.

    READER and WRITER stand in it where Confluent says which of the two is the new schema and which
    the old: "is missing in the {writer} schema". Only the caller knows; ``told`` puts it in.
    """
    hint: str
    """Ours: which change would be compatible ("give field 'a' a default")."""

    def told(self, *, reader: str, writer: str) -> str:
        """The message with both sides named, usually "new" and "old"."""
        return self.message.replace(READER, reader).replace(WRITER, writer)


class InvalidSchema(Exception):
    """The text is no schema of its format (error code 42201)."""

    def __init__(self, reason: str, *, place: str | None = None) -> None:
        super().__init__(reason if place is None else f"{reason} (at {place})")
        self.reason = reason
        self.place = place
        """Line and column or path, where the format knows it."""


class ParsedSchema(Protocol):
    """One schema, understood. Immutable; equal texts give interchangeable values."""

    @property
    def format(self) -> SchemaFormat:
        """The format that parsed it."""
        ...

    @property
    def canonical(self) -> str:
        """The text as it is stored: one spelling, meaning and order as given."""
        ...

    def normalized(self) -> "ParsedSchema":
        """The same schema in the order that ``normalize=true`` asks for; idempotent."""
        ...

    @property
    def name(self) -> str | None:
        """What subject name strategies call it.

        Avro's full name, Protobuf's package and first message, JSON Schema's title.
        """
        ...

    def rendered(self, format: str) -> str:  # noqa: A002 - the query parameter's name
        """The text as ``?format=`` asks for it; "" and words that mean nothing here: canonical.

        Avro knows "resolved"; Protobuf "serialized" and "ignore_extensions".
        """
        ...


class Format(Protocol):
    """One of the three; stateless, so that any thread may use it."""

    def parse(
        self, text: str, references: Mapping[str, str], *, is_new: bool = False
    ) -> ParsedSchema:
        """*text* understood, with the canonical texts that it needs by the names it uses for them.

        *references* holds everything needed, directly or not, each after what it needs itself.
        *is_new* is stricter (names, defaults): what is already stored must still load.
        Raises InvalidSchema.
        """
        ...

    def incompatibilities(
        self, *, reader: ParsedSchema, writer: ParsedSchema, lenient: bool = False
    ) -> list[Incompatibility]:
        """Why data of *writer* cannot be read by *reader*; empty when it can.

        *lenient* is the LENIENT ``compatibilityPolicy``, which JSON Schema alone knows. Both are
        of this format: our bug otherwise.
        """
        ...
