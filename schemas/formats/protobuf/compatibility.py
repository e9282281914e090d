"""Whether one schema reads what another wrote: messages by name, fields by number.

Source: Confluent's ``protobuf-provider`` (``diff/*.java``, 8.x): its kinds, paths, sentences and
verdicts. The *writer* is its "original", the *reader* its "update". Only what is incompatible is
told. Where its verdict would lose data we are stricter, and only there:

- groups are fields with a message (it does not look at them);
- a field that becomes required is a required field added, whatever its type;
- a number that is repeated in one schema alone has another label, also where proto3 gives none;
- fields that stood in different oneofs cannot share one.

Types that other files declare are compared where a field uses them, each pair once.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ..contract import Incompatibility
from .elements import (
    Enum,
    Field,
    Group,
    Label,
    Message,
    Oneof,
    ProtoFile,
    fields_of,
    of_kind,
)
from .field_types import TEXT, FieldType, Kind, type_of, types_of_same_kind
from .scope import MAIN, DeclaredType, Scope, joined, map_types

_MESSAGES: Final = {
    "PACKAGE_CHANGED": "The package at '{path}' in the {{reader}} schema does not match the "
    "package in the {{writer}} schema",
    "MESSAGE_REMOVED": "The {{reader}} schema is missing a MESSAGE type at path '{path}' in the "
    "{{writer}} schema",
    "FIELD_KIND_CHANGED": "The type of a field at path '{path}' in the {{reader}} schema does not "
    "match the {{writer}} schema",
    "FIELD_SCALAR_KIND_CHANGED": "The kind of a SCALAR field at path '{path}' in the {{reader}} "
    "schema does not match its kind in the {{writer}} schema",
    "FIELD_NAMED_TYPE_CHANGED": "The type of a MESSAGE field at path '{path}' in the {{reader}} "
    "schema does not match its type in the {{writer}} schema",
    "FIELD_NUMERIC_LABEL_CHANGED": "The label for a NUMERIC field at path '{path}' in the "
    "{{reader}} schema does not match its label in the {{writer}} schema",
    "REQUIRED_FIELD_ADDED": "A required field  at path '{path}' in the {{reader}} schema is "
    "missing in the {{writer}} schema",
    "REQUIRED_FIELD_REMOVED": "The {{reader}} schema is missing a required field at path: "
    "'{path}' in the {{writer}} schema",
    "ONEOF_FIELD_REMOVED": "The {{reader}} schema is missing a oneof field at path '{path}' in "
    "the {{writer}} schema",
    "MULTIPLE_FIELDS_MOVED_TO_ONEOF": "Multiple fields in the oneof at path '{path}' in the "
    "{{reader}} schema are outside a oneof in the {{writer}} schema",
    "FIELD_MOVED_TO_EXISTING_ONEOF": "A field in the oneof at path '{path}' in the {{reader}} "
    "schema is outside an existing oneof in the {{writer}} schema",
}
"""Confluent's sentences; its clients match on them, two blanks and all."""


def incompatibilities(reader: Scope, writer: Scope) -> list[Incompatibility]:
    """Why *reader* cannot read data of *writer*: the schemas first, then types of other files."""
    return _Comparison(reader, writer).all()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where both messages stand: their full names, which names resolve in, and the path told."""

    reader: str
    writer: str
    path: tuple[str, ...]

    def inside(self, name: str) -> "_Place":
        return _Place(
            reader=joined(self.reader, name),
            writer=joined(self.writer, name),
            path=(*self.path, name),
        )


_Pair = tuple[str, str]
"""Full names in the reader and in the writer; the files themselves have none."""
_FILES: Final[_Pair] = ("", "")
_NAMES_MAX: Final = 5
"""Fields that a hint lists; a oneof may have thousands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Use:
    """A field whose type another file declares: readable if that pair is."""

    pair: _Pair
    refusal: Incompatibility


class _Comparison:
    """Compares the files, then each pair of types that fields use, one after the other.

    A pair may use itself through others, and chains may be long: so pairs wait in a line instead of
    on the interpreter's stack, and what follows from whom is worked out at the end.
    """

    def __init__(self, reader: Scope, writer: Scope) -> None:
        self._reader = reader
        self._writer = writer
        self._waiting: deque[tuple[DeclaredType, DeclaredType]] = deque()
        self._told: dict[_Pair, list[Incompatibility | _Use]] = {_FILES: []}
        self._pair = _FILES

    def all(self) -> list[Incompatibility]:
        self._files(self._reader.files[MAIN], self._writer.files[MAIN])
        while self._waiting:
            ours, theirs = self._waiting.popleft()
            self._pair = (ours.full_name, theirs.full_name)
            assert not isinstance(ours.element, Enum)
            assert not isinstance(theirs.element, Enum)
            place = _Place(
                reader=ours.full_name,
                writer=theirs.full_name,
                path=tuple(theirs.local_name.split(".")),
            )
            self._message(ours.element, theirs.element, place)
        unreadable = self._unreadable()
        return [
            one.refusal if isinstance(one, _Use) else one
            for told in self._told.values()
            for one in told
            if not isinstance(one, _Use) or one.pair in unreadable
        ]

    def _unreadable(self) -> set[_Pair]:
        """Pairs with a reason of their own, and those that use one of them."""
        users: dict[_Pair, list[_Pair]] = {}
        reached: list[_Pair] = []
        for pair, told in self._told.items():
            for one in told:
                if isinstance(one, _Use):
                    users.setdefault(one.pair, []).append(pair)
                else:
                    reached.append(pair)
        unreadable = set(reached)
        while reached:
            for user in users.get(reached.pop(), ()):
                if user not in unreadable:
                    unreadable.add(user)
                    reached.append(user)
        return unreadable

    def _files(self, reader: ProtoFile, writer: ProtoFile) -> None:
        place = _Place(reader=reader.package, writer=writer.package, path=())
        if reader.package != writer.package:
            package = f"package {writer.package}" if writer.package else "no package"
            self._tell("PACKAGE_CHANGED", place.path, f"keep {package}, or use another subject")
        self._types(reader.body, writer.body, place)

    def _types(self, reader: Iterable[object], writer: Iterable[object], place: _Place) -> None:
        messages = {message.name: message for message in _messages(reader)}
        for message in _messages(writer):
            inner = place.inside(message.name)
            if message.name in messages:
                self._message(messages[message.name], message, inner)
            elif map_types(message) is None:
                self._tell(
                    "MESSAGE_REMOVED",
                    inner.path,
                    f"keep message {message.name!r}, empty if need be",
                )

    def _message(self, reader: Message | Group, writer: Message | Group, place: _Place) -> None:
        self._oneofs(reader, writer, place)
        ours, theirs = _members(reader), _members(writer)
        for number in sorted(ours.keys() | theirs.keys()):
            self._one_field(ours.get(number), theirs.get(number), place)
        self._types(reader.body, writer.body, place)

    # Oneofs

    def _oneofs(self, reader: Message | Group, writer: Message | Group, place: _Place) -> None:
        ours, theirs = _members(reader), _members(writer)
        for oneof in of_kind(reader.body, Oneof):
            self._joined_fields(oneof, theirs, place)
        kept = {oneof.name for oneof in of_kind(reader.body, Oneof)}
        for oneof in of_kind(writer.body, Oneof):
            for field in fields_of(oneof.body) if oneof.name in kept else ():
                if field.number not in ours:
                    self._tell(
                        "ONEOF_FIELD_REMOVED",
                        (*place.path, oneof.name, str(field.number)),
                        f"keep field {field.name!r} in oneof {oneof.name!r}",
                    )

    def _joined_fields(self, oneof: Oneof, theirs: Mapping[int, "_Member"], place: _Place) -> None:
        """Fields that could be set together, and of which one oneof would lose all but one."""
        before = [theirs[f.number] for f in fields_of(oneof.body) if f.number in theirs]
        free = [member for member in before if member.oneof is None]
        bound = {member.oneof for member in before if member.oneof is not None}
        path = (*place.path, oneof.name)
        if len(free) > 1 or len(bound) > 1:
            names = ", ".join(repr(member.field.name) for member in before[:_NAMES_MAX])
            names += ", …" if len(before) > _NAMES_MAX else ""
            hint = f"leave {names} where they are: they may be set together"
            self._tell("MULTIPLE_FIELDS_MOVED_TO_ONEOF", path, hint)
        elif free and bound:
            hint = f"leave field {free[0].field.name!r} outside of oneof {oneof.name!r}"
            self._tell("FIELD_MOVED_TO_EXISTING_ONEOF", path, hint)

    # Fields

    def _one_field(self, reader: "_Member | None", writer: "_Member | None", place: _Place) -> None:
        if reader is not None and writer is not None:
            self._both(reader, writer, place)
            return
        member = reader or writer
        assert member is not None
        if member.field.label is not Label.REQUIRED:
            return
        path, name = (*place.path, str(member.field.number)), member.field.name
        if reader is not None:
            self._tell("REQUIRED_FIELD_ADDED", path, f"make field {name!r} optional")
        else:
            self._tell("REQUIRED_FIELD_REMOVED", path, f"keep field {name!r}")

    def _both(self, reader: "_Member", writer: "_Member", place: _Place) -> None:
        in_both = reader.oneof is not None and reader.oneof == writer.oneof
        within = (reader.oneof,) if in_both and reader.oneof is not None else ()
        path = (*place.path, *within, str(writer.field.number))
        ours, theirs = reader.field, writer.field
        if isinstance(ours, Group) and isinstance(theirs, Group):
            group = _Place(
                reader=joined(place.reader, ours.name),
                writer=joined(place.writer, theirs.name),
                path=path,
            )
            self._message(ours, theirs, group)
            self._check_required(ours, theirs, path)
            return
        our_type = type_of(self._reader, ours, place.reader)
        their_type = type_of(self._writer, theirs, place.writer)
        if not self._compare_types(our_type, their_type, path):
            return
        if their_type.scalar_kind in (None, TEXT):  # the last one counts, or it is a list of one
            self._check_required(ours, theirs, path)
        elif (ours.label or Label.OPTIONAL) != (theirs.label or Label.OPTIONAL):
            label = theirs.label or "singular"
            self._tell("FIELD_NUMERIC_LABEL_CHANGED", path, f"leave field {theirs.name!r} {label}")

    def _check_required(
        self, reader: Field | Group, writer: Field | Group, path: tuple[str, ...]
    ) -> None:
        if reader.label is Label.REQUIRED and writer.label is not Label.REQUIRED:
            label = writer.label or Label.OPTIONAL
            self._tell("REQUIRED_FIELD_ADDED", path, f"leave field {writer.name!r} {label}")

    def _compare_types(self, reader: FieldType, writer: FieldType, path: tuple[str, ...]) -> bool:
        """Whether the two are of one kind, so that it makes sense to look further."""
        if reader.kind is not writer.kind:
            hint = f"keep {writer.text}, or give {reader.text} a new number"
            self._tell("FIELD_KIND_CHANGED", path, hint)
            return False
        if reader.scalar_kind != writer.scalar_kind:
            others = ", ".join(sorted(types_of_same_kind(writer)))
            hint = f"{writer.text} may become {others}; another type needs a new number"
            self._tell("FIELD_SCALAR_KIND_CHANGED", path, hint)
            return False
        if writer.kind is Kind.MESSAGE:
            self._named_types(reader, writer, path)
        for ours, theirs in zip(reader.map_types, writer.map_types, strict=True):
            self._compare_types(ours, theirs, path)
        return True

    def _named_types(self, reader: FieldType, writer: FieldType, path: tuple[str, ...]) -> None:
        refusal = _incompatibility(
            "FIELD_NAMED_TYPE_CHANGED",
            path,
            f"keep {writer.text} as it was, or give {reader.text} a new number",
        )
        ours, theirs = reader.declared, writer.declared
        if ours is None or theirs is None:
            if reader.text != writer.text:
                self._told[self._pair].append(refusal)
        elif ours.local_name != theirs.local_name:
            self._told[self._pair].append(refusal)
        elif not ours.path == theirs.path == MAIN:  # those are compared where they stand
            pair = (ours.full_name, theirs.full_name)
            self._told[self._pair].append(_Use(pair=pair, refusal=refusal))
            if pair not in self._told:
                self._told[pair] = []
                self._waiting.append((ours, theirs))

    def _tell(self, kind: str, path: tuple[str, ...], hint: str) -> None:
        self._told[self._pair].append(_incompatibility(kind, path, hint))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """A field with the oneof that it stands in."""

    field: Field | Group
    oneof: str | None = None


def _messages(body: Iterable[object]) -> Iterable[Message]:
    """Messages that *body* declares; those of groups are compared with their fields."""
    return (member for member in body if isinstance(member, Message))


def _members(message: Message | Group) -> dict[int, _Member]:
    members = {}
    for one in message.body:
        if isinstance(one, Field | Group):
            members[one.number] = _Member(field=one)
        elif isinstance(one, Oneof):
            for field in fields_of(one.body):
                members[field.number] = _Member(field=field, oneof=one.name)
    return members


def _incompatibility(kind: str, path: tuple[str, ...], hint: str) -> Incompatibility:
    where = "#/" + "/".join(path)
    # Confluent prints the whole difference, in this form.
    message = f'{{errorType:"{kind}", description:"{_MESSAGES[kind].format(path=where)}"}}'
    return Incompatibility(kind=kind, path=where, message=message, hint=hint)
