"""Text of a ``.proto`` file to ``elements``, proto2 and proto3, by recursive descent.

Source: "Protocol Buffers Version 2/3 Language Specification", protoc's parser where the two
differ. It says what the grammar says and nothing about names: ``rules.py`` does that.

Editions are refused: Wire, whose layout the stored text has, does not know them either.
"""

from collections.abc import Callable
from typing import Final, NoReturn

from .elements import (
    ENUM_NUMBER_MAX,
    FIELD_NUMBER_MAX,
    Enum,
    EnumValue,
    Extend,
    Extensions,
    Field,
    Group,
    Import,
    ImportKind,
    Label,
    Member,
    Message,
    NamePart,
    NumberRange,
    Oneof,
    Option,
    ProtoFile,
    Reserved,
    Rpc,
    Scalar,
    Service,
    ValueKind,
)
from .lexer import TokenKind
from .option_parser import read_bracketed_options, read_option_statement
from .reader import Reader, is_text

INTEGER_TYPES: Final = frozenset(
    f"{kind}{bits}" for kind in ("int", "uint", "sint", "fixed", "sfixed") for bits in (32, 64)
)
SCALAR_TYPES: Final = INTEGER_TYPES | {"float", "double", "bool", "string", "bytes"}
MAP_KEY_TYPES: Final = INTEGER_TYPES | {"bool", "string"}
_LABELS: Final = frozenset(Label)


def parse_file(text: str) -> ProtoFile:
    """The file that *text* is. Raises InvalidSchema with line and column."""
    return _FileParser(text).file()


class _FileParser:
    def __init__(self, text: str) -> None:
        self._reader = Reader(text)
        self._syntax: str | None = None
        self._package: str | None = None
        self._imports: list[Import] = []
        self._statements: dict[str, Callable[[], Message | Enum | Extend | Service | Option]] = {
            "message": self._message,
            "enum": self._enum,
            "extend": self._extend,
            "service": self._service,
            "option": lambda: read_option_statement(self._reader),
        }

    def file(self) -> ProtoFile:
        reader = self._reader
        if reader.looks_at("syntax") or reader.looks_at("edition"):
            self._read_syntax()
        body: list[Message | Enum | Extend | Service | Option] = []
        while reader.kind is not TokenKind.END:
            if reader.accept(";"):
                continue
            if reader.looks_at("import"):
                self._imports.append(self._import())
            elif reader.looks_at("package"):
                self._read_package()
            elif reader.text in self._statements:
                body.append(self._statements[reader.text]())
            else:
                self._fail_at_top()
        return ProtoFile(
            syntax=self._syntax,
            package=self._package or "",
            imports=tuple(self._imports),
            body=tuple(body),
        )

    def _fail_at_top(self) -> NoReturn:
        reader = self._reader
        if reader.looks_at("syntax"):
            reader.fail("'syntax' must be the first statement of the file")
        reader.fail(
            "expected a statement (message, enum, extend, service, option, import or package), "
            f"found {reader.found()}"
        )

    def _read_syntax(self) -> None:
        reader, at = self._reader, self._reader.at
        word = reader.take()
        reader.expect("=")
        value = reader.string(word)
        if word == "edition":
            reader.fail(f"editions are not supported ({value!r}): use proto2 or proto3", at=at)
        if value not in ("proto2", "proto3"):
            reader.fail(f"unknown syntax {value!r}: it is 'proto2' or 'proto3'", at=at)
        reader.expect(";")
        self._syntax = value

    def _read_package(self) -> None:
        reader = self._reader
        if self._package is not None:
            reader.fail("a file has one package")
        reader.expect("package")
        self._package = reader.full_name("a package's name")
        reader.expect(";")

    def _import(self) -> Import:
        reader, at = self._reader, self._reader.at
        reader.expect("import")
        kind = ImportKind.PLAIN
        if reader.text in (ImportKind.PUBLIC, ImportKind.WEAK):
            kind = ImportKind(reader.take())
        path = reader.string("a path")
        reader.expect(";")
        return Import(path=path, kind=kind, at=at)

    # Messages

    def _message(self) -> Message:
        at = self._reader.at
        self._reader.expect("message")
        name = self._reader.identifier("a message's name")
        return Message(name=name, body=self._message_body(), at=at)

    def _message_body(self) -> tuple[Member, ...]:
        reader = self._reader
        members: dict[str, Callable[[], Member]] = {
            "message": self._message,
            "enum": self._enum,
            "extend": self._extend,
            "oneof": self._oneof,
            "extensions": self._extensions,
            "reserved": lambda: self._reserved(FIELD_NUMBER_MAX, least=0),
            "option": lambda: read_option_statement(reader),
        }
        body: list[Member] = []
        reader.expect("{")
        with reader.nested():
            while not reader.accept("}"):
                if not reader.accept(";"):
                    body.append(members.get(reader.text, self._field)())
        return tuple(body)

    def _oneof(self) -> Oneof:
        reader, at = self._reader, self._reader.at
        reader.expect("oneof")
        name = reader.identifier("a oneof's name")
        body: list[Field | Group | Option] = []
        reader.expect("{")
        while not reader.accept("}"):
            if reader.accept(";"):
                continue
            if reader.looks_at("option"):
                body.append(read_option_statement(reader))
            elif reader.text in _LABELS:
                reader.fail(f"fields of a oneof have no label, found {reader.text!r}")
            else:
                body.append(self._labelled(None, at=reader.at, may_be_map=False))
        return Oneof(name=name, body=tuple(body), at=at)

    def _extend(self) -> Extend:
        reader, at = self._reader, self._reader.at
        reader.expect("extend")
        name = reader.full_name("the extended message", may_lead_with_dot=True)
        body: list[Field | Group] = []
        reader.expect("{")
        while not reader.accept("}"):
            if not reader.accept(";"):
                body.append(self._field(may_be_map=False))
        return Extend(name=name, body=tuple(body), at=at)

    def _field(self, *, may_be_map: bool = True) -> Field | Group:
        reader, at = self._reader, self._reader.at
        if reader.text in _LABELS:
            if self._syntax == "proto3" and reader.text == Label.REQUIRED:
                reader.fail("proto3 has no required fields")
            return self._labelled(Label(reader.take()), at=at, may_be_map=False)
        if self._syntax != "proto3" and not reader.looks_at("map"):
            reader.fail(f"expected 'required', 'optional' or 'repeated', found {reader.found()}")
        return self._labelled(None, at=at, may_be_map=may_be_map)

    def _labelled(self, label: Label | None, *, at: int, may_be_map: bool) -> Field | Group:
        reader = self._reader
        type_at = reader.at
        type_name = reader.full_name("a field's type", may_lead_with_dot=True)
        if type_name == "group":
            return self._group(label, at=at)
        map_key = None
        if type_name == "map" and reader.accept("<"):
            if not may_be_map:
                reader.fail("a map has no label and stands neither in oneof nor in extend", at=at)
            map_key, type_name = self._map_types()
        elif type_name == "map" and label is None and self._syntax != "proto3":
            reader.fail("expected 'required', 'optional' or 'repeated', found 'map'", at=type_at)
        name = reader.identifier("a field's name")
        reader.expect("=")
        number = self._field_number()
        default, json_name, options = _split(reader, read_bracketed_options(reader))
        reader.expect(";")
        return Field(
            label=label,
            type=type_name,
            map_key=map_key,
            name=name,
            number=number,
            default=default,
            json_name=json_name,
            options=options,
            at=at,
        )

    def _map_types(self) -> tuple[str, str]:
        reader = self._reader
        if reader.text not in MAP_KEY_TYPES:
            reader.fail(f"keys of a map are integers, bool or string, found {reader.found()}")
        key = reader.take()
        reader.expect(",")
        value = reader.full_name("the type of a map's values", may_lead_with_dot=True)
        reader.expect(">")
        return key, value

    def _group(self, label: Label | None, *, at: int) -> Group:
        reader = self._reader
        if self._syntax == "proto3":
            reader.fail("proto3 has no groups", at=at)
        name_at = reader.at
        name = reader.identifier("a group's name")
        if not name[0].isupper():
            reader.fail("a group's name begins with a capital letter", at=name_at)
        reader.expect("=")
        number = self._field_number()
        options = read_bracketed_options(reader)
        return Group(
            label=label, name=name, number=number, options=options, body=self._message_body(), at=at
        )

    def _field_number(self) -> int:
        # What is too large or reserved is for rules.py: what is stored must still load.
        return self._reader.integer("a field's number", most=ENUM_NUMBER_MAX)

    def _extensions(self) -> Extensions:
        reader, at = self._reader, self._reader.at
        reader.expect("extensions")
        ranges = [self._number_or_range(FIELD_NUMBER_MAX, least=0)]
        while reader.accept(","):
            ranges.append(self._number_or_range(FIELD_NUMBER_MAX, least=0))
        options = read_bracketed_options(reader)
        reader.expect(";")
        return Extensions(ranges=tuple(ranges), options=options, at=at)

    def _reserved(self, most: int, *, least: int) -> Reserved:
        reader, at = self._reader, self._reader.at
        reader.expect("reserved")
        values = [self._reserved_value(most, least)]
        while reader.accept(","):
            values.append(self._reserved_value(most, least))
        reader.expect(";")
        return Reserved(values=tuple(values), at=at)

    def _reserved_value(self, most: int, least: int) -> int | NumberRange | str:
        if self._reader.kind is TokenKind.STRING:
            return self._reader.string("a reserved name")
        return self._number_or_range(most, least=least)

    def _number_or_range(self, most: int, *, least: int) -> int | NumberRange:
        reader = self._reader
        first = reader.integer("a number", most=ENUM_NUMBER_MAX, least=least)
        if not reader.accept("to"):
            return first
        if reader.accept("max"):
            return NumberRange(first, most)
        return NumberRange(first, reader.integer("a number", most=ENUM_NUMBER_MAX, least=least))

    # Enums and services

    def _enum(self) -> Enum:
        reader, at = self._reader, self._reader.at
        reader.expect("enum")
        name = reader.identifier("an enum's name")
        body: list[EnumValue | Reserved | Option] = []
        reader.expect("{")
        while not reader.accept("}"):
            if reader.accept(";"):
                continue
            if reader.looks_at("option"):
                body.append(read_option_statement(reader))
            elif reader.looks_at("reserved"):
                body.append(self._reserved(ENUM_NUMBER_MAX, least=-ENUM_NUMBER_MAX - 1))
            else:
                body.append(self._enum_value())
        return Enum(name=name, body=tuple(body), at=at)

    def _enum_value(self) -> EnumValue:
        reader, at = self._reader, self._reader.at
        name = reader.identifier("a value's name")
        reader.expect("=")
        number = reader.integer("a number", most=ENUM_NUMBER_MAX, least=-ENUM_NUMBER_MAX - 1)
        options = read_bracketed_options(reader)
        reader.expect(";")
        return EnumValue(name=name, number=number, options=options, at=at)

    def _service(self) -> Service:
        reader, at = self._reader, self._reader.at
        reader.expect("service")
        name = reader.identifier("a service's name")
        body: list[Rpc | Option] = []
        reader.expect("{")
        while not reader.accept("}"):
            if reader.accept(";"):
                continue
            if reader.looks_at("option"):
                body.append(read_option_statement(reader))
            else:
                body.append(self._rpc())
        return Service(name=name, body=tuple(body), at=at)

    def _rpc(self) -> Rpc:
        reader, at = self._reader, self._reader.at
        reader.expect("rpc")
        name = reader.identifier("a call's name")
        request, request_streams = self._rpc_type()
        reader.expect("returns")
        response, response_streams = self._rpc_type()
        options: list[Option] = []
        if reader.accept("{"):
            while not reader.accept("}"):
                if not reader.accept(";"):
                    options.append(read_option_statement(reader))
        else:
            reader.expect(";")
        return Rpc(
            name=name,
            request=request,
            request_streams=request_streams,
            response=response,
            response_streams=response_streams,
            options=tuple(options),
            at=at,
        )

    def _rpc_type(self) -> tuple[str, bool]:
        reader = self._reader
        reader.expect("(")
        streams = reader.accept("stream")
        name = reader.full_name("a message's name", may_lead_with_dot=True)
        reader.expect(")")
        return name, streams


def _split(
    reader: Reader, options: tuple[Option, ...]
) -> tuple[Scalar | None, str | None, tuple[Option, ...]]:
    """``default`` and ``json_name``, which are no options of the descriptor, and the others."""
    default: Scalar | None = None
    json_name: str | None = None
    others = []
    for option in options:
        if option.name == (NamePart("default"),):
            if default is not None or not isinstance(option.value, Scalar):
                reader.fail("a field has one default, a scalar", at=option.at)
            default = option.value
        elif option.name == (NamePart("json_name"),):
            value = option.value
            if json_name is not None or not isinstance(value, Scalar):
                reader.fail("a field has one json_name, a string", at=option.at)
            if value.kind is not ValueKind.STRING or not is_text(value.text):
                reader.fail("json_name is a string of UTF-8", at=option.at)
            json_name = value.text
        else:
            others.append(option)
    return default, json_name, tuple(others)
