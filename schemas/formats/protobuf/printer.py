"""The text of a ``ProtoFile`` as Confluent's registry stores it: Wire's layout without comments.

Source: Confluent's ``ProtobufSchemaUtils.toString`` (8.x). A line is indented with its whole
declaration, blank ones too, which is why blank lines inside of nested messages have spaces. Ids are
given by this text, byte by byte: change nothing here without a recorded pair that says so.

We deviate where Confluent's own text is no valid file or loses something: a default of bytes is
quoted, bytes that are no UTF-8 and control characters are octal escapes, weak imports are kept,
groups may hold more than fields, and options of extension ranges and of groups are kept.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from .elements import (
    FIELD_NUMBER_MAX,
    Aggregate,
    Enum,
    EnumValue,
    Extend,
    Extensions,
    Field,
    Group,
    ImportKind,
    ListValue,
    Message,
    NumberRange,
    Oneof,
    Option,
    ProtoFile,
    Reserved,
    Rpc,
    Scalar,
    Service,
    Value,
    ValueKind,
    of_kind,
    simple_option,
)
from .scope import option_name

_T = TypeVar("_T")
_STEP: Final = "  "
_ESCAPED: Final = re.compile("[\\x00-\\x1f\\x7f\\\\'\"\udc80-\udcff]")
_ESCAPES: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
}


def print_file(file: ProtoFile) -> str:
    """The text of *file*; what it parses to again has the same text."""
    head = [f'syntax = "{file.syntax}";'] if file.syntax is not None else []
    if file.package:
        head.append(f"package {file.package};")
    types = [
        *_each(_message, of_kind(file.body, Message), ""),
        *_each(_enum, of_kind(file.body, Enum), ""),
    ]
    sections = [
        _imports(file),
        _each(_option_statement, of_kind(file.body, Option), ""),
        types,
        _each(_extend, of_kind(file.body, Extend), ""),
        _each(_service, of_kind(file.body, Service), ""),
    ]
    lines = head
    for section in sections:
        if section:
            lines += ["", *section]
    return "".join(f"{line}\n" for line in lines)


def _imports(file: ProtoFile) -> list[str]:
    return [
        f"import {f'{kind} ' if kind else ''}{quoted(used.path)};"
        for kind in ImportKind
        for used in file.imports
        if used.kind is kind
    ]


def _message(message: Message | Group, indent: str) -> list[str]:
    if isinstance(message, Group):
        label = "" if message.label is None else f"{message.label} "
        options = _options(message.options, indent)
        header = f"{label}group {message.name} = {message.number}{options}"
    else:
        header = f"message {message.name}"
    body, inner = message.body, indent + _STEP
    nested = [
        *_each(_message, of_kind(body, Message), inner),
        *_each(_enum, of_kind(body, Enum), inner),
    ]
    sections = [
        _each(_reserved, of_kind(body, Reserved), inner),
        _each(_option_statement, of_kind(body, Option), inner),
        _each(_field, of_kind(body, Field), inner),
        _each(_oneof, of_kind(body, Oneof), inner),
        _each(_message, of_kind(body, Group), inner),
        _each(_extensions, of_kind(body, Extensions), inner),
        _each(_extend, of_kind(body, Extend), inner),
        nested,
    ]
    return _block(header, sections, indent)


def _field(field: Field, indent: str) -> list[str]:
    label = "" if field.label is None else f"{field.label} "
    options = [*field.options]
    if field.default is not None:
        options.append(simple_option("default", field.default))
    if field.json_name is not None:
        options.append(simple_option("json_name", Scalar(ValueKind.STRING, field.json_name)))
    declared = f"{label}{field.type_text} {field.name} = {field.number}"
    return [f"{indent}{declared}{_options(options, indent)};"]


def _oneof(oneof: Oneof, indent: str) -> list[str]:
    inner = indent + _STEP
    sections = [
        _each(_option_statement, of_kind(oneof.body, Option), inner),
        _each(_field, of_kind(oneof.body, Field), inner),
        _each(_message, of_kind(oneof.body, Group), inner),
    ]
    return _block(f"oneof {oneof.name}", sections, indent)


def _extend(extend: Extend, indent: str) -> list[str]:
    inner = indent + _STEP
    fields = _each(_field, of_kind(extend.body, Field), inner)
    groups = _each(_message, of_kind(extend.body, Group), inner)
    return _block(f"extend {extend.name}", [fields, groups], indent)


def _extensions(extensions: Extensions, indent: str) -> list[str]:
    ranges = ", ".join(map(_numbers, extensions.ranges))
    return [f"{indent}extensions {ranges}{_options(extensions.options, indent)};"]


def _reserved(reserved: Reserved, indent: str) -> list[str]:
    values = (
        quoted(value) if isinstance(value, str) else _numbers(value) for value in reserved.values
    )
    return [f"{indent}reserved {', '.join(values)};"]


def _numbers(numbers: int | NumberRange) -> str:
    if not isinstance(numbers, NumberRange):
        return str(numbers)
    # Wire has one "max" for messages and enums.
    last = "max" if numbers.last >= FIELD_NUMBER_MAX else numbers.last
    return f"{numbers.first} to {last}"


def _enum(enum: Enum, indent: str) -> list[str]:
    inner = indent + _STEP
    section = [
        *_each(_reserved, of_kind(enum.body, Reserved), inner),
        *_each(_option_statement, of_kind(enum.body, Option), inner),
        *_each(_enum_value, of_kind(enum.body, EnumValue), inner),
    ]
    return _block(f"enum {enum.name}", [section], indent)


def _enum_value(value: EnumValue, indent: str) -> list[str]:
    return [f"{indent}{value.name} = {value.number}{_options(value.options, indent)};"]


def _service(service: Service, indent: str) -> list[str]:
    inner = indent + _STEP
    options = _each(_option_statement, of_kind(service.body, Option), inner)
    rpcs = _each(_rpc, of_kind(service.body, Rpc), inner)
    return _block(f"service {service.name}", [options, rpcs], indent)


def _rpc(rpc: Rpc, indent: str) -> list[str]:
    request = f"stream {rpc.request}" if rpc.request_streams else rpc.request
    response = f"stream {rpc.response}" if rpc.response_streams else rpc.response
    header = f"{indent}rpc {rpc.name} ({request}) returns ({response})"
    if not rpc.options:
        return [f"{header};"]
    options = _each(_option_statement, rpc.options, indent + _STEP)
    return [f"{header} {{", *options, f"{indent}}};"]


def _block(header: str, sections: Iterable[Sequence[str]], indent: str) -> list[str]:
    filled = [section for section in sections if section]
    if not filled:
        return [f"{indent}{header} {{}}"]
    lines = [f"{indent}{header} {{", *filled[0]]
    for section in filled[1:]:
        lines += [indent, *section]
    return [*lines, f"{indent}}}"]


def _each(
    lines_of: Callable[[_T, str], list[str]], members: Iterable[_T], indent: str
) -> list[str]:
    return [line for member in members for line in lines_of(member, indent)]


def _option_statement(option: Option, indent: str) -> list[str]:
    return [f"{indent}option {_option(option, indent)};"]


def _options(options: Sequence[Option], indent: str) -> str:
    """`` [a = 1]`` behind a field; nothing for none. *indent* is that of the field."""
    if not options:
        return ""
    if len(options) == 1:
        return f" [{_option(options[0], indent)}]"
    inner = indent + _STEP
    lines = ",\n".join(f"{inner}{_option(option, inner)}" for option in options)
    return f" [\n{lines}\n{indent}]"


def _option(option: Option, indent: str) -> str:
    return f"{option_name(option)} = {_value(option.value, indent)}"


def _value(value: Value, indent: str) -> str:
    inner = indent + _STEP
    if isinstance(value, Aggregate):
        entries = [f"{inner}{key}: {_value(one, inner)}" for key, one in value.entries]
        return _bracketed("{", entries, f"{indent}}}")
    if isinstance(value, ListValue):
        return _bracketed("[", [inner + _value(one, inner) for one in value.values], f"{indent}]")
    return quoted(value.text) if value.kind is ValueKind.STRING else value.text


def _bracketed(opening: str, entries: list[str], closing: str) -> str:
    lines = ",\n".join(entries)
    return f"{opening}\n{lines}\n{closing}" if entries else f"{opening}\n{closing}"


def quoted(text: str) -> str:
    """*text* in quotes, with the escapes that Confluent uses."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    simple = _ESCAPES.get(character)
    return f"\\{ord(character) & 0xFF:03o}" if simple is None else simple
