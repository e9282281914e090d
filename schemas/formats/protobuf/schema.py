"""The Protobuf format: text or descriptor in, a schema out that knows its forms.

Text that is no ``.proto`` file is tried as the base64 of a FileDescriptorProto, which is what
clients without a file register (confluent-kafka's serializer for one).
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NoReturn, final

from google.protobuf import descriptor_pb2 as pb
from google.protobuf import descriptor_pool
from google.protobuf.message import DecodeError

from ...model import SchemaFormat
from ..contract import Incompatibility, InvalidSchema, ParsedSchema
from .compatibility import incompatibilities
from .descriptors import file_descriptor, filled_pool, plain_descriptor
from .elements import Enum, Import, Message, ProtoFile, of_kind
from .from_descriptor import file_of
from .indexes import message_indexes, message_name
from .known import KNOWN_PATHS
from .lexer import place_in
from .link import link
from .normalize import normalized_file, without_extensions
from .parser import parse_file
from .printer import print_file
from .rules import check_file
from .scope import MAIN, Scope, joined

SERIALIZED = "serialized"
IGNORE_EXTENSIONS = "ignore_extensions"
_WITH_EXTENSIONS = ("confluent/meta.proto", "google/protobuf/descriptor.proto")
"""What Confluent's registry reads in options without an import, and what everybody extends."""


@final
class ProtobufSchema:
    """One schema with all files that it uses. Immutable; forms are made when first asked for."""

    format = SchemaFormat.PROTOBUF

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    @property
    def file(self) -> ProtoFile:
        """What was written."""
        return self._scope.files[MAIN]

    @property
    def scope(self) -> Scope:
        """The names that it can use."""
        return self._scope

    @cached_property
    def canonical(self) -> str:
        """The text in Wire's layout, without comments."""
        return print_file(self.file)

    @cached_property
    def name(self) -> str | None:
        """Full name of the first message, else of the first enum; None without either."""
        types: list[Message] | list[Enum] = of_kind(self.file.body, Message)
        types = types or of_kind(self.file.body, Enum)
        return joined(self.file.package, types[0].name) if types else None

    def normalized(self) -> "ProtobufSchema":
        """The same schema by number and with full names."""
        file = normalized_file(self._scope)
        return ProtobufSchema(Scope({**self._scope.files, MAIN: file}))

    def rendered(self, format: str) -> str:  # noqa: A002 - the query parameter's name
        """The descriptor in base64 for "serialized", the text without extensions for that."""
        if format == SERIALIZED:
            return base64.b64encode(self.descriptor.SerializeToString()).decode("ascii")
        if format == IGNORE_EXTENSIONS:
            return print_file(without_extensions(self.file))
        return self.canonical

    @cached_property
    def descriptor(self) -> pb.FileDescriptorProto:
        """The descriptor, called "default"; whoever changes it copies it first."""
        return file_descriptor(self._scope)

    @cached_property
    def pool(self) -> descriptor_pool.DescriptorPool:
        """A pool of its own with the schema and all files that it uses.

        Raises InvalidSchema when a stored schema has no valid descriptor.
        """
        return filled_pool(self._scope)

    def message_indexes(self, full_name: str) -> tuple[int, ...]:
        """The path of a message by indexes. Raises NoSuchMessage."""
        return message_indexes(self.file, full_name)

    def message_name(self, indexes: Sequence[int]) -> str:
        """The full name of the message at *indexes*. Raises NoSuchMessage."""
        return message_name(self.file, indexes)


@final
class ProtobufFormat:
    """``Format`` for Protobuf."""

    def parse(
        self, text: str, references: Mapping[str, str], *, is_new: bool = False
    ) -> ProtobufSchema:
        """*text* understood; *references* are files by the paths that imports say.

        A new schema is held to protoc's rules as well; what is stored need only be a file.
        Raises InvalidSchema, with line and column where *text* is a file.
        """
        used: dict[str, ProtoFile] = {}
        for path, reference in references.items():
            used[path] = _referenced_file(path, reference, used)
        file, offsets_of = _file_and_text(text, used)
        scope = link(file, used)
        if is_new:
            _check(scope, offsets_of)
        return ProtobufSchema(scope)

    def incompatibilities(
        self, *, reader: ParsedSchema, writer: ParsedSchema, lenient: bool = False
    ) -> list[Incompatibility]:
        """Why *reader* cannot read data of *writer*; *lenient* changes nothing here."""
        del lenient  # JSON Schema's
        assert isinstance(reader, ProtobufSchema)
        assert isinstance(writer, ProtobufSchema)
        return incompatibilities(reader.scope, writer.scope)


def _referenced_file(path: str, text: str, used: Mapping[str, ProtoFile]) -> ProtoFile:
    try:
        return _file_and_text(text, used)[0]
    except InvalidSchema as error:
        raise InvalidSchema(f"reference {path!r}: {error.reason}", place=error.place) from error


def _file_and_text(text: str, used: Mapping[str, ProtoFile]) -> tuple[ProtoFile, str]:
    """The file, and the text that its elements' offsets are in."""
    try:
        return parse_file(text), text
    except InvalidSchema:
        proto = _decoded(text)
        if proto is None:
            raise
    # The descriptor's names are a stranger's: they count as what the text with them says.
    canonical = print_file(file_of(proto, _dependencies(proto, used)))
    return parse_file(canonical), canonical


def _decoded(text: str) -> pb.FileDescriptorProto | None:
    try:
        proto = pb.FileDescriptorProto.FromString(base64.b64decode(text.strip(), validate=True))
    except (binascii.Error, ValueError, DecodeError):
        return None
    # Almost any bytes are some message: a file says at least one of these.
    says_something = proto.message_type or proto.enum_type or proto.service or proto.extension
    return proto if says_something or proto.syntax or proto.package else None


def _dependencies(proto: pb.FileDescriptorProto, used: Mapping[str, ProtoFile]) -> dict[str, bytes]:
    """Descriptors of everything that may name the extensions in the options of *proto*."""
    paths = [*_WITH_EXTENSIONS, *(path for path in proto.dependency if path in KNOWN_PATHS)]
    imports = tuple(Import(path=path) for path in paths)
    scope = link(ProtoFile(imports=imports), used)
    return {
        path: plain_descriptor(scope, path).SerializeToString()
        for path in scope.files
        if path != MAIN
    }


def _check(scope: Scope, text: str) -> None:
    def fail(reason: str, at: int) -> NoReturn:
        raise InvalidSchema(reason, place=place_in(text, at))

    check_file(scope, fail)
