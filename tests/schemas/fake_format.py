"""A format of schemas that a child could write: a list of field names.

"a b? @ref" is a schema with field a, optional field b and all fields of the schema that it calls
ref. A reader needs every field that it does not mark "?". "old!" is refused in new schemas, and
"bad!" always.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.schemas.formats.contract import Incompatibility, InvalidSchema, ParsedSchema
from headwater.schemas.model import SchemaFormat
from headwater.schemas.parsing import SchemaParser


@dataclass(frozen=True)
class FieldList:
    format: SchemaFormat
    fields: tuple[str, ...]
    """As written, references by name."""
    inlined: tuple[str, ...]

    @property
    def canonical(self) -> str:
        return " ".join(self.fields)

    def normalized(self) -> "FieldList":
        return FieldList(self.format, tuple(sorted(self.fields)), tuple(sorted(self.inlined)))

    @property
    def name(self) -> str | None:
        return self.fields[0] if self.fields else None

    def rendered(self, format: str) -> str:  # noqa: A002 - as the contract has it
        return " ".join(self.inlined) if format == "resolved" else self.canonical


class FakeFormat:
    """Counts what it parses, so that tests see caches work."""

    def __init__(self, format: SchemaFormat = SchemaFormat.AVRO) -> None:  # noqa: A002 - what it is
        self._format = format
        self.parsed_count = 0

    def parse(self, text: str, references: Mapping[str, str], *, is_new: bool = False) -> FieldList:
        self.parsed_count += 1
        fields = tuple(text.split())
        if "bad!" in fields or (is_new and "old!" in fields):
            raise InvalidSchema("a field is bad", place="its end")
        return FieldList(self._format, fields, tuple(self._inlined(fields, references)))

    def incompatibilities(
        self, *, reader: ParsedSchema, writer: ParsedSchema, lenient: bool = False
    ) -> list[Incompatibility]:
        assert isinstance(reader, FieldList)
        assert isinstance(writer, FieldList)
        assert reader.format is writer.format
        written = {field.rstrip("?") for field in writer.inlined}
        return [
            Incompatibility(
                kind="FIELD_MISSING",
                path=f"/{index}",
                message=f"field '{field}' of the {{reader}} schema is not in the {{writer}} schema",
                hint=f"mark '{field}' optional",
            )
            for index, field in enumerate(reader.inlined)
            if not lenient and not field.endswith("?") and field not in written
        ]

    def _inlined(self, fields: tuple[str, ...], references: Mapping[str, str]) -> list[str]:
        inlined: list[str] = []
        for field in fields:
            if field.startswith("@"):
                inlined += self._inlined(tuple(references[field[1:]].split()), references)
            else:
                inlined.append(field)
        return inlined


def fake_parser(**limits: int) -> SchemaParser:
    return SchemaParser({name: FakeFormat(name) for name in SchemaFormat}, **limits)
