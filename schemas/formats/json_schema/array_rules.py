"""Items of arrays: one schema for all, tuples, ``contains``. After ``ArraySchemaDiff``."""

from collections.abc import Iterator
from itertools import zip_longest

from .comparison import Ask, Finding, Nested
from .kinds import Change
from .object_rules import names_findings, rest_findings
from .shapes import Anything, Array, Nothing, Shape


def array_findings(writer: Array, reader: Array, ask: Ask) -> Iterator[Finding]:
    """What *reader* refuses of the arrays that *writer* allows."""
    if reader.every is not None:
        yield from names_findings(writer.every, reader.every, "items")
    for index, (before, after) in enumerate(zip_longest(writer.tuple, reader.tuple)):
        path = (f"items/{index}",)
        if before is None:
            yield from _added(after, writer, path, ask)
        elif after is None:
            yield from _removed(before, reader, path, ask)
        else:
            yield Nested(before, after, path)
    yield from rest_findings(writer, reader, "ITEMS")
    if reader.is_unique and not writer.is_unique:
        yield Change("UNIQUE_ITEMS_ADDED", ("uniqueItems",))
    if reader.contains is not None:
        if writer.contains is None:
            yield Change("SCHEMA_ADDED", ("contains",))  # even ``true`` wants an item
        else:
            yield Nested(writer.contains, reader.contains, ("contains",))
        if "maxContains" in reader.bounds and writer.contains is not None:
            # At most so many: the reader must not count items that the writer did not.
            yield Nested(reader.contains, writer.contains, ("contains",))


def _added(shape: Shape, writer: Array, path: tuple[str, ...], ask: Ask) -> Iterator[Finding]:
    cover = writer.rest.promised
    if isinstance(shape, Anything) or isinstance(cover, Nothing):
        return
    if isinstance(cover, Anything):
        yield Change("ITEM_ADDED_TO_OPEN_CONTENT_MODEL", path)
        return
    yield Nested(cover, shape, path)
    if not ask(cover, shape):
        yield Change("ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path)


def _removed(shape: Shape, reader: Array, path: tuple[str, ...], ask: Ask) -> Iterator[Finding]:
    cover = reader.rest.shape
    if isinstance(cover, Anything) or isinstance(shape, Nothing):
        return
    if isinstance(cover, Nothing):
        yield Change("ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL", path)
        return
    yield Nested(shape, cover, path)
    if not ask(shape, cover):
        yield Change("ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path)
