"""What breaks readers between one writer's shape and one reader's: the rules for each kind.

After ``SchemaDiff`` and ``CombinedSchemaDiff`` of Confluent's JSON Schema provider.
"""

from collections.abc import Iterator

from .array_rules import array_findings
from .bound_rules import bound_findings, multiple_findings
from .comparison import Ask, Finding, Nested
from .kinds import Change
from .matching import matched_count
from .object_rules import object_findings
from .shapes import (
    Anything,
    Array,
    Combined,
    Conditional,
    Criterion,
    Enumeration,
    Link,
    Not,
    Nothing,
    Number,
    Object,
    Shape,
    Text,
    Typed,
)


def findings(writer: Shape, reader: Shape, ask: Ask) -> Iterator[Finding]:
    """The changes from *writer* to *reader* that break readers, and the pairs that they hang on.

    Both are settled: no links, except those that lead nowhere.
    """
    is_one_combined = isinstance(writer, Combined) != isinstance(reader, Combined)
    if is_one_combined and _fits_a_branch(writer, reader, ask):
        return
    if isinstance(writer, Nothing) or isinstance(reader, Anything):
        return
    if type(writer) is not type(reader):
        # Connect writes bytes as a string or, decimals, as a number: both sides know.
        if not (writer.is_connect_bytes and reader.is_connect_bytes):
            yield Change("TYPE_CHANGED")
        return
    if isinstance(writer, Typed) and isinstance(reader, Typed):
        yield from _typed_findings(writer, reader, ask)
    else:
        yield from _other_findings(writer, reader, ask)


def _typed_findings(writer: Typed, reader: Typed, ask: Ask) -> Iterator[Finding]:
    if reader.is_required and not writer.is_required:
        yield Change("TYPE_NARROWED")
    match writer, reader:  # in Confluent's order of telling
        case Text(), Text():
            yield from bound_findings(writer, reader)
            yield from _text_findings(writer, reader)
        case Number(), Number():
            yield from bound_findings(writer, reader)
            yield from multiple_findings(writer, reader)
            if reader.is_integer and not writer.is_integer:
                yield Change("TYPE_NARROWED")
        case Object(), Object():
            yield from object_findings(writer, reader, ask)
            yield from bound_findings(writer, reader)
        case Array(), Array():
            yield from array_findings(writer, reader, ask)
            yield from bound_findings(writer, reader)
        case _:
            raise AssertionError(writer)  # of one type, and there are four


def _other_findings(writer: Shape, reader: Shape, ask: Ask) -> Iterator[Finding]:
    match writer, reader:
        case Enumeration(), Enumeration():
            yield from _enumeration_findings(writer, reader)
        case Combined(), Combined():
            yield from _combined_findings(writer, reader, ask)
        case Not(), Not():
            if not ask(reader.inner, writer.inner):
                yield Change("NOT_TYPE_EXTENDED", ("not",))
        case Conditional(), Conditional():
            yield from _conditional_findings(writer, reader, ask)
        case Link(), Link() if writer.reference != reader.reference:
            yield Change("TYPE_CHANGED")


def _fits_a_branch(writer: Shape, reader: Shape, ask: Ask) -> bool:
    """One of the two is combined: does the other fit one of its branches, where one is enough?"""
    if isinstance(reader, Combined):
        one_is_enough = reader.criterion is not Criterion.ALL or len(reader.branches) == 1
        return one_is_enough and any(ask(writer, branch) for branch in reader.branches)
    assert isinstance(writer, Combined)
    one_is_enough = writer.criterion is Criterion.ALL or len(writer.branches) == 1
    return one_is_enough and any(ask(branch, reader) for branch in writer.branches)


def _text_findings(writer: Text, reader: Text) -> Iterator[Finding]:
    if reader.pattern is not None and reader.pattern != writer.pattern:
        yield Change("PATTERN_ADDED" if writer.pattern is None else "PATTERN_CHANGED", ("pattern",))


def _enumeration_findings(writer: Enumeration, reader: Enumeration) -> Iterator[Finding]:
    if writer.keyword != reader.keyword:
        yield Change("TYPE_CHANGED")
    elif not writer.values <= reader.values:
        is_narrower = reader.values < writer.values
        kind = "ENUM_ARRAY_NARROWED" if is_narrower else "ENUM_ARRAY_CHANGED"
        yield Change(kind, (reader.keyword,))


def _combined_findings(writer: Combined, reader: Combined, ask: Ask) -> Iterator[Finding]:
    singles = len(writer.branches) == 1, len(reader.branches) == 1
    is_kept = (
        writer.criterion is reader.criterion
        or reader.criterion is Criterion.ANY
        or singles == (True, True)
        or (reader.criterion is Criterion.ONE and singles[0])
        or (writer.criterion is Criterion.ALL and singles[1])
    )
    if not is_kept:
        yield Change("COMBINED_TYPE_CHANGED")
        return
    more = len(reader.branches) - len(writer.branches)
    if more > 0 and reader.criterion is Criterion.ALL:
        yield Change("PRODUCT_TYPE_EXTENDED")
    if more < 0 and writer.criterion is not Criterion.ALL:
        yield Change("SUM_TYPE_NARROWED")
    edges = [
        [index for index, to in enumerate(reader.branches) if ask(branch, to)]
        for branch in writer.branches
    ]
    if matched_count(edges) < min(len(writer.branches), len(reader.branches)):
        yield Change("COMBINED_TYPE_SUBSCHEMAS_CHANGED")


def _conditional_findings(writer: Conditional, reader: Conditional, ask: Ask) -> Iterator[Finding]:
    """Confluent's comparison passes conditions over. Ours wants the same condition."""
    same = ask(writer.condition, reader.condition) and ask(reader.condition, writer.condition)
    if not same:
        yield Change("COMBINED_TYPE_SUBSCHEMAS_CHANGED", ("if",))
    yield Nested(writer.then, reader.then, ("then",))
    yield Nested(writer.otherwise, reader.otherwise, ("else",))
