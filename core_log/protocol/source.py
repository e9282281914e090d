"""Python source under construction: what compiling readers and compiling writers have in common.

An interpreter of declarations spends most of its time asking what comes next. Here that is asked
once per class and version: nested structs are inlined, neighbouring fields of fixed size become one
``struct`` call, and the first byte of a varint, which is nearly always the whole of it, joins them.
The source is built from the classes of this package alone; nothing that came over a wire is in it.

Each line of the source knows the field it serves. So the function carries no names and no handlers:
``codec`` finds the field from the line that raised.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from .schema import (
    BoundField,
    Kind,
    WireStruct,
    fields_of,
    inflexible_string,
    is_array,
    string,
    struct,
)

FIXED: Final = {
    "int8": ("b", 1),
    "int16": ("h", 2),
    "int32": ("i", 4),
    "int64": ("q", 8),
    "uint16": ("H", 2),
    "uint32": ("I", 4),
    "float64": ("d", 8),
    "bool": ("?", 1),
    "uuid": ("16s", 16),
}
"""Struct code and size in bytes of every kind that has a fixed one."""

NUMBERS: Final = frozenset({"int8", "int16", "int32", "int64", "uint16", "uint32", "float64"})
"""Kinds whose arrays are packed by one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A function's source, the objects it names, and the field behind each line."""

    text: str
    names: dict[str, Any]
    fields: tuple[str, ...]

    def function(self, title: str) -> Callable[..., Any]:
        """Compile it. *title* stands as file name in tracebacks."""
        names = dict(self.names)
        exec(compile(self.text, title, "exec"), names)  # noqa: S102 - built from our own classes only
        made: Callable[..., Any] = names["run"]
        return made


class Pending(NamedTuple):
    """A field of fixed size that waits for its neighbours."""

    code: str
    value: str
    """The variable to read into, or the expression to write."""
    owner: str


@dataclass(slots=True)
class Lines:
    """Source under construction, and the run of fixed-size fields not yet written down."""

    version: int
    flexible: bool
    lines: list[str] = field(default_factory=list)
    owners: list[str] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)
    pending: list[Pending] = field(default_factory=list)
    depth: int = 1
    count: int = 0

    def line(self, text: str, owner: str | None = None) -> None:
        """Adds a line that serves the field at hand, or *owner*."""
        self.lines.append("    " * self.depth + text)
        self.owners.append(".".join(self.path) if owner is None else owner)

    def pend(self, code: str, value: str) -> None:
        """Puts a field of fixed size off until ``flush``, to be handled with its neighbours."""
        self.pending.append(Pending(code, value, ".".join(self.path)))

    def take_pending(self) -> tuple[str, list[str], str]:
        """Struct codes, values and owner of what was put off."""
        taken, self.pending = self.pending, []
        owners = dict.fromkeys(put.owner for put in taken if put.owner)
        codes = "".join(put.code for put in taken)
        return codes, [put.value for put in taken], ", ".join(owners)

    @contextmanager
    def block(self, text: str) -> Iterator[None]:
        self.line(text)
        self.depth += 1
        yield
        self.depth -= 1

    @contextmanager
    def inside(self, name: str) -> Iterator[None]:
        self.path.append(name)
        yield
        self.path.pop()

    @contextmanager
    def inflexible(self) -> Iterator[None]:
        """For a field that keeps its old form in flexible versions."""
        flexible, self.flexible = self.flexible, False
        yield
        self.flexible = flexible

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def name(self, value: Any, letter: str) -> str:
        """A name in the function's globals for *value*."""
        for name, known in self.names.items():
            if known is value:
                return name
        name = self.fresh(letter)
        self.names[name] = value
        return name

    def source(self, head: str) -> Source:
        return Source(
            text="\n".join([head, *self.lines]) + "\n",
            names=self.names,
            fields=("", *self.owners),
        )

    def regular(self, cls: type[WireStruct]) -> list[BoundField]:
        return [
            bound
            for bound in fields_of(cls)
            if self.version in bound.wire.versions and bound.wire.tag is None
        ]

    def tagged(self, cls: type[WireStruct]) -> list[BoundField]:
        found = [
            bound
            for bound in fields_of(cls)
            if self.version in bound.wire.versions and bound.wire.tag is not None
        ]
        return sorted(found, key=lambda bound: bound.wire.tag or 0)

    def nullable(self, bound: BoundField) -> bool:
        return self.version in bound.wire.nullable


def name_of_codes(letter: str, codes: str) -> str:
    """A variable's name for a prepared struct; ``?`` may not stand in one."""
    return letter + codes.replace("?", "t")


def step_name(bound: BoundField) -> str:
    return f"{bound.name}[]" if is_array(bound.wire) else bound.name


def size_min(cls: type[WireStruct], version: int, *, flexible: bool) -> int:
    """The fewest bytes an element of this class takes; at least 1, so that counts are bounded."""
    total = sum(
        _field_size_min(bound, version, flexible=flexible)
        for bound in fields_of(cls)
        if version in bound.wire.versions and bound.wire.tag is None
    )
    return max(1, total + flexible)


def holds_records(cls: type[WireStruct]) -> bool:
    """Whether some field below hands bytes through without a copy."""
    return any(
        bound.wire.kind.name == "records"
        or (bound.struct_class is not None and holds_records(bound.struct_class))
        for bound in fields_of(cls)
    )


def _field_size_min(bound: BoundField, version: int, *, flexible: bool) -> int:
    kind = bound.wire.kind
    if kind.name in FIXED:
        return FIXED[kind.name][1]
    if kind is struct:
        if version in bound.wire.nullable:
            return 1
        assert bound.struct_class is not None
        return size_min(bound.struct_class, version, flexible=flexible)
    return 1 if flexible and kind is not inflexible_string else length_size(kind)


def length_size(kind: Kind) -> int:
    return 2 if kind in (string, inflexible_string) else 4
