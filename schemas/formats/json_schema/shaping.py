"""From JSON to shapes: which keywords of which draft say what.

A keyword whose value makes no sense is passed over, because schemas that somebody stored long ago
must still load; new ones are held to their metaschema before they come here.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Final

from . import shapes
from .drafts import Draft
from .interning import Interner
from .resources import Place, Resource, Resources
from .shapes import ANYTHING, NOTHING, Anything, Combined, Criterion, Link, Nothing, Rest, Shape
from .text import Json, Numeral

_TEXT_BOUNDS: Final = ("maxLength", "minLength")
_NUMBER_BOUNDS: Final = ("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum")
_OBJECT_BOUNDS: Final = ("maxProperties", "minProperties")
_ARRAY_BOUNDS: Final = ("maxItems", "minItems")
_KEYWORDS_BY_TYPE: Final = {
    "string": {*_TEXT_BOUNDS, "pattern", "format"},
    "number": {*_NUMBER_BOUNDS, "multipleOf"},
    "object": {
        *_OBJECT_BOUNDS,
        "properties",
        "required",
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
        "propertyNames",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
    },
    "array": {
        *_ARRAY_BOUNDS,
        "items",
        "prefixItems",
        "additionalItems",
        "unevaluatedItems",
        "contains",
        "uniqueItems",
    },
}
"""What tells the type of values that a schema without ``type`` speaks of."""
_BESIDE_UNEVALUATED: Final = (
    *("allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef", "$recursiveRef"),
    "dependentSchemas",
)

Schema = dict[str, Json]


class Shaper:
    """Makes the shapes of one schema's documents, each once."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._interner = Interner()
        # By content: a union written out at twenty places is one shape, and is compared once.
        self._made: dict[tuple[Resource, int], Shape] = {}
        self._links: list[Link] = []

    def root(self) -> Shape:
        """The shape of the whole schema."""
        return self.shape(self._resources.root)

    def shape(self, place: Place) -> Shape:
        """The shape of the schema at *place*; the same one each time."""
        schema = place.schema
        if not isinstance(schema, dict):
            return NOTHING if schema is False else ANYTHING
        resource = self._resources.resource_of(schema, place.resource)
        key = (resource, self._interner.number(schema))
        if key not in self._made:
            self._made[key] = _Maker(self, schema, resource).make()
        return self._made[key]

    def different(self, branches: list[Json]) -> list[Json]:
        """*branches*, each once."""
        return [*{self._interner.number(branch): branch for branch in branches}.values()]

    def link(self, reference: str, resource: Resource) -> Link:
        """A link to where *reference* leads."""
        target = self._resources.find(reference, resource)
        follow = None if target is None else partial(self.shape, target)
        self._links.append(made := Link(reference=reference, follow=follow))
        return made

    def unresolved(self) -> Iterator[str]:
        """The references, in the schema or in what it refers to, that lead nowhere."""
        self.root()
        for link in self._links:  # grows as they are followed
            if link.follow is None:
                yield link.reference
            else:
                link.follow()


class _Maker:
    """One object of JSON on its way to a shape."""

    def __init__(self, shaper: Shaper, schema: Schema, resource: Resource) -> None:
        self._shaper = shaper
        self._schema = schema
        self._resource = resource
        self._draft = resource.draft

    def make(self) -> Shape:
        reference = self._schema.get("$ref")
        if isinstance(reference, str) and not self._draft.is_modern:
            # Nothing beside it counts for a value; a default still does for who may omit it.
            return self._described(self._shaper.link(reference, self._resource))
        parts = [*self._links(), *self._enumerations(), *self._combinations(), *self._typed()]
        match parts:
            case []:
                return self._described(ANYTHING)
            case [only]:
                return self._described(only)
            case _:
                return self._described(Combined(criterion=Criterion.ALL, branches=tuple(parts)))

    def _described(self, shape: Shape) -> Shape:
        """*shape* with what the schema says whatever its kind."""
        has_default = "default" in self._schema
        is_bytes = self._schema.get("connect.type") == "bytes"
        if not (has_default or is_bytes):
            return shape
        return replace(shape, has_default=has_default, is_connect_bytes=is_bytes)

    def _links(self) -> list[Shape]:
        found: list[Shape] = []
        for keyword in ("$ref", "$recursiveRef", "$dynamicRef"):
            reference = self._schema.get(keyword)
            if isinstance(reference, str) and self._draft.is_modern:
                found.append(self._shaper.link(reference, self._resource))
        return found

    def _enumerations(self) -> list[Shape]:
        found: list[Shape] = []
        values = self._schema.get("enum")
        if isinstance(values, list):
            frozen = frozenset(_frozen(value) for value in values)
            found.append(shapes.Enumeration(keyword="enum", values=frozen))
        if "const" in self._schema and self._draft is not Draft.DRAFT_4:
            only = frozenset({_frozen(self._schema["const"])})
            found.append(shapes.Enumeration(keyword="const", values=only))
        return found

    def _combinations(self) -> list[Shape]:
        found: list[Shape] = []
        for criterion in Criterion:
            branches = self._schema.get(criterion)
            if isinstance(branches, list) and branches:
                # The same branch twice is one branch for Confluent's comparison.
                made = tuple(self._sub(branch) for branch in self._shaper.different(branches))
                found.append(Combined(criterion=criterion, branches=made))
        if self._is_schema("not"):
            found.append(shapes.Not(inner=self._sub(self._schema["not"])))
        if self._is_schema("if") and (self._draft.is_modern or self._draft is Draft.DRAFT_7):
            then, otherwise = (self._optional(keyword) or ANYTHING for keyword in ("then", "else"))
            condition = self._sub(self._schema["if"])
            found.append(
                shapes.Conditional(condition=condition, then=then, otherwise=otherwise),
            )
        return found

    def _typed(self) -> list[Shape]:
        named = self._schema.get("type")
        names = [named] if isinstance(named, str) else named
        if not isinstance(names, list) or not names:
            spoken_of = (t for t, keys in _KEYWORDS_BY_TYPE.items() if keys & self._schema.keys())
            return [self._of_type(name, is_required=False) for name in spoken_of]
        made = [self._of_type(str(name), is_required=True) for name in names]
        return made if len(made) == 1 else [Combined(criterion=Criterion.ANY, branches=tuple(made))]

    def _of_type(self, name: str, *, is_required: bool) -> Shape:
        makers: dict[str, Callable[[bool], Shape]] = {
            "string": self._text,
            "number": self._number,
            "integer": self._number,
            "object": self._object,
            "array": self._array,
            "boolean": lambda _: shapes.Boolean(),
            "null": lambda _: shapes.Null(),
        }
        if name == "integer":
            return self._number(is_required, is_integer=True)
        return makers[name](is_required) if name in makers else NOTHING

    def _text(self, is_required: bool) -> Shape:  # noqa: FBT001 - a column of one signature
        pattern = self._schema.get("pattern")
        return shapes.Text(
            is_required=is_required,
            bounds=self._bounds(_TEXT_BOUNDS),
            pattern=pattern if isinstance(pattern, str) else None,
        )

    def _number(self, is_required: bool, *, is_integer: bool = False) -> Shape:  # noqa: FBT001 - as above
        bounds = self._bounds(_NUMBER_BOUNDS)
        if self._draft is Draft.DRAFT_4:
            for plain, exclusive in (
                ("maximum", "exclusiveMaximum"),
                ("minimum", "exclusiveMinimum"),
            ):
                bounds.pop(exclusive, None)
                if plain in bounds and self._schema.get(exclusive) is True:
                    bounds[exclusive] = bounds.pop(plain)
        multiple = self._schema.get("multipleOf")
        return shapes.Number(
            is_required=is_required,
            bounds=bounds,
            is_integer=is_integer,
            multiple_of=multiple.value if isinstance(multiple, Numeral) else None,
        )

    def _object(self, is_required: bool) -> Shape:  # noqa: FBT001 - as above
        required = self._schema.get("required")
        needs, implied = self._dependencies()
        return shapes.Object(
            is_required=is_required,
            bounds=self._bounds(_OBJECT_BOUNDS),
            properties=self._by_name("properties"),
            required=_names(required),
            patterns=self._by_name("patternProperties"),
            rest=self._rest("additionalProperties", "unevaluatedProperties"),
            names=self._optional("propertyNames"),
            needs=needs,
            implied=implied,
        )

    def _array(self, is_required: bool) -> Shape:  # noqa: FBT001 - as above
        in_tuple = "prefixItems" if self._draft is Draft.DRAFT_2020_12 else "items"
        items = self._schema.get(in_tuple)
        has_tuple = isinstance(items, list)
        every = None if has_tuple else self._optional("items")
        beyond = "additionalItems"
        if self._draft is Draft.DRAFT_2020_12 and (has_tuple or isinstance(every, Nothing)):
            every, beyond = None, "items"
        contains = self._optional("contains")
        bounds = self._bounds(_ARRAY_BOUNDS)
        if contains is not None and self._draft.is_modern:
            bounds |= {"minContains": Decimal(1)} | self._bounds(("maxContains", "minContains"))
        is_moot = not has_tuple and beyond == "additionalItems"
        return shapes.Array(
            is_required=is_required,
            bounds=bounds,
            every=None if isinstance(every, Anything) else every,
            tuple=tuple(self._sub(item) for item in items) if isinstance(items, list) else (),
            rest=self._rest(beyond, "unevaluatedItems", is_moot=is_moot),
            contains=contains,
            is_unique=self._schema.get("uniqueItems") is True,
        )

    def _rest(self, additional: str, unevaluated: str, *, is_moot: bool = False) -> Rest:
        is_unknown = self._draft is Draft.DRAFT_2020_12 and additional == "additionalItems"
        if self._is_schema(additional) and not is_unknown:
            # Messages speak of additionalItems in every draft.
            keyword = "additionalItems" if additional == "items" else additional
            shape = self._sub(self._schema[additional])
            return Rest(shape=shape, keyword=keyword, is_sure=not is_moot)
        if self._draft.is_modern and self._is_schema(unevaluated):
            is_sure = not any(key in self._schema for key in _BESIDE_UNEVALUATED)
            shape = self._sub(self._schema[unevaluated])
            return Rest(shape=shape, keyword=unevaluated, is_sure=is_sure)
        return Rest(shape=ANYTHING, keyword=additional)

    def _dependencies(self) -> tuple[dict[str, frozenset[str]], dict[str, Shape]]:
        keywords = (
            ("dependentRequired", "dependentSchemas")
            if self._draft.is_modern
            else ("dependencies",)
        )
        needs: dict[str, frozenset[str]] = {}
        implied: dict[str, Shape] = {}
        for keyword in keywords:
            given = self._schema.get(keyword)
            for name, what in given.items() if isinstance(given, dict) else ():
                if isinstance(what, list):
                    needs[name] = _names(what)
                elif isinstance(what, (dict, bool)):
                    implied[name] = self._sub(what)
        return needs, implied

    def _bounds(self, keywords: tuple[str, ...]) -> dict[str, Decimal]:
        given = ((keyword, self._schema.get(keyword)) for keyword in keywords)
        return {keyword: n.value for keyword, n in given if isinstance(n, Numeral)}

    def _by_name(self, keyword: str) -> Mapping[str, Shape]:
        given = self._schema.get(keyword)
        if not isinstance(given, dict):
            return {}
        return {n: self._sub(s) for n, s in given.items() if isinstance(s, (dict, bool))}

    def _optional(self, keyword: str) -> Shape | None:
        return self._sub(self._schema[keyword]) if self._is_schema(keyword) else None

    def _is_schema(self, keyword: str) -> bool:
        return isinstance(self._schema.get(keyword), (dict, bool))

    def _sub(self, schema: Json) -> Shape:
        return self._shaper.shape(Place(schema, self._resource))


def _names(given: Json) -> frozenset[str]:
    return (
        frozenset(n for n in given if isinstance(n, str))
        if isinstance(given, list)
        else frozenset()
    )


def _frozen(value: Json) -> Hashable:
    """*value* as JSON Schema compares it: 1 and 1.0 are one number, true is none."""
    if isinstance(value, Numeral):
        return ("number", value.value)
    if isinstance(value, dict):
        return ("object", frozenset((key, _frozen(member)) for key, member in value.items()))
    if isinstance(value, list):
        return ("array", tuple(_frozen(item) for item in value))
    return (type(value).__name__, value)
