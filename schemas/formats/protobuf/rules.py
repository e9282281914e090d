"""What a new file must keep beyond the grammar: numbers, names, defaults, what names resolve to.

Source: "Protocol Buffers Version 2/3 Language Specification" and protoc, which refuses the same
files. Confluent's registry checks only that types resolve; what it has stored is therefore never
asked for these rules.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Final, NoReturn

from .descriptors import ends, json_name_of, map_entry_name
from .elements import (
    FIELD_NUMBER_MAX,
    Enum,
    EnumValue,
    Extend,
    Extensions,
    Field,
    Group,
    Label,
    Member,
    Message,
    Oneof,
    Option,
    ProtoFile,
    Reserved,
    Rpc,
    Scalar,
    Service,
    ValueKind,
    fields_of,
    flag,
    of_kind,
)
from .option_protos import decimal_text
from .parser import INTEGER_TYPES, SCALAR_TYPES
from .scope import MAIN, DeclaredType, Scope, field_name, joined, map_types

Fail = Callable[[str, int], NoReturn]
"""Told the reason and the offset of the element; raises InvalidSchema."""

_OWN_NUMBERS: Final = range(19000, 20000)
_BOUNDS: Final = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}
_SAME_BOUNDS: Final = {
    "sint32": "int32", "sfixed32": "int32", "fixed32": "uint32",
    "sint64": "int64", "sfixed64": "int64", "fixed64": "uint64",
}  # fmt: skip

_Range = tuple[int, int, str, int]
"""First and last number, what they are for, and the offset where that is said."""


def check_file(scope: Scope, fail: Fail) -> None:
    """Hold the schema of *scope* to the rules; *fail* is called for the first that it breaks."""
    _Checker(scope, fail).file(scope.files[MAIN])


class _Checker:
    def __init__(self, scope: Scope, fail: Fail) -> None:
        self._scope = scope
        self._fail = fail
        self._is_proto3 = scope.files[MAIN].is_proto3
        # Asked again for each default and each extend block.
        self._enum_names: dict[str, frozenset[str]] = {}
        self._extension_ranges: dict[str, list[tuple[int, int]]] = {}

    def file(self, file: ProtoFile) -> None:
        self._check_names(file.body, "file")
        for name, path in self._scope.twice.items():
            if self._scope.types[name].path == MAIN:
                at = self._scope.types[name].element.at
                self._fail(f"{name!r} is already defined in {path!r}", at)
        self._check_types(file.body, file.package)

    def _check_types(self, body: Iterable[object], scope: str) -> None:
        for member in body:
            if isinstance(member, Message):
                self._message(member, member.body, joined(scope, member.name))
            elif isinstance(member, Enum):
                self._enum(member)
            elif isinstance(member, Extend):
                self._extend(member, scope)
            elif isinstance(member, Service):
                self._service(member, joined(scope, member.name))

    def _message(self, message: Message | Group, body: Iterable[Member], name: str) -> None:
        body = list(body)
        self._check_names(body, f"message {message.name!r}")
        self._check_numbers(message, body)
        if self._is_proto3 and map_types(message) is None:
            self._check_json_names(body)
        for oneof in of_kind(body, Oneof):
            if not any(fields_of(oneof.body)):
                self._fail(f"oneof {oneof.name!r} has no field", oneof.at)
        for extensions in of_kind(body, Extensions):
            if self._is_proto3:
                self._fail("proto3 has no extension ranges", extensions.at)
        for field in fields_of(body):
            self._field(field, name)
        self._check_types(body, name)

    # Names

    def _check_names(self, body: Iterable[object], where: str) -> None:
        taken: set[str] = set()
        for name, at in _declared(body):
            if name in taken:
                self._fail(f"{name!r} is already defined in this {where}", at)
            taken.add(name)

    def _check_json_names(self, body: Iterable[Member]) -> None:
        taken: dict[str, str] = {}
        for field in fields_of(body):
            given = field.json_name if isinstance(field, Field) else None
            name = json_name_of(field_name(field)) if given is None else given
            if name in taken:
                self._fail(
                    f"fields {taken[name]!r} and {field.name!r} are both {name!r} in JSON", field.at
                )
            taken[name] = field.name

    # Numbers

    def _check_numbers(self, message: Message | Group, body: list[Member]) -> None:
        reserved_names, ranges = _reserved(body)
        for extensions in of_kind(body, Extensions):
            ranges += [(*ends(r), "for extensions", extensions.at) for r in extensions.ranges]
        self._check_ranges(ranges, least=1)
        used: dict[int, str] = {}
        for field in fields_of(body):
            self._check_number(field.number, field.at)
            if field.number in used:
                self._fail(
                    f"number {field.number} of field {field.name!r} is already that of "
                    f"{used[field.number]!r} in message {message.name!r}",
                    field.at,
                )
            used[field.number] = field.name
            if field_name(field) in reserved_names:
                self._fail(f"the name {field.name!r} is reserved", field.at)
        self._check_free(fields_of(body), ranges)

    def _check_number(self, number: int, at: int) -> None:
        if not 1 <= number <= FIELD_NUMBER_MAX:
            self._fail(f"field numbers are from 1 to {FIELD_NUMBER_MAX}, not {number}", at)
        if number in _OWN_NUMBERS:
            self._fail(f"number {number} is protobuf's own: 19000 to 19999 are", at)

    def _check_ranges(self, ranges: list[_Range], *, least: int) -> None:
        """Each forwards, none over another; sorted, so that many cost little."""
        ranges.sort(key=lambda numbers: numbers[:2])
        before = least - 1
        for first, last, what, at in ranges:
            if last < first or first < least:
                self._fail(f"the range {first} to {last} is none", at)
            if first <= before:
                self._fail(f"number {first} is twice in ranges ({what})", at)
            before = last

    def _check_free(
        self, numbered: Iterable[Field | Group | EnumValue], ranges: list[_Range]
    ) -> None:
        """No number of *numbered* in *ranges*, which are sorted."""
        taken = sorted(numbered, key=lambda one: one.number)
        index = 0
        for first, last, what, _ in ranges:
            while index < len(taken) and taken[index].number < first:
                index += 1
            if index < len(taken) and taken[index].number <= last:
                one = taken[index]
                self._fail(f"{one.name!r} has number {one.number}, which is {what}", one.at)

    # Fields

    def _field(self, field: Field | Group, inside: str) -> None:
        if isinstance(field, Group):
            self._message(field, field.body, joined(inside, field.name))
            return
        found = self._resolved(field.type, inside, field.at)
        if self._is_proto3 and found is not None:
            self._check_open(found, field.at)
        if field.label is Label.REQUIRED and self._is_proto3:
            self._fail("proto3 has no required fields", field.at)
        if field.default is not None:
            self._check_default(field, field.default, found)

    def _resolved(self, name: str, inside: str, at: int) -> DeclaredType | None:
        """What *name* is; None for scalars."""
        if name in SCALAR_TYPES:
            return None
        found = self._scope.resolve(name, inside)
        if found is None:
            self._fail(f"Could not resolve type: {name}", at)
        return found

    def _check_open(self, found: DeclaredType, at: int) -> None:
        """proto3's enums take any number, proto2's do not."""
        if isinstance(found.element, Enum) and not self._scope.files[found.path].is_proto3:
            self._fail(f"enum {found.full_name!r} of proto2 cannot be used in proto3", at)

    def _check_default(self, field: Field, default: Scalar, found: DeclaredType | None) -> None:
        if self._is_proto3:
            self._fail("proto3 has no defaults of its own", field.at)
        if field.label is Label.REPEATED or field.map_key is not None:
            self._fail("repeated fields have no default", field.at)
        if found is not None:
            if not isinstance(found.element, Enum):
                self._fail("messages have no default", field.at)
            is_fitting = default.kind is ValueKind.IDENTIFIER and default.text in self._names_of(
                found.full_name, found.element
            )
        else:
            is_fitting = _is_fitting(default, field.type)
        if not is_fitting:
            self._fail(f"default {default.text!r} is no {field.type}", field.at)

    def _names_of(self, full_name: str, enum: Enum) -> frozenset[str]:
        if full_name not in self._enum_names:
            names = frozenset(value.name for value in of_kind(enum.body, EnumValue))
            self._enum_names[full_name] = names
        return self._enum_names[full_name]

    def _extend(self, extend: Extend, inside: str) -> None:
        found = self._resolved(extend.name, inside, extend.at)
        if found is None or isinstance(found.element, Enum):
            self._fail(f"{extend.name!r} is no message to extend", extend.at)
        if self._is_proto3 and not _is_options(found):
            self._fail("proto3 extends options only", extend.at)
        ranges = self._extension_ranges_of(found.full_name, found.element)
        for field in extend.body:
            index = bisect_right(ranges, (field.number, FIELD_NUMBER_MAX + 1)) - 1
            if index < 0 or not field.number <= ranges[index][1]:
                self._fail(f"{found.full_name!r} has no extension number {field.number}", field.at)
            if field.label is Label.REQUIRED:
                self._fail("extensions cannot be required", field.at)
            self._field(field, inside)

    def _extension_ranges_of(
        self, full_name: str, message: Message | Group
    ) -> list[tuple[int, int]]:
        if full_name not in self._extension_ranges:
            ranges = [ends(r) for e in of_kind(message.body, Extensions) for r in e.ranges]
            self._extension_ranges[full_name] = sorted(ranges)
        return self._extension_ranges[full_name]

    # Enums and services

    def _enum(self, enum: Enum) -> None:
        values = of_kind(enum.body, EnumValue)
        if not values:
            self._fail(f"enum {enum.name!r} has no value", enum.at)
        if self._is_proto3 and values[0].number != 0:
            self._fail("the first value of an enum is 0 in proto3", values[0].at)
        self._check_aliases(enum, values)
        names, ranges = _reserved(enum.body)
        self._check_ranges(ranges, least=-(2**31))
        for value in values:
            if value.name in names:
                self._fail(f"the name {value.name!r} is reserved", value.at)
        self._check_free(values, ranges)

    def _check_aliases(self, enum: Enum, values: list[EnumValue]) -> None:
        numbers: dict[int, str] = {}
        may_alias = flag(of_kind(enum.body, Option), "allow_alias")
        for value in values:
            if value.number in numbers and not may_alias:
                self._fail(
                    f"{value.name!r} has the number of {numbers[value.number]!r}: "
                    "say 'option allow_alias = true;' if it shall",
                    value.at,
                )
            numbers.setdefault(value.number, value.name)

    def _service(self, service: Service, name: str) -> None:
        for rpc in of_kind(service.body, Rpc):
            for type_name in (rpc.request, rpc.response):
                found = self._resolved(type_name, name, rpc.at)
                if found is None or isinstance(found.element, Enum):
                    self._fail(f"{type_name!r} is no message", rpc.at)


def _declared(body: Iterable[object]) -> Iterable[tuple[str, int]]:
    """The names that *body* defines, in one scope all of them."""
    for member in body:
        if isinstance(member, Field):
            yield member.name, member.at
            if member.map_key is not None:
                yield map_entry_name(member.name), member.at
        elif isinstance(member, Group):
            yield member.name, member.at
            yield field_name(member), member.at
        elif isinstance(member, Oneof):
            yield member.name, member.at
            yield from _declared(member.body)
        elif isinstance(member, Extend):
            yield from _declared(member.body)
        elif isinstance(member, Message | Service):
            yield member.name, member.at
        elif isinstance(member, Enum):
            yield member.name, member.at
            # As in C++, values stand beside their enum, not in it.
            yield from ((value.name, value.at) for value in of_kind(member.body, EnumValue))


def _reserved(body: Iterable[object]) -> tuple[set[str], list[_Range]]:
    names: set[str] = set()
    ranges: list[_Range] = []
    for reserved in of_kind(body, Reserved):
        for value in reserved.values:
            if isinstance(value, str):
                names.add(value)
            else:
                ranges.append((*ends(value), "reserved", reserved.at))
    return names, ranges


def _is_options(found: DeclaredType) -> bool:
    return found.package == "google.protobuf" and found.local_name.endswith("Options")


def _is_fitting(default: Scalar, type_name: str) -> bool:
    if type_name in ("string", "bytes"):
        return default.kind is ValueKind.STRING
    if type_name == "bool":
        return default.kind is ValueKind.BOOLEAN
    if type_name in INTEGER_TYPES:
        return default.kind is ValueKind.NUMBER and _is_within(default.text, type_name)
    if default.kind is ValueKind.IDENTIFIER:
        return default.text in ("inf", "nan")
    return default.kind is ValueKind.NUMBER


def _is_within(text: str, type_name: str) -> bool:
    least, most = _BOUNDS[_SAME_BOUNDS.get(type_name, type_name)]
    try:
        return least <= int(decimal_text(text)) <= most
    except ValueError:
        return False
