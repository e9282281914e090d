"""A FileDescriptorProto as a ``ProtoFile``: what clients without the text register.

Source: Confluent's ``ProtobufSchema.toProtoFile``, so that the text which is stored for one
descriptor is the same: names are fully qualified, maps stay messages that say ``map_entry``, and
options stand in its order. Groups stay groups here (Confluent's become plain fields, which cannot
read the same bytes), and options that it leaves out are kept.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from google.protobuf import descriptor_pb2 as pb
from google.protobuf.message import Message as AnyMessage

from ..contract import InvalidSchema
from .elements import (
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
    NumberRange,
    Oneof,
    ProtoFile,
    Reserved,
    Rpc,
    Scalar,
    Service,
    ValueKind,
)
from .lexer import TokenKind
from .option_values import OptionTexts
from .reader import NESTING_MAX, Reader

_FieldProto = pb.FieldDescriptorProto
_LABELS: Final = {
    _FieldProto.LABEL_OPTIONAL: Label.OPTIONAL,
    _FieldProto.LABEL_REQUIRED: Label.REQUIRED,
    _FieldProto.LABEL_REPEATED: Label.REPEATED,
}
_DEFAULT_KINDS: Final = {
    _FieldProto.TYPE_BOOL: ValueKind.BOOLEAN,
    _FieldProto.TYPE_STRING: ValueKind.STRING,
    _FieldProto.TYPE_BYTES: ValueKind.STRING,
    _FieldProto.TYPE_ENUM: ValueKind.IDENTIFIER,
}


def file_of(proto: pb.FileDescriptorProto, dependencies: Mapping[str, bytes]) -> ProtoFile:
    """The file that *proto* describes.

    *dependencies* are serialized descriptors by path, each after what it needs: they say what the
    extension fields in options are called; without them such options are left out, as Confluent
    does. Names are taken as they are: whoever makes text of the file parses it again.
    Raises InvalidSchema for editions, for strings that are no UTF-8 (proto2 lets them through, as
    bytes) and for a descriptor that no text describes.
    """
    if proto.syntax not in ("", "proto2", "proto3"):
        raise InvalidSchema(f"{proto.syntax} is not supported: use proto2 or proto3")
    if not _is_text(proto):
        raise InvalidSchema("a string of the descriptor is no UTF-8")
    return _FileReader(proto, OptionTexts(proto, dependencies)).file()


class _FileReader:
    def __init__(self, proto: pb.FileDescriptorProto, options: OptionTexts) -> None:
        self._proto = proto
        self._options = options

    def file(self) -> ProtoFile:
        proto = self._proto
        groups = self._groups(proto.extension, proto.message_type, depth=0)
        messages = (message for message in proto.message_type if message.name not in groups)
        return ProtoFile(
            syntax=proto.syntax or None,
            package=proto.package,
            imports=tuple(self._imports()),
            body=(
                *self._options.of(proto.options),
                *(self._message(message, depth=1) for message in messages),
                *(self._enum(enum) for enum in proto.enum_type),
                *self._extends(proto.extension, groups),
                *(self._service(service) for service in proto.service),
            ),
        )

    def _imports(self) -> Iterable[Import]:
        public, weak = set(self._proto.public_dependency), set(self._proto.weak_dependency)
        for index, path in enumerate(self._proto.dependency):
            kind = ImportKind.WEAK if index in weak else ImportKind.PLAIN
            yield Import(path=path, kind=ImportKind.PUBLIC if index in public else kind)

    def _message(self, proto: pb.DescriptorProto, *, depth: int) -> Message:
        return Message(name=proto.name, body=self._body(proto, depth=depth))

    def _body(self, proto: pb.DescriptorProto, *, depth: int) -> tuple[Member, ...]:
        if depth > NESTING_MAX:
            raise InvalidSchema(f"messages are nested more than {NESTING_MAX} deep")
        groups = self._groups([*proto.field, *proto.extension], proto.nested_type, depth=depth)
        messages = (message for message in proto.nested_type if message.name not in groups)
        return (
            *self._reserved(proto),
            *self._options.of(proto.options),
            *self._fields(proto, groups),
            *(self._extensions(extension) for extension in proto.extension_range),
            *self._extends(proto.extension, groups),
            *(self._message(message, depth=depth + 1) for message in messages),
            *(self._enum(enum) for enum in proto.enum_type),
        )

    def _groups(
        self,
        fields: Iterable[pb.FieldDescriptorProto],
        messages: Iterable[pb.DescriptorProto],
        *,
        depth: int,
    ) -> dict[str, tuple[Member, ...]]:
        """Bodies of those of *messages* that are groups of *fields*, by their names."""
        names = {_last(field.type_name) for field in fields if field.type == field.TYPE_GROUP}
        return {
            message.name: self._body(message, depth=depth + 1)
            for message in messages
            if message.name in names
        }

    def _fields(
        self, proto: pb.DescriptorProto, groups: Mapping[str, tuple[Member, ...]]
    ) -> Iterable[Field | Group | Oneof]:
        members: list[list[Field | Group]] = [[] for _ in proto.oneof_decl]
        for field in proto.field:
            if not field.HasField("oneof_index") or field.proto3_optional:
                yield self._field(field, self._label(field), groups)
            elif 0 <= field.oneof_index < len(members):
                members[field.oneof_index].append(self._field(field, None, groups))
            else:
                raise InvalidSchema(f"field {field.name!r} is in a oneof that is not declared")
        for oneof, body in zip(proto.oneof_decl, members, strict=True):
            if body:
                options = self._options.of(oneof.options)
                yield Oneof(name=oneof.name, body=(*options, *body))

    def _label(self, field: pb.FieldDescriptorProto) -> Label | None:
        label = _LABELS[field.label]
        if self._proto.syntax != "proto3" or field.proto3_optional:
            return label
        return label if label is Label.REPEATED else None

    def _field(
        self,
        field: pb.FieldDescriptorProto,
        label: Label | None,
        groups: Mapping[str, tuple[Member, ...]],
    ) -> Field | Group:
        options = self._options.of(field.options)
        if field.type == field.TYPE_GROUP and _last(field.type_name) in groups:
            name = _last(field.type_name)
            return Group(
                label=label, name=name, number=field.number, options=options, body=groups[name]
            )
        return Field(
            label=label,
            type=field.type_name or _FieldProto.Type.Name(field.type)[len("TYPE_") :].lower(),
            name=field.name,
            number=field.number,
            default=self._default(field),
            json_name=field.json_name if field.HasField("json_name") else None,
            options=options,
        )

    def _default(self, field: pb.FieldDescriptorProto) -> Scalar | None:
        if self._proto.syntax == "proto3" or not field.HasField("default_value"):
            return None
        kind = _DEFAULT_KINDS.get(field.type, ValueKind.NUMBER)
        text = field.default_value
        if field.type == field.TYPE_BYTES:  # the descriptor holds it in C's escapes
            return Scalar(kind, unescaped(text))
        if kind is ValueKind.NUMBER and text in ("inf", "nan"):
            kind = ValueKind.IDENTIFIER
        return Scalar(kind, text)

    def _reserved(self, proto: pb.DescriptorProto) -> Iterable[Reserved]:
        for taken in proto.reserved_range:  # the end of a message's range is exclusive
            yield Reserved(values=(_range(taken.start, taken.end - 1),))
        for name in proto.reserved_name:
            yield Reserved(values=(name,))

    def _extensions(self, proto: pb.DescriptorProto.ExtensionRange) -> Extensions:
        return Extensions(
            ranges=(_range(proto.start, proto.end - 1),), options=self._options.of(proto.options)
        )

    def _extends(
        self,
        fields: Iterable[pb.FieldDescriptorProto],
        groups: Mapping[str, tuple[Member, ...]],
    ) -> Iterable[Extend]:
        by_extendee: dict[str, list[Field | Group]] = {}
        for field in fields:
            body = by_extendee.setdefault(field.extendee, [])
            body.append(self._field(field, self._label(field), groups))
        return (Extend(name=name, body=tuple(body)) for name, body in by_extendee.items())

    def _enum(self, proto: pb.EnumDescriptorProto) -> Enum:
        values = (
            EnumValue(
                name=value.name,
                number=value.number,
                options=self._options.of(value.options),
            )
            for value in proto.value
        )
        # The end of an enum's range is inclusive.
        ranges = (Reserved(values=(_range(r.start, r.end),)) for r in proto.reserved_range)
        names = (Reserved(values=(name,)) for name in proto.reserved_name)
        options = self._options.of(proto.options)
        return Enum(name=proto.name, body=(*ranges, *names, *options, *values))

    def _service(self, proto: pb.ServiceDescriptorProto) -> Service:
        rpcs = (
            Rpc(
                name=method.name,
                request=method.input_type,
                request_streams=method.client_streaming,
                response=method.output_type,
                response_streams=method.server_streaming,
                options=self._options.of(method.options),
            )
            for method in proto.method
        )
        return Service(name=proto.name, body=(*self._options.of(proto.options), *rpcs))


def unescaped(text: str) -> str:
    """What a default of bytes stands for, as ``elements`` hold it.

    Raises InvalidSchema when it is not in C's escapes.
    """
    reader = Reader(f'"{text}"')
    value = reader.string("a default of bytes", may_be_bytes=True)
    if reader.kind is not TokenKind.END:
        raise InvalidSchema(f"default of bytes is not escaped: {text!r}")
    return value


def _is_text(message: AnyMessage) -> bool:
    """Whether every string in *message* is one; parsing has bounded the depth."""
    for field, value in message.ListFields():
        values = value if field.is_repeated else (value,)
        if field.type == field.TYPE_STRING:
            is_text = not any(isinstance(one, bytes) for one in values)
        else:
            is_text = field.type != field.TYPE_MESSAGE or all(map(_is_text, values))
        if not is_text:
            return False
    return True


def _range(first: int, last: int) -> int | NumberRange:
    return first if first == last else NumberRange(first, last)


def _last(name: str) -> str:
    return name.rpartition(".")[2]
