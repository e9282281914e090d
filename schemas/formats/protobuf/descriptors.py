"""``elements`` as a FileDescriptorProto: what protoc makes of the same file.

Equal to protoc's for every file that protoc accepts, with two differences that Confluent's
registry has as well: ``json_name`` is set where it is written (protoc's descriptor sets give one to
each field), and ``syntax`` where it is written. A name that resolves to nothing stays as it is
written, so that what the registry once accepted still has a descriptor.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from google.protobuf import descriptor_pb2 as pb
from google.protobuf import descriptor_pool, text_encoding

from ..contract import InvalidSchema
from .elements import (
    Enum,
    EnumValue,
    Extend,
    Extensions,
    Field,
    Group,
    ImportKind,
    Label,
    Member,
    Message,
    NumberRange,
    Oneof,
    Option,
    ProtoFile,
    Reserved,
    Rpc,
    Scalar,
    Service,
    ValueKind,
    of_kind,
)
from .known import is_google, known_descriptor, known_file
from .link import used_types
from .numerals import double_text, float_text
from .option_protos import decimal_text, set_custom, set_standard
from .parser import SCALAR_TYPES
from .scope import MAIN, Scope, field_name, joined

DEFAULT_FILE_NAME: Final = "default"
"""What Confluent calls the schema itself, which has no path."""

_FieldProto = pb.FieldDescriptorProto
_LABELS: Final = {
    None: _FieldProto.LABEL_OPTIONAL,
    Label.OPTIONAL: _FieldProto.LABEL_OPTIONAL,
    Label.REQUIRED: _FieldProto.LABEL_REQUIRED,
    Label.REPEATED: _FieldProto.LABEL_REPEATED,
}
_SCALARS: Final = {name: _FieldProto.Type.Value(f"TYPE_{name.upper()}") for name in SCALAR_TYPES}


def file_descriptor(scope: Scope, path: str = MAIN) -> pb.FileDescriptorProto:
    """The descriptor of the file at *path*, one of ``scope.files``; MAIN's is called "default"."""
    builder = _Builder(scope, path)
    if builder.custom_options:
        builder.interpret(descriptor_pool_of(scope, path))
    return builder.proto


def descriptor_pool_of(scope: Scope, last: str = MAIN) -> descriptor_pool.DescriptorPool | None:
    """A pool with the files of *scope* up to *last*; None when it refuses one of them."""
    try:
        return filled_pool(scope, last)
    except InvalidSchema:
        return None


def filled_pool(scope: Scope, last: str = MAIN) -> descriptor_pool.DescriptorPool:
    """A pool with the files of *scope* up to *last*, custom options uninterpreted.

    Raises InvalidSchema with the pool's own words when it refuses one of them.
    """
    pool = descriptor_pool.DescriptorPool()
    for path in scope.files:
        proto = plain_descriptor(scope, path)
        try:
            pool.AddSerializedFile(proto.SerializeToString())
        except TypeError as error:
            raise InvalidSchema(f"no valid file: {error}") from error
        if path == last:
            break
    return pool


def plain_descriptor(scope: Scope, path: str) -> pb.FileDescriptorProto:
    """The descriptor of the file at *path* with its custom options uninterpreted."""
    if is_google(path) and scope.files[path] is known_file(path):
        return known_descriptor(path)
    builder = _Builder(scope, path)
    builder.interpret(None)
    return builder.proto


class _Builder:
    def __init__(self, scope: Scope, path: str) -> None:
        self._scope = scope
        self._file = file = scope.files[path]
        self.proto = pb.FileDescriptorProto(name=path or DEFAULT_FILE_NAME, package=file.package)
        if not file.package:
            self.proto.ClearField("package")
        self.custom_options: list[tuple[Any, list[Option], str]] = []
        if file.syntax is not None:
            self.proto.syntax = file.syntax
        self._add_imports(path)
        self._add_body()

    def interpret(self, pool: descriptor_pool.DescriptorPool | None) -> None:
        """Set the custom options by what *pool* knows."""
        for target, options, inside in self.custom_options:
            set_custom(target, options, self._scope, inside, pool)

    def _add_imports(self, path: str) -> None:
        proto = self.proto
        by_path = {used.path: used for used in reversed(self._file.imports)}
        there = (by_path.pop(used.path, None) for used in self._file.imports)
        used_files = [used for used in there if used is not None and used.path in self._scope.files]
        for index, used in enumerate(used_files):
            proto.dependency.append(used.path)
            if used.kind is ImportKind.PUBLIC:
                proto.public_dependency.append(index)
            elif used.kind is ImportKind.WEAK:
                proto.weak_dependency.append(index)
        visible = _visible(self._scope, self._file)
        for name, inside in used_types(self._file):  # known types may be named without an import
            found = self._scope.resolve(name, inside)
            if found is not None and found.path != path and found.path not in visible:
                visible.add(found.path)
                proto.dependency.append(found.path)

    def _add_body(self) -> None:
        file, package = self._file, self._file.package
        for member in file.body:
            if isinstance(member, Message):
                self._fill(
                    self.proto.message_type.add(name=member.name),
                    member.body,
                    joined(package, member.name),
                )
            elif isinstance(member, Enum):
                self._fill_enum(self.proto.enum_type.add(), member, joined(package, member.name))
            elif isinstance(member, Extend):
                self._extend(self.proto.extension, self.proto.message_type, member, package)
            elif isinstance(member, Service):
                self._fill_service(self.proto.service.add(), member, joined(package, member.name))
        self._set_options(self.proto, of_kind(file.body, Option), package)

    def _set_options(self, owner: Any, options: Iterable[Option], inside: str) -> None:
        options = list(options)
        if not options:
            return
        owner.options.SetInParent()
        custom = set_standard(owner.options, options, self._scope, inside)
        if custom:
            self.custom_options.append((owner.options, custom, inside))

    # Messages

    def _fill(self, proto: pb.DescriptorProto, body: Iterable[Member], name: str) -> None:
        for member in body:
            if isinstance(member, Message):
                self._fill(
                    proto.nested_type.add(name=member.name), member.body, joined(name, member.name)
                )
            elif isinstance(member, Enum):
                self._fill_enum(proto.enum_type.add(), member, joined(name, member.name))
            elif isinstance(member, Field | Group):
                self._add_field(proto, member, name)
            elif isinstance(member, Oneof):
                self._add_oneof(proto, member, name)
            elif isinstance(member, Extend):
                self._extend(proto.extension, proto.nested_type, member, name)
            elif isinstance(member, Extensions):
                self._add_extension_ranges(proto, member, name)
            elif isinstance(member, Reserved):
                _add_reserved(proto, member, end_is_exclusive=True)
        self._set_options(proto, (m for m in body if isinstance(m, Option)), name)
        _add_synthetic_oneofs(proto)

    def _add_field(
        self, proto: pb.DescriptorProto, field: Field | Group, inside: str
    ) -> pb.FieldDescriptorProto:
        added = proto.field.add()
        self._fill_field(added, field, inside, proto.nested_type)
        return added

    def _add_oneof(self, proto: pb.DescriptorProto, oneof: Oneof, inside: str) -> None:
        index = len(proto.oneof_decl)
        declared = proto.oneof_decl.add(name=oneof.name)
        for field in oneof.body:
            if isinstance(field, Field | Group):
                self._add_field(proto, field, inside).oneof_index = index
        self._set_options(declared, of_kind(oneof.body, Option), joined(inside, oneof.name))

    def _extend(self, extensions: Any, messages: Any, extend: Extend, inside: str) -> None:
        for field in extend.body:
            added = extensions.add()
            self._fill_field(added, field, inside, messages)
            found = self._scope.resolve(extend.name, inside)
            added.extendee = extend.name if found is None else f".{found.full_name}"

    def _fill_field(
        self, proto: pb.FieldDescriptorProto, field: Field | Group, inside: str, messages: Any
    ) -> None:
        proto.name = field_name(field)
        proto.number = field.number
        proto.label = _LABELS[field.label]
        if field.label is Label.OPTIONAL and self._file.is_proto3:
            proto.proto3_optional = True
        if isinstance(field, Group):
            proto.type, proto.type_name = proto.TYPE_GROUP, f".{joined(inside, field.name)}"
            self._fill(messages.add(name=field.name), field.body, joined(inside, field.name))
        elif field.map_key is not None:
            self._fill_map(proto, field, inside, messages)
        else:
            self._set_type(proto, field.type, inside)
            if field.default is not None:
                proto.default_value = default_text(proto.type, field.default)
        if isinstance(field, Field) and field.json_name is not None:
            proto.json_name = field.json_name
        self._set_options(proto, field.options, inside)

    def _set_type(self, proto: pb.FieldDescriptorProto, name: str, inside: str) -> None:
        if name in _SCALARS:
            proto.type = _SCALARS[name]
            return
        found = self._scope.resolve(name, inside)
        if found is None:
            proto.type_name = name
            return
        is_enum = isinstance(found.element, Enum)
        proto.type = proto.TYPE_ENUM if is_enum else proto.TYPE_MESSAGE
        proto.type_name = f".{found.full_name}"

    def _fill_map(
        self, proto: pb.FieldDescriptorProto, field: Field, inside: str, messages: Any
    ) -> None:
        name = map_entry_name(field.name)
        proto.label, proto.type = proto.LABEL_REPEATED, proto.TYPE_MESSAGE
        proto.type_name = f".{joined(inside, name)}"
        entry = messages.add(name=name)
        entry.options.map_entry = True
        assert field.map_key is not None
        for number, (part, type_name) in enumerate(
            (("key", field.map_key), ("value", field.type)), start=1
        ):
            added = entry.field.add(name=part, number=number, label=proto.LABEL_OPTIONAL)
            self._set_type(added, type_name, inside)

    def _add_extension_ranges(
        self, proto: pb.DescriptorProto, extensions: Extensions, inside: str
    ) -> None:
        for numbers in extensions.ranges:
            first, last = ends(numbers)
            added = proto.extension_range.add(start=first, end=last + 1)
            self._set_options(added, extensions.options, inside)

    # Enums and services

    def _fill_enum(self, proto: pb.EnumDescriptorProto, enum: Enum, name: str) -> None:
        proto.name = enum.name
        for value in of_kind(enum.body, EnumValue):
            added = proto.value.add(name=value.name, number=value.number)
            self._set_options(added, value.options, name)
        for reserved in of_kind(enum.body, Reserved):
            _add_reserved(proto, reserved, end_is_exclusive=False)
        self._set_options(proto, of_kind(enum.body, Option), name)

    def _fill_service(self, proto: pb.ServiceDescriptorProto, service: Service, name: str) -> None:
        proto.name = service.name
        for rpc in of_kind(service.body, Rpc):
            added = proto.method.add(
                name=rpc.name,
                input_type=self._message_name(rpc.request, name),
                output_type=self._message_name(rpc.response, name),
            )
            if rpc.request_streams:
                added.client_streaming = True
            if rpc.response_streams:
                added.server_streaming = True
            self._set_options(added, rpc.options, joined(name, rpc.name))
        self._set_options(proto, of_kind(service.body, Option), name)

    def _message_name(self, name: str, inside: str) -> str:
        found = self._scope.resolve(name, inside)
        return name if found is None else f".{found.full_name}"


def default_text(field_type: pb.FieldDescriptorProto.Type.ValueType, value: Scalar) -> str:
    """*value* as a descriptor holds the default of a field of *field_type*."""
    text = value.text
    if field_type == _FieldProto.TYPE_BYTES:
        return text_encoding.CEscape(text.encode("utf-8", "surrogateescape"), as_utf8=False)
    if value.kind is ValueKind.STRING:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    to_text: Callable[[float], str] | None = {
        _FieldProto.TYPE_FLOAT: float_text,
        _FieldProto.TYPE_DOUBLE: double_text,
    }.get(field_type)
    decimal = decimal_text(text)
    if to_text is None:
        return decimal
    try:
        return to_text(float(decimal))
    except ValueError:
        return decimal


def map_entry_name(name: str) -> str:
    """What protoc calls the message that holds one entry of the map field *name*."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) + "Entry"


def json_name_of(name: str) -> str:
    """The name of a field in JSON when the file gives it none."""
    first, *others = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in others)


def ends(numbers: int | NumberRange) -> tuple[int, int]:
    """First and last of *numbers*."""
    if isinstance(numbers, NumberRange):
        return numbers.first, numbers.last
    return numbers, numbers


def _add_reserved(proto: Any, reserved: Reserved, *, end_is_exclusive: bool) -> None:
    for value in reserved.values:
        if isinstance(value, str):
            proto.reserved_name.append(value)
        else:
            first, last = ends(value)
            proto.reserved_range.add(start=first, end=last + 1 if end_is_exclusive else last)


def _add_synthetic_oneofs(proto: pb.DescriptorProto) -> None:
    """proto3's ``optional`` is a oneof of one field, behind all others (field_presence.md)."""
    taken = {field.name for field in proto.field} | {oneof.name for oneof in proto.oneof_decl}
    for field in proto.field:
        if field.proto3_optional:
            name = field.name if field.name.startswith("_") else f"_{field.name}"
            while name in taken:
                name = f"X{name}"
            taken.add(name)
            field.oneof_index = len(proto.oneof_decl)
            proto.oneof_decl.add(name=name)


def _visible(scope: Scope, file: ProtoFile) -> set[str]:
    """The files that *file* imports, with what those import publicly."""
    visible: set[str] = set()
    waiting = [used.path for used in file.imports]
    while waiting:
        path = waiting.pop()
        if path in visible or path not in scope.files:
            continue
        visible.add(path)
        waiting += [u.path for u in scope.files[path].imports if u.kind is ImportKind.PUBLIC]
    return visible
