"""Which logical types Avro itself knows, on which types: what ``normalize`` puts first.

Source: ``LogicalTypes.fromSchemaIgnoreInvalid`` of Java's library, 1.12: one that does not fit is
a property like any other.
"""

from math import floor, log10
from typing import Final

from .json_text import JsonObject

_PLAIN: Final = {
    ("string", "uuid"),
    ("bytes", "big-decimal"),
    ("int", "date"),
    ("int", "time-millis"),
    ("long", "time-micros"),
    ("long", "timestamp-millis"),
    ("long", "timestamp-micros"),
    ("long", "timestamp-nanos"),
    ("long", "local-timestamp-millis"),
    ("long", "local-timestamp-micros"),
    ("long", "local-timestamp-nanos"),
}
_FIXED_BYTES: Final = {"uuid": 16, "duration": 12}
_JAVA_CLASSES: Final = ("avro.java.string", "java-class", "java-key-class", "java-element-class")
"""Words that say which class of Java holds the value; Java then reads no logical type."""
_INT_MAX: Final = 2**31 - 1


def leading_props(kind: str, props: JsonObject, *, size_bytes: int | None = None) -> list[str]:
    """The properties that make up the logical type, in its order; [] when none is known.

    *kind* is a primitive's or "fixed", which comes with its size.
    """
    if any(isinstance(props.get(word), str) for word in _JAVA_CLASSES):
        return []
    word = props.get("logicalType")
    if word == "decimal":
        return _decimal_props(kind, props, size_bytes)
    is_known = (kind, word) in _PLAIN if isinstance(word, str) else False
    is_fixed = kind == "fixed" and isinstance(word, str) and _FIXED_BYTES.get(word) == size_bytes
    return ["logicalType"] if is_known or is_fixed else []


def _decimal_props(kind: str, props: JsonObject, size_bytes: int | None) -> list[str]:
    precision, scale = _int(props.get("precision")), _int(props.get("scale", 0))
    if precision is None or scale is None or not 0 <= scale <= precision or precision == 0:
        return []
    if kind == "fixed" and size_bytes is not None:
        fits = precision <= floor(log10(2) * (8 * size_bytes - 1))
    else:
        fits = kind == "bytes"
    if not fits:
        return []
    return ["logicalType", "precision", *(["scale"] if scale else [])]


def _int(value: object) -> int | None:
    """None where it is no integer of 32 bits."""
    is_int = isinstance(value, int) and not isinstance(value, bool)
    return value if is_int and isinstance(value, int) and abs(value) <= _INT_MAX else None
