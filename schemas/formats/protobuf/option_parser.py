"""Options: names, values and the text format inside ``{ }``.

Source: protoc's parser and "Text Format Language Specification"; what is kept of an aggregate
follows Wire's ``OptionReader``, whose layout is stored: a key given twice becomes a list.
"""

from collections.abc import Sequence
from itertools import chain

from .elements import Aggregate, ListValue, NamePart, Option, Scalar, Value, ValueKind
from .lexer import TokenKind
from .reader import Reader

_CLOSING = {"{": "}", "<": ">"}


def read_option_statement(reader: Reader) -> Option:
    """``option name = value;`` with the word *option* still to come."""
    reader.expect("option")
    option = _read_option(reader)
    reader.expect(";")
    return option


def read_bracketed_options(reader: Reader) -> tuple[Option, ...]:
    """``[name = value, …]`` where one stands, else nothing."""
    if not reader.accept("["):
        return ()
    options = [_read_option(reader)]
    while reader.accept(","):
        options.append(_read_option(reader))
    reader.expect("]")
    return tuple(options)


def value_of(text: str) -> Value:
    """The value that *text* is, an aggregate usually. Raises InvalidSchema."""
    reader = Reader(text)
    value = _read_value(reader)
    if reader.kind is not TokenKind.END:
        reader.fail(f"expected the end of a value, found {reader.found()}")
    return value


def _read_option(reader: Reader) -> Option:
    at = reader.at
    name = [_read_name_part(reader)]
    while reader.accept("."):
        name.append(_read_name_part(reader))
    reader.expect("=")
    if reader.looks_at("["):
        reader.fail("a list stands inside of { } only")
    return Option(name=tuple(name), value=_read_value(reader), at=at)


def _read_name_part(reader: Reader) -> NamePart:
    if not reader.accept("("):
        return NamePart(reader.identifier("an option's name"))
    text = reader.full_name("an option's name", may_lead_with_dot=True)
    reader.expect(")")
    return NamePart(text, is_extension=True)


def _read_value(reader: Reader) -> Value:
    if reader.text in _CLOSING:
        return _read_aggregate(reader)
    if reader.looks_at("["):
        return _read_list(reader)
    return _read_scalar(reader)


def _read_scalar(reader: Reader) -> Scalar:
    if reader.kind is TokenKind.STRING:
        return Scalar(ValueKind.STRING, reader.string("a value", may_be_bytes=True))
    sign = "-" if reader.accept("-") else ""
    if reader.kind in (TokenKind.INTEGER, TokenKind.FLOAT):
        return Scalar(ValueKind.NUMBER, sign + reader.take())
    word = reader.identifier("a value")
    if sign:
        if word.lower() not in ("inf", "infinity", "nan"):
            reader.fail(f"-{word} is no number")
        return Scalar(ValueKind.NUMBER, sign + word)
    if word in ("true", "false"):
        return Scalar(ValueKind.BOOLEAN, word)
    return Scalar(ValueKind.IDENTIFIER, word)


def _read_aggregate(reader: Reader) -> Aggregate:
    closing = _CLOSING[reader.take()]
    entries: dict[str, list[Value]] = {}
    with reader.nested():
        while not reader.accept(closing):
            key = _read_key(reader)
            is_scalar_allowed = reader.accept(":")
            if not is_scalar_allowed and reader.text not in ("{", "<", "["):
                reader.fail(f"expected ':' after {key!r}, found {reader.found()}")
            entries.setdefault(key, []).append(_read_value(reader))
            if not reader.accept(","):
                reader.accept(";")
    return Aggregate(tuple((key, joined_values(values)) for key, values in entries.items()))


def _read_key(reader: Reader) -> str:
    if not reader.accept("["):
        return reader.identifier("a field's name")
    text = reader.full_name("an extension's name", may_lead_with_dot=True)
    if reader.accept("/"):  # the type of an Any: [type.googleapis.com/a.B]
        text += "/" + reader.full_name("a type's name")
    reader.expect("]")
    return f"[{text}]"


def _read_list(reader: Reader) -> ListValue:
    reader.expect("[")
    values: list[Value] = []
    with reader.nested():
        while not reader.accept("]"):
            values.append(_read_value(reader))
            if not reader.accept(",") and not reader.looks_at("]"):
                reader.fail(f"expected ',' or ']', found {reader.found()}")
    return ListValue(tuple(values))


def joined_values(values: Sequence[Value]) -> Value:
    """One of *values*, or a list of all that they are and hold."""
    if len(values) == 1:
        return values[0]
    lists = (value.values if isinstance(value, ListValue) else (value,) for value in values)
    return ListValue(tuple(chain.from_iterable(lists)))
