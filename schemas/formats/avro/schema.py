"""Avro behind the contract of formats: what ``?format=`` and ``normalize`` make of a schema."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...model import SchemaFormat
from ..contract import Incompatibility, InvalidSchema, ParsedSchema
from .canonical import canonical_text
from .compatibility import incompatibilities
from .model import Definition, Model, Named, Record
from .normalize import normalized_model
from .parse import parse


@dataclass(frozen=True, slots=True)
class AvroSchema:
    """One schema; *known* are the full names that its references define at their root.

    Those, and only those, its canonical text does not write out, as Confluent's does not.
    """

    model: Model
    known: tuple[str, ...]
    canonical: str
    resolved: str
    """With every type of its references in place: what readers and writers of data need."""

    @property
    def format(self) -> SchemaFormat:
        """AVRO."""
        return SchemaFormat.AVRO

    @property
    def name(self) -> str | None:
        """The full name of a record; nothing else has one here, as in Confluent's registry."""
        root = self.model.root
        is_record = isinstance(root, Named) and isinstance(
            self.model.definitions[root.name.full], Record
        )
        return root.name.full if is_record and isinstance(root, Named) else None

    def normalized(self) -> "AvroSchema":
        """Attributes, properties and aliases in order."""
        return _schema(normalized_model(self.model), self.known)

    def rendered(self, format: str) -> str:  # noqa: A002 - the query parameter's name
        """The canonical text; with references put in place when *format* is "resolved"."""
        return self.resolved if format == "resolved" else self.canonical


class AvroFormat:
    """The format AVRO."""

    def parse(
        self, text: str, references: Mapping[str, str], *, is_new: bool = False
    ) -> AvroSchema:
        """*text* with the named types of *references*; new schemas must have defaults that fit.

        Raises InvalidSchema.
        """
        types: dict[str, Definition] = {}
        known: list[str] = []
        for name, reference in references.items():
            try:
                model = parse(reference, types)
            except InvalidSchema as error:
                raise InvalidSchema(f'reference "{name}": {error}') from error
            types.update(model.definitions)
            if isinstance(model.root, Named):
                known.append(model.root.name.full)
        return _schema(parse(text, types, is_new=is_new), tuple(known))

    def incompatibilities(
        self,
        *,
        reader: ParsedSchema,
        writer: ParsedSchema,
        lenient: bool = False,  # noqa: ARG002 - the contract's; JSON Schema alone knows it
    ) -> list[Incompatibility]:
        """Why data of *writer* cannot be read by *reader*, in Java's order; empty when it can.

        *lenient* means nothing to Avro.
        """
        assert isinstance(reader, AvroSchema)
        assert isinstance(writer, AvroSchema)
        return incompatibilities(reader=reader.model, writer=writer.model)


def _schema(model: Model, known: tuple[str, ...]) -> AvroSchema:
    canonical = canonical_text(model, known)
    resolved = canonical_text(model) if known else canonical
    try:
        resolved.encode()
        canonical.encode()
    except UnicodeEncodeError as error:
        raise InvalidSchema("a string has half of a surrogate pair, which is no text") from error
    return AvroSchema(model, known, canonical, resolved)
