"""Members of objects: content models, required members, dependencies.

A *content model* is what an object may hold beside its declared properties: anything (open), what
some schema allows (partially open) or nothing (closed). After ``ObjectSchemaDiff``.
"""

from collections.abc import Iterator

from .comparison import Ask, Finding, Nested
from .kinds import Change
from .shapes import Anything, Array, Nothing, Object, Shape


def object_findings(writer: Object, reader: Object, ask: Ask) -> Iterator[Finding]:
    """What *reader* refuses of the objects that *writer* allows."""
    yield from _required(writer, reader)
    for name, shape in writer.properties.items():
        path = ("properties", name)
        if name in reader.properties:
            yield Nested(shape, reader.properties[name], path)
        else:
            yield from _removed(name, shape, reader, ask)
    for name in reader.properties:
        if name not in writer.properties:
            yield from _added(name, writer, reader, ask)
    yield from _patterns(writer, reader, ask)
    yield from _dependencies(writer, reader)
    yield from rest_findings(writer, reader, "PROPERTIES")
    if reader.names is not None:
        yield from names_findings(writer.names, reader.names, "propertyNames")


def rest_findings(writer: Object | Array, reader: Object | Array, what: str) -> Iterator[Finding]:
    """What *reader* refuses of the members or items that nobody declares."""
    keyword, after = reader.rest.keyword, reader.rest.shape
    # Where neither is sure, both mean the same by it; else only what is sure counts.
    is_alike = writer.rest.keyword == keyword and not reader.rest.is_sure
    before = writer.rest.shape if is_alike else writer.rest.promised
    noun = f"{'UNEVALUATED' if keyword.startswith('un') else 'ADDITIONAL'}_{what}"
    match before, after:
        case (Nothing(), _) | (_, Anything()):
            return
        case _, Nothing():
            yield Change(f"{noun}_REMOVED", (keyword,))
        case Anything(), _:
            yield Change(f"{noun}_NARROWED", (keyword,))
        case _:
            yield Nested(before, after, (keyword,))


def names_findings(writer: Shape | None, reader: Shape, keyword: str) -> Iterator[Finding]:
    """A schema for each name or item that *writer* has too, or that *reader* adds."""
    if writer is not None:
        yield Nested(writer, reader, (keyword,))
    elif not isinstance(reader, Anything):
        yield Change("SCHEMA_ADDED", (keyword,))


def _required(writer: Object, reader: Object) -> Iterator[Finding]:
    """Members on both sides. An undeclared one passes, as in Confluent's comparison."""
    for name in reader.properties:
        is_new = name in reader.required and name not in writer.required
        if is_new and name in writer.properties and not reader.properties[name].has_default:
            yield Change("REQUIRED_ATTRIBUTE_ADDED", ("required", name))


def _removed(name: str, shape: Shape, reader: Object, ask: Ask) -> Iterator[Finding]:
    path = ("properties", name)
    if isinstance(reader.rest.shape, Anything) and not reader.patterns:
        return
    cover = _cover(reader, reader.rest.shape, name, ask)
    if isinstance(cover, (Anything, Nothing)):  # where nothing covers it, Confluent wants it kept
        if not isinstance(shape, Nothing):
            yield Change("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", path)
        return
    yield Nested(shape, cover, path)
    if not ask(shape, cover):
        yield Change("PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path)


def _added(name: str, writer: Object, reader: Object, ask: Ask) -> Iterator[Finding]:
    path = ("properties", name)
    shape = reader.properties[name]
    is_required = name in reader.required and name not in writer.required
    cover = _cover(writer, writer.rest.promised, name, ask)
    if isinstance(cover, Anything):
        if is_required and not shape.has_default:
            yield Change("REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", path)
        elif not isinstance(shape, Anything):
            how = "REQUIRED_PROPERTY_WITH_DEFAULT" if is_required else "OPTIONAL_PROPERTY"
            yield Change(f"{how}_ADDED_TO_OPEN_CONTENT_MODEL", path)
        return
    if not isinstance(cover, Nothing):
        yield Nested(cover, shape, path)
        if not ask(cover, shape):
            yield Change("PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path)
    if is_required and not shape.has_default:
        yield Change("REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL", path)


def _cover(owner: Object, rest: Shape, name: str, ask: Ask) -> Shape:
    """What *owner* says of a member *name* that it does not declare."""
    for pattern, shape in owner.patterns.items():
        if ask.matches(pattern, name):
            return shape
    return rest


def _patterns(writer: Object, reader: Object, ask: Ask) -> Iterator[Finding]:
    """Patterns of names, which Confluent's comparison only uses to cover properties.

    What a pattern of the reader says must hold for all that the writer may put under such names;
    and what the writer put under a pattern that is gone becomes a member that nobody declares.
    """
    for pattern, shape in reader.patterns.items():
        path = ("patternProperties", pattern)
        if pattern in writer.patterns:
            yield Nested(writer.patterns[pattern], shape, path)
            continue
        sources = [
            *(made for name, made in writer.properties.items() if ask.matches(pattern, name)),
            *writer.patterns.values(),
            writer.rest.promised,
        ]
        if not all(ask(source, shape) for source in sources):
            yield Change("SCHEMA_ADDED", path)
    for pattern, shape in writer.patterns.items():
        if pattern not in reader.patterns and not ask(shape, reader.rest.shape):
            yield Change("ADDITIONAL_PROPERTIES_NARROWED", ("patternProperties", pattern))


def _dependencies(writer: Object, reader: Object) -> Iterator[Finding]:
    for name, needs in reader.needs.items():
        before = writer.needs.get(name)
        path = ("dependencies", name)
        if before is None:
            yield Change("DEPENDENCY_ARRAY_ADDED", path)
        elif not needs <= before:
            is_more = needs > before
            yield Change(f"DEPENDENCY_ARRAY_{'EXTENDED' if is_more else 'CHANGED'}", path)
    for name, implied in reader.implied.items():
        path = ("dependencies", name)
        if name in writer.implied:
            yield Nested(writer.implied[name], implied, path)
        else:
            yield Change("DEPENDENCY_SCHEMA_ADDED", path)
