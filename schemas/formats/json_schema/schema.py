"""One JSON Schema, understood: its stored text, its normal form, its name, its shape."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ...model import SchemaFormat
from ..contract import Incompatibility, InvalidSchema, ParsedSchema
from .comparison import Comparison
from .drafts import check_against_metaschema, draft_of
from .resources import Resources
from .rules import findings
from .shapes import Criterion, Shape
from .shaping import Shaper
from .text import Json, children, decode, encode
from .validation import compiled, plain

REFERENCES_MAX: Final = 1_000
"""Documents that one schema may need."""
BRANCHES_MAX: Final = 300
"""Branches of one ``allOf``, ``anyOf`` or ``oneOf``; each is compared with each."""


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """A schema and the documents that it refers to. Equal texts and references are equal."""

    canonical: str
    """Compact, keys and numbers as they were given."""
    references: Mapping[str, str] = field(hash=False)
    """Canonical texts by the names that ``$ref``s use."""
    value: Json = field(compare=False, repr=False)

    @property
    def format(self) -> SchemaFormat:
        """JSON."""
        return SchemaFormat.JSON

    @property
    def name(self) -> str | None:
        """The ``title``, which subject name strategies take for the record's name."""
        title = self.value.get("title") if isinstance(self.value, dict) else None
        return title if isinstance(title, str) else None

    def normalized(self) -> "JsonSchema":
        """The same schema with the keys of every object sorted as Java sorts strings."""
        text = encode(self.value, sorted_keys=True)
        return JsonSchema(text, self.references, decode(text))

    def rendered(self, format: str) -> str:  # noqa: A002 - the query parameter's name
        """The canonical text: JSON Schema knows no other form."""
        del format
        return self.canonical

    def shape(self) -> Shape:
        """What the schema says, for a comparison."""
        return self.shaper().root()

    def shaper(self) -> Shaper:
        """What makes shapes of the schema and of all that it refers to."""
        documents = {name: decode(text) for name, text in self.references.items()}
        return Shaper(Resources(self.value, documents))


@dataclass(frozen=True, slots=True)
class JsonSchemaFormat:
    """The Format of JSON Schemas, drafts 4 to 2020-12."""

    def parse(
        self, text: str, references: Mapping[str, str], *, is_new: bool = False
    ) -> JsonSchema:
        """*text* understood.

        A new schema must also give each key once, fit its metaschema, find all that it refers to,
        compile, and not name a top-level property ``$$…``, which Confluent keeps for itself.
        Raises InvalidSchema.
        """
        value = decode(text, keys_once=is_new)
        if not isinstance(value, (dict, bool)):
            raise InvalidSchema("a JSON Schema is an object, true or false", place="#/")
        if len(references) > REFERENCES_MAX:
            raise InvalidSchema(f"more than {REFERENCES_MAX} references")
        _check_branches(value)
        schema = JsonSchema(encode(value), dict(references), value)
        if is_new:
            _check_new(schema)
        return schema

    def incompatibilities(
        self, *, reader: ParsedSchema, writer: ParsedSchema, lenient: bool = False
    ) -> list[Incompatibility]:
        """Why *reader* may refuse what *writer* allows; empty when it does not."""
        assert isinstance(reader, JsonSchema)
        assert isinstance(writer, JsonSchema)
        comparison = Comparison(findings, is_lenient=lenient)
        return comparison.incompatibilities(writer.shape(), reader.shape())


def _check_new(schema: JsonSchema) -> None:
    check_against_metaschema(plain(schema.canonical), draft_of(schema.value))
    properties = schema.value.get("properties") if isinstance(schema.value, dict) else None
    if isinstance(properties, dict):
        for name in properties:
            if name.startswith("$$"):
                raise InvalidSchema(
                    "Field names cannot start with $$ prefix", place=f"#/properties/{name}"
                )
    for reference in schema.shaper().unresolved():
        raise InvalidSchema(
            f"the reference '{reference}' leads nowhere; nothing is fetched: register what it "
            "means and name it among the references"
        )
    compiled(schema.canonical, schema.references)


def _check_branches(value: Json) -> None:
    todo: list[Json] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            for criterion in Criterion:
                branches = item.get(criterion)
                if isinstance(branches, list) and len(branches) > BRANCHES_MAX:
                    raise InvalidSchema(f"more than {BRANCHES_MAX} branches in one {criterion}")
        todo.extend(children(item))
