"""Which declaration a name means: all types and extensions of a file and of what it uses.

A relative name is looked for in the innermost scope first, then outwards, as in C++. Like
Confluent's registry, and unlike protoc, any file at hand is seen, imported or not, and an outer
match is taken where an inner one would end in nothing: what the registry once took must load.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..contract import InvalidSchema
from .elements import (
    Enum,
    Extend,
    Field,
    Group,
    Label,
    Message,
    NamePart,
    Oneof,
    Option,
    ProtoFile,
    flag,
    of_kind,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredType:
    """A message, group or enum where it stands."""

    full_name: str
    """Without a leading dot."""
    package: str
    path: str
    """Of the file; MAIN for the schema itself."""
    element: Message | Group | Enum
    map_types: tuple[str, str] | None = None
    """Types of key and value when it is the entry of a map, spelt out as a message."""

    @property
    def local_name(self) -> str:
        """Without the package."""
        prefix = f"{self.package}." if self.package else ""
        return self.full_name.removeprefix(prefix)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredExtension:
    """A field in an extend block; its scope is where the block stands."""

    full_name: str
    path: str
    extendee: str
    scope: str
    field: Field | Group

    @property
    def is_repeated(self) -> bool:
        """Whether an option of it may be given more than once."""
        return self.field.label is Label.REPEATED


NAME_CHARS_MAX = 1000
"""Of a full name. A short text could otherwise ask for gigabytes of names."""
MAIN = ""
"""The path of the schema itself, which nobody imports."""


class Scope:
    """The names of *files*: path to file, the schema itself under MAIN.

    Raises InvalidSchema for a full name of more than NAME_CHARS_MAX characters.
    """

    def __init__(self, files: Mapping[str, ProtoFile]) -> None:
        self.files = files
        self.types: dict[str, DeclaredType] = {}
        self.extensions: dict[str, DeclaredExtension] = {}
        self.twice: dict[str, str] = {}
        """Types of one file that an earlier one has as well, with the path of the earlier."""
        for path, file in files.items():
            self._collect(file.body, path=path, package=file.package, scope=file.package)

    def resolve(self, name: str, scope: str) -> DeclaredType | None:
        """The type that *name* means inside *scope*, a full name; None when there is none."""
        for candidate in candidates(name, scope):
            if candidate in self.types:
                return self.types[candidate]
        return None

    def resolve_extension(self, name: str, scope: str) -> DeclaredExtension | None:
        """The extension that *name* means inside *scope*; None when there is none."""
        for candidate in candidates(name, scope):
            if candidate in self.extensions:
                return self.extensions[candidate]
        return None

    def _collect(self, body: Iterable[object], *, path: str, package: str, scope: str) -> None:
        for member in body:
            if isinstance(member, Message | Group | Enum):
                name = _bounded(joined(scope, member.name))
                if name in self.types and self.types[name].path != path:
                    self.twice[name] = self.types[name].path
                self.types[name] = DeclaredType(
                    full_name=name,
                    package=package,
                    path=path,
                    element=member,
                    # Once here, not at each use: it looks through the whole body.
                    map_types=None if isinstance(member, Enum) else map_types(member),
                )
                self._collect(member.body, path=path, package=package, scope=name)
            elif isinstance(member, Oneof):
                self._collect(member.body, path=path, package=package, scope=scope)
            elif isinstance(member, Extend):
                self._collect(member.body, path=path, package=package, scope=scope)
                self._collect_extensions(member, path=path, scope=scope)

    def _collect_extensions(self, extend: Extend, *, path: str, scope: str) -> None:
        for field in extend.body:
            name = joined(scope, field_name(field))
            self.extensions[name] = DeclaredExtension(
                full_name=name, path=path, extendee=extend.name, scope=scope, field=field
            )


def candidates(name: str, scope: str) -> Iterable[str]:
    """The full names that *name* may mean inside *scope*, the likeliest first."""
    if name.startswith("."):
        return [name[1:]]
    names = [f"{scope}.{name}"] if scope else []
    while "." in scope:
        scope = scope.rpartition(".")[0]
        names.append(f"{scope}.{name}")
    return [*names, name]


def joined(scope: str, name: str) -> str:
    """*name* inside *scope*."""
    return f"{scope}.{name}" if scope else name


def _bounded(name: str) -> str:
    if len(name) > NAME_CHARS_MAX:
        raise InvalidSchema(
            f"a full name has {len(name)} characters; {NAME_CHARS_MAX} are the most"
        )
    return name


def field_name(field: Field | Group) -> str:
    """A field's name; a group's is its type's in lower case."""
    return field.name.lower() if isinstance(field, Group) else field.name


def map_types(message: Message | Group) -> tuple[str, str] | None:
    """Types of key and value when *message* says that it is a map's entry.

    Descriptors spell maps so, and so does the text that is made of them.
    """
    if not flag(of_kind(message.body, Option), "map_entry"):
        return None
    types = {field.name: field.type for field in of_kind(message.body, Field)}
    return (types["key"], types["value"]) if {"key", "value"} <= types.keys() else None


def option_name(option: Option) -> str:
    """The name as it is written: ``(foo.bar).baz``."""
    return ".".join(_part_text(part) for part in option.name)


def _part_text(part: NamePart) -> str:
    return f"({part.text})" if part.is_extension else part.text
