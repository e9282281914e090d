"""Can data of one schema be read with another? After Java's ``SchemaCompatibility`` (Avro 1.12).

Same rules, order, places and words. Two named types are compared once, and while they are being
compared they count as compatible. Deviations:

- Java keeps what it found meanwhile even when they turn out not to be; a union can then let
  unreadable data pass. We look again, knowing what was refuted, until nothing rests on it.
- A union's branches that are called otherwise are passed over; Java compares them and tells the
  place of what it found there, counted from the union, wherever it meets the pair again.
- Work and answers are bounded; past a bound the answer is "no", with the bound as reason.
- A reader's field that stands for two of the writer's is one of the reasons; Java stops there.

No Python recursion: pairs of types can be deeper in each other than either schema is.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..contract import Incompatibility
from .incompatibilities import (
    ambiguous_field,
    bound_reached,
    fixed_size_mismatch,
    missing_default,
    missing_enum_symbols,
    missing_union_branch,
    name_mismatch,
    type_mismatch,
)
from .model import (
    Array,
    Definition,
    Enum,
    Field,
    Fixed,
    Map,
    Model,
    Named,
    Primitive,
    Record,
    Type,
    Union,
    kind_of,
)

STEPS_MAX: Final = 300_000
"""Pairs of types, fields and symbols looked at: a few seconds at most."""
INCOMPATIBILITIES_MAX: Final = 1_000
"""Reasons told; types used many times repeat theirs."""

_PROMOTIONS: Final = {
    ("long", "int"),
    ("float", "int"),
    ("float", "long"),
    ("double", "int"),
    ("double", "long"),
    ("double", "float"),
    ("bytes", "string"),
    ("string", "bytes"),
}
"""What a reader of the first takes besides: data of the second."""

_Token: TypeAlias = str | int


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the reader we are: a chain, told as a pointer only where there is a reason to.

    Its tokens are the specification's words and indexes; none needs a JSON pointer's escapes.
    """

    outer: "_Place | None" = None
    token: _Token = ""

    def __truediv__(self, token: _Token) -> "_Place":
        return _Place(self, token)

    @property
    def pointer(self) -> str:
        tokens: list[str] = []
        place: _Place = self
        while place.outer is not None:
            tokens.append(str(place.token))
            place = place.outer
        return "/" + "/".join(reversed(tokens))


_Reasons: TypeAlias = tuple[Incompatibility, ...]
_Step: TypeAlias = Generator["_Step", _Reasons, _Reasons]
_Pair: TypeAlias = tuple[str, str]

_ROOT: Final = _Place()


class _TooMuch(Exception):
    """STEPS_MAX is reached."""


def incompatibilities(
    *, reader: Model, writer: Model, steps_max: int = STEPS_MAX
) -> list[Incompatibility]:
    """Why *reader* cannot read what *writer* wrote, in Java's order; empty when it always can."""
    refuted: dict[_Pair, _Reasons] = {}
    while True:
        comparison = _Comparison(reader, writer, refuted, steps_max=steps_max)
        try:
            reasons = _run(comparison.compare(reader.root, writer.root, _ROOT))
        except _TooMuch:
            return [bound_reached(f"it takes more than {steps_max} steps")]
        steps_max = comparison.steps_left
        wrong = {
            pair: comparison.results[pair]
            for pair in comparison.assumed
            if comparison.results[pair]
        }
        if reasons or wrong.keys() <= refuted.keys():
            break
        refuted |= wrong
    if len(reasons) > INCOMPATIBILITIES_MAX:
        more = bound_reached(f"there are more than {INCOMPATIBILITIES_MAX} differences")
        return [*reasons[:INCOMPATIBILITIES_MAX], more]
    return list(reasons)


def _run(step: _Step) -> _Reasons:
    """What *step* returns, each step that it yields having been run for it."""
    stack = [step]
    reasons: _Reasons = ()
    is_new = True
    while stack:
        try:
            child = next(stack[-1]) if is_new else stack[-1].send(reasons)
        except StopIteration as finished:
            stack.pop()
            reasons, is_new = finished.value, False
        else:
            stack.append(child)
            is_new = True
    return reasons


class _Comparison:
    """One walk over both schemas."""

    def __init__(
        self, reader: Model, writer: Model, refuted: dict[_Pair, _Reasons], *, steps_max: int
    ) -> None:
        self.results: dict[_Pair, _Reasons] = dict(refuted)
        self.assumed: set[_Pair] = set()
        """Pairs that counted as compatible while they were being compared."""
        self.steps_left = steps_max
        self._open: set[_Pair] = set()
        self._fields_by_name: dict[str, Mapping[str, Field]] = {}
        """Of the writer's records: each may be compared with many."""
        self._reader = reader
        self._writer = writer

    def compare(self, reader: Type, writer: Type, place: _Place) -> _Step:
        """All reasons at *place* and below."""
        self._charge(1)
        if not (isinstance(reader, Named) and isinstance(writer, Named)):
            return (yield from self._unnamed(reader, writer, place))
        pair = (reader.name.full, writer.name.full)
        if pair in self._open:
            self.assumed.add(pair)
            return ()
        if pair not in self.results:
            self._open.add(pair)
            reasons = yield self._named(
                self._reader.definitions[pair[0]], self._writer.definitions[pair[1]], place
            )
            self._open.remove(pair)
            self.results[pair] = reasons
        return self.results[pair]

    def _charge(self, steps: int) -> None:
        self.steps_left -= steps
        if self.steps_left < 0:
            raise _TooMuch

    def _unnamed(self, reader: Type, writer: Type, place: _Place) -> _Step:
        match reader, writer:
            case Primitive(), Primitive():
                same = reader.kind == writer.kind or (reader.kind, writer.kind) in _PROMOTIONS
                return () if same else self._mismatch(reader, writer, place)
            case Array(), Array():
                return (yield self.compare(reader.items, writer.items, place / "items"))
            case Map(), Map():
                return (yield self.compare(reader.values, writer.values, place / "values"))
            case Union(), Union():
                return (yield self._unions(reader, writer, place))
            case _, Union():
                reasons: _Reasons = ()
                for index, branch in enumerate(writer.branches):
                    found = yield self.compare(reader, branch, place / index)
                    reasons = _cut(reasons + found)
                return reasons
            case Union(), _:
                return (yield self._branch(reader, writer, place))
            case _:
                return self._mismatch(reader, writer, place)

    def _named(self, reader: Definition, writer: Definition, place: _Place) -> _Step:
        self._charge(len(reader.aliases))
        match reader, writer:
            case Record(), Record():
                fields = yield self._fields(reader, writer, place / "fields")
                return _cut(_names(reader, writer, place / "name") + fields)
            case Enum(), Enum():
                self._charge(len(reader.symbols) + len(writer.symbols))
                symbols = _symbols(reader, writer, place / "symbols")
                return _names(reader, writer, place / "name") + symbols
            case Fixed(), Fixed():
                size = _size(reader, writer, place / "size")
                return _names(reader, writer, place / "name") + size
            case _:
                return self._mismatch(Named(reader.name), Named(writer.name), place)

    def _unions(self, reader: Union, writer: Union, place: _Place) -> _Step:
        reasons: _Reasons = ()
        for index, branch in enumerate(writer.branches):
            if (yield self.compare(reader, branch, _ROOT)):
                reasons += (self._missing_branch(branch, place / index),)
        return reasons

    def _branch(self, reader: Union, writer: Type, place: _Place) -> _Step:
        for branch in reader.branches:
            if self._may_match(branch, writer) and not (yield self.compare(branch, writer, _ROOT)):
                return ()
        return (self._missing_branch(writer, place),)

    def _may_match(self, branch: Type, writer: Type) -> bool:
        """False for types that are called something else: their fields need no comparing."""
        if not (isinstance(branch, Named) and isinstance(writer, Named)):
            return True
        reader_definition = self._reader.definitions[branch.name.full]
        self._charge(1 + len(reader_definition.aliases))
        return _is_called(reader_definition, self._writer.definitions[writer.name.full])

    def _fields(self, reader: Record, writer: Record, place: _Place) -> _Step:
        written = self._fields_of(writer)
        reasons: _Reasons = ()
        for index, field in enumerate(reader.fields):
            self._charge(1 + len(field.aliases))
            sources = [written[name] for name in (field.name, *field.aliases) if name in written]
            if len(sources) > 1:
                found = [source.name for source in sources]
                reasons += (ambiguous_field((place / index).pointer, field.name, writer, found),)
            elif sources:
                reasons += yield self.compare(field.type, sources[0].type, place / index / "type")
            elif not field.has_default:
                reasons += self._no_default(field, writer, place / index)
            reasons = _cut(reasons)
        return reasons

    def _fields_of(self, writer: Record) -> Mapping[str, Field]:
        fields = self._fields_by_name.get(writer.name.full)
        if fields is None:
            fields = {field.name: field for field in writer.fields}
            self._fields_by_name[writer.name.full] = fields
        return fields

    def _no_default(self, field: Field, writer: Record, place: _Place) -> _Reasons:
        enum = field.type
        if isinstance(enum, Named):
            definition = self._reader.definitions[enum.name.full]
            if isinstance(definition, Enum) and definition.default is not None:
                # An enum's default is no field's default. Java compares the enum with the record
                # in which there is no such field, and says that their types differ.
                return self._mismatch(enum, Named(writer.name), place / "type")
        return (missing_default(place.pointer, field.name),)

    def _mismatch(self, reader: Type, writer: Type, place: _Place) -> _Reasons:
        reader_kind = kind_of(reader, self._reader.definitions)
        writer_kind = kind_of(writer, self._writer.definitions)
        return (type_mismatch(place.pointer, reader_kind, writer_kind),)

    def _missing_branch(self, writer: Type, place: _Place) -> Incompatibility:
        return missing_union_branch(place.pointer, kind_of(writer, self._writer.definitions))


def _cut(reasons: _Reasons) -> _Reasons:
    """One more than are told, so that it shows that there are more."""
    return reasons[: INCOMPATIBILITIES_MAX + 1]


def _is_called(reader: Definition, writer: Definition) -> bool:
    """Namespaces may differ; an alias names one."""
    return reader.name.simple == writer.name.simple or any(
        alias.full == writer.name.full for alias in reader.aliases
    )


def _names(reader: Definition, writer: Definition, place: _Place) -> _Reasons:
    if _is_called(reader, writer):
        return ()
    return (name_mismatch(place.pointer, reader.name.full, writer.name.full),)


def _symbols(reader: Enum, writer: Enum, place: _Place) -> _Reasons:
    missing = sorted(set(writer.symbols) - set(reader.symbols))
    if not missing or reader.default is not None:
        return ()
    return (missing_enum_symbols(place.pointer, reader.name.full, missing),)


def _size(reader: Fixed, writer: Fixed, place: _Place) -> _Reasons:
    if reader.size_bytes == writer.size_bytes:
        return ()
    return (fixed_size_mismatch(place.pointer, reader.size_bytes, writer.size_bytes),)
