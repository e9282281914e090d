"""Bounds of lengths, sizes and numbers."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from .comparison import Finding
from .kinds import Change
from .shapes import Number, Typed

_NAMES: Final = {
    "maxLength": "MAX_LENGTH",
    "minLength": "MIN_LENGTH",
    "maximum": "MAXIMUM",
    "minimum": "MINIMUM",
    "exclusiveMaximum": "EXCLUSIVE_MAXIMUM",
    "exclusiveMinimum": "EXCLUSIVE_MINIMUM",
    "maxProperties": "MAX_PROPERTIES",
    "minProperties": "MIN_PROPERTIES",
    "maxItems": "MAX_ITEMS",
    "minItems": "MIN_ITEMS",
    "maxContains": "MAX_CONTAINS",
    "minContains": "MIN_CONTAINS",
}


def bound_findings(writer: Typed, reader: Typed) -> Iterator[Finding]:
    """The bounds that *reader* adds or tightens."""
    for keyword, bound in reader.bounds.items():
        before = writer.bounds.get(keyword)
        name = _NAMES[keyword]
        if before is None:
            yield Change(f"{name}_ADDED", (keyword,))
        elif "MAX" in name and bound < before:
            yield Change(f"{name}_DECREASED", (keyword,))
        elif "MIN" in name and bound > before:
            yield Change(f"{name}_INCREASED", (keyword,))


def multiple_findings(writer: Number, reader: Number) -> Iterator[Finding]:
    """A ``multipleOf`` that does not divide the old one."""
    before, after = writer.multiple_of, reader.multiple_of
    if after is None:
        return
    if before is None:
        yield Change("MULTIPLE_OF_ADDED", ("multipleOf",))
    elif not _divides(after, before):
        is_multiple = _divides(before, after)
        kind = "MULTIPLE_OF_EXPANDED" if is_multiple else "MULTIPLE_OF_CHANGED"
        yield Change(kind, ("multipleOf",))


def _divides(divisor: Decimal, number: Decimal) -> bool:
    """Exactly, by integers: Decimal's own remainder is bound to a precision."""
    if divisor == 0:
        return False
    scale = -min(_exponent(divisor), _exponent(number), 0)
    return int(number.scaleb(scale)) % int(divisor.scaleb(scale)) == 0


def _exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)  # JSON has no infinities
    return exponent
