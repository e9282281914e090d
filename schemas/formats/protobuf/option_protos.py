"""Options of ``elements`` as options of descriptors: what protoc calls interpreting them.

A standard option is a field of the options message. A custom one is an extension of it, which only
a pool with the file that declares it knows; it becomes a field without a name, as protoc writes it.
What nobody can interpret stays ``uninterpreted_option``: Confluent's registry accepts options of
files that it was never given.
"""

import math
from collections.abc import Iterable
from typing import Any

from google.protobuf import descriptor_pb2 as pb
from google.protobuf import descriptor_pool, message_factory, text_encoding, text_format

from .elements import Aggregate, ListValue, NamePart, Option, Scalar, Value, ValueKind
from .reader import DIGITS_MAX, whole_number
from .scope import Scope


def set_standard(target: Any, options: Iterable[Option], scope: Scope, inside: str) -> list[Option]:
    """Set in *target*, an options message, all of *options* that are no extensions.

    The others are returned; those that nobody knows are ``uninterpreted_option`` already.
    """
    custom = []
    for option in options:
        if option.is_custom:
            custom.append(option)
        elif not _merged(target, option, scope, inside):
            target.uninterpreted_option.append(_uninterpreted(option))
    return custom


def set_custom(
    target: Any,
    options: Iterable[Option],
    scope: Scope,
    inside: str,
    pool: descriptor_pool.DescriptorPool | None,
) -> None:
    """Set in *target* the extensions that *options* are, by the names that *pool* knows."""
    known = None if pool is None else _message_of(target, pool)
    for option in options:
        if known is None or not _merged(known, option, scope, inside):
            target.uninterpreted_option.append(_uninterpreted(option))
    if known is not None:
        target.MergeFromString(known.SerializePartialToString(deterministic=True))


def _message_of(target: Any, pool: descriptor_pool.DescriptorPool) -> Any:
    try:
        known = pool.FindMessageTypeByName(target.DESCRIPTOR.full_name)
    except KeyError:  # descriptor.proto is not imported: nothing extends it
        return None
    return message_factory.GetMessageClass(known)()


def _merged(target: Any, option: Option, scope: Scope, inside: str) -> bool:
    """Whether *option* is one of *target*'s, which has it then; a half-read value leaves none."""
    one = type(target)()
    try:
        text_format.Merge(
            option_text(option, scope, inside), one, descriptor_pool=target.DESCRIPTOR.file.pool
        )
    except (text_format.ParseError, UnicodeDecodeError):
        return False
    target.MergeFrom(one)
    return True


def option_text(option: Option, scope: Scope, inside: str) -> str:
    """*option* in the text format: ``[a.ext] { b { c: 3 } }``, extensions by their full names."""
    names = [_part(part, scope, inside) for part in option.name]
    opening = " { ".join(names)
    return f"{opening}: {_value(option.value, scope, inside)}" + " }" * (len(names) - 1)


def _part(part: NamePart, scope: Scope, inside: str) -> str:
    return f"[{_extension(part.text, scope, inside)}]" if part.is_extension else part.text


def _extension(name: str, scope: Scope, inside: str) -> str:
    found = scope.resolve_extension(name, inside)
    return name.removeprefix(".") if found is None else found.full_name


def _value(value: Value, scope: Scope, inside: str) -> str:
    if isinstance(value, Aggregate):
        entries = (
            f"{_key(key, scope, inside)}: {_value(one, scope, inside)}"
            for key, one in value.entries
        )
        return "{ " + " ".join(entries) + " }"
    if isinstance(value, ListValue):
        return "[" + ", ".join(_value(one, scope, inside) for one in value.values) + "]"
    return _scalar(value)


def _key(key: str, scope: Scope, inside: str) -> str:
    if not key.startswith("[") or "/" in key:
        return key
    return f"[{_extension(key[1:-1], scope, inside)}]"


def _scalar(value: Scalar) -> str:
    if value.kind is ValueKind.STRING:
        raw = value.text.encode("utf-8", "surrogateescape")
        return '"' + text_encoding.CEscape(raw, as_utf8=False) + '"'
    if value.kind is not ValueKind.NUMBER:
        return value.text
    return decimal_text(value.text)


def decimal_text(text: str) -> str:
    """A whole number in tens; other numbers as they are."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    if not digits[:1].isdigit() or not digits.isalnum() or len(digits) > DIGITS_MAX:
        return text
    if not digits.isdigit() and digits[:2] not in ("0x", "0X"):
        return text  # 1e5, 2f
    number = whole_number(digits)
    return text if number is None else f"{sign}{number}"


def _uninterpreted(option: Option) -> pb.UninterpretedOption:
    proto = pb.UninterpretedOption()
    for part in option.name:
        proto.name.add(name_part=part.text, is_extension=part.is_extension)
    value = option.value
    if not isinstance(value, Scalar):
        text = _value(value, Scope({}), "")
        proto.aggregate_value = text.removeprefix("{ ").removesuffix(" }")
    elif value.kind is ValueKind.STRING:
        proto.string_value = value.text.encode("utf-8", "surrogateescape")
    elif value.kind is ValueKind.NUMBER:
        _set_number(proto, decimal_text(value.text))
    else:
        proto.identifier_value = value.text
    return proto


def _set_number(proto: pb.UninterpretedOption, text: str) -> None:
    number = int(text) if len(text) <= DIGITS_MAX and text.lstrip("-").isdigit() else None
    if number is not None and 0 <= number < 2**64:
        proto.positive_int_value = number
    elif number is not None and -(2**63) <= number < 0:
        proto.negative_int_value = number
    else:
        try:
            proto.double_value = float(text.rstrip("fF"))
        except ValueError:  # a hexadecimal number that no type holds
            proto.double_value = math.inf
