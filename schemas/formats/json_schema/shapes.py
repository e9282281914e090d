"""What a schema says, by the kind of value it speaks of: the form in which two are compared.

The kinds are those of Confluent's comparison (``ObjectSchema``, ``CombinedSchema`` …), because the
registry's verdicts hang on them: ``{"type": "string", "enum": ["a"]}`` is an *all of* a string and
an enum. Shapes are compared by identity.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final


class Criterion(StrEnum):
    """How many branches of a combined shape a value must fit."""

    ALL = "allOf"
    ANY = "anyOf"
    ONE = "oneOf"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shape:
    """Any schema."""

    has_default: bool = False
    is_connect_bytes: bool = False
    """``connect.type`` is "bytes": Connect's converters write such a value in several ways."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Anything(Shape):
    """``true``, ``{}`` and schemas that only describe."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nothing(Shape):
    """``false``."""


ANYTHING: Final = Anything()
NOTHING: Final = Nothing()
"""One of each: a comparison takes every new shape for a new question."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Boolean(Shape):
    """``"type": "boolean"``."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Null(Shape):
    """``"type": "null"``."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Typed(Shape):
    """Keywords of one type of values."""

    is_required: bool
    """``type`` says so; else other types pass unseen."""
    bounds: Mapping[str, Decimal]
    """minLength, maximum, maxItems … by keyword."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Text(Typed):
    """A string."""

    pattern: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Number(Typed):
    """A number; *is_integer* without a fraction."""

    is_integer: bool = False
    multiple_of: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rest:
    """What members or items that no other keyword speaks of may be."""

    shape: Shape
    keyword: str
    """The one that says so: additionalProperties, unevaluatedItems …"""
    is_sure: bool = True
    """False for ``additionalItems`` without a tuple, which binds nobody, and for ``unevaluated…``
    beside keywords that may allow what it forbids."""

    @property
    def promised(self) -> Shape:
        """As far as a writer is bound by it."""
        return self.shape if self.is_sure else ANYTHING


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Object(Typed):
    """An object."""

    properties: Mapping[str, Shape]
    required: frozenset[str]
    patterns: Mapping[str, Shape]
    rest: Rest
    names: Shape | None
    needs: Mapping[str, frozenset[str]]
    """The members that one member brings with it."""
    implied: Mapping[str, Shape]
    """The schemas that one member brings with it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Array(Typed):
    """An array."""

    every: Shape | None
    """Each item, where there is no tuple."""
    tuple: tuple[Shape, ...]
    rest: Rest
    contains: Shape | None
    is_unique: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Enumeration(Shape):
    """``enum``, and ``const`` with its one value."""

    keyword: str
    values: frozenset[Hashable]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Combined(Shape):
    """Several schemas for one value; also one schema that speaks of several kinds."""

    criterion: Criterion
    branches: tuple[Shape, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Not(Shape):
    """``not``."""

    inner: Shape


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Conditional(Shape):
    """``if``, ``then`` and ``else``; an absent branch is Anything."""

    condition: Shape
    then: Shape
    otherwise: Shape


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Link(Shape):
    """``$ref``: followed only when compared, so that schemas may contain themselves."""

    reference: str
    follow: Callable[[], Shape] | None
    """The shape that it leads to, the same one each time; None where it leads nowhere."""


def settled(shape: Shape) -> Shape:
    """*shape* itself, or what its links lead to in the end.

    A link that leads nowhere stays; links that only lead to each other say nothing.
    """
    passed: list[Link] = []
    while isinstance(shape, Link) and shape.follow is not None:
        if any(shape is link for link in passed):
            return ANYTHING
        passed.append(shape)
        shape = shape.follow()
    return shape
