"""The same schema in one order and with full names: what ``normalize=true`` asks for.

Source: Confluent's ``ProtobufSchemaUtils`` (8.x). Fields, groups and oneofs go by number, options
by name, reserved and extension ranges apart and by number; the order of messages stays, for the
indexes of messages in the wire format count it. Names are full, with a leading dot; a map's entry
spelt as a message becomes a map again.

We deviate in three things. Confluent rounds numbers of options to three decimals; here none is
lost. It puts negative values of an enum before 0, which proto3 wants first; here 0 stays there. It
sorts ``default`` and ``json_name`` among the options of a field, where its own parser does not
leave them; here they stay last, so that the text that is stored is the text that is read again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any, Final, TypeVar

from .elements import (
    Aggregate,
    Enum,
    EnumValue,
    Extend,
    Extensions,
    Field,
    Group,
    Import,
    ListValue,
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
    Value,
    ValueKind,
    fields_of,
    of_kind,
)
from .option_parser import joined_values
from .option_protos import decimal_text
from .parser import SCALAR_TYPES
from .scope import MAIN, Scope, joined, map_types

_CONFLUENT: Final = "confluent."
_DIGITS_MAX: Final = 320
"""A double has no more before or behind the point; 1e999999999 written out would fill memory."""

_F = TypeVar("_F", Field, Group)
_V = TypeVar("_V", int | NumberRange, int | NumberRange | str)


def normalized_file(scope: Scope) -> ProtoFile:
    """The schema of *scope* in normal order; what does not resolve keeps its name."""
    return _Normalizer(scope).file(scope.files[MAIN])


def without_extensions(file: ProtoFile) -> ProtoFile:
    """*file* without extend blocks, extension ranges and custom options but Confluent's own."""
    return replace(file, body=tuple(_stripped(file.body)))


class _Normalizer:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def file(self, file: ProtoFile) -> ProtoFile:
        package = file.package
        body = file.body
        return ProtoFile(
            syntax=file.syntax if file.is_proto3 else None,
            package=package,
            imports=_sorted_imports(file.imports),
            body=(
                *self._options(of_kind(body, Option), package),
                *self._types(body, package),
                *self._extends(of_kind(body, Extend), package),
                *(self._service(service, package) for service in of_kind(body, Service)),
            ),
        )

    def _types(self, body: Iterable[object], inside: str) -> Iterable[Message | Enum]:
        for member in body:
            if isinstance(member, Enum):
                yield self._enum(member, joined(inside, member.name))
            elif isinstance(member, Message) and map_types(member) is None:
                name = joined(inside, member.name)
                yield Message(name=member.name, body=self._body(member.body, name))

    def _body(self, body: Sequence[Member], name: str) -> tuple[Member, ...]:
        return (
            *_sorted_reserved(of_kind(body, Reserved)),
            *self._options(of_kind(body, Option), name),
            *(self._field(field, name) for field in _by_number(of_kind(body, Field))),
            *self._oneofs(of_kind(body, Oneof), name),
            *(self._group(group, name) for group in _by_number(of_kind(body, Group))),
            *self._extensions(of_kind(body, Extensions), name),
            *self._extends(of_kind(body, Extend), name),
            *self._types(body, name),
        )

    def _field(self, field: Field, inside: str) -> Field:
        label, map_key, type_name = field.label, field.map_key, field.type
        if map_key is None and type_name not in SCALAR_TYPES:
            found = self._scope.resolve(type_name, inside)
            if found is not None and found.map_types is not None:
                map_key, type_name = found.map_types
                inside = found.full_name
        if map_key is not None:
            label = None
        default = field.default
        return replace(
            field,
            label=label,
            type=self._full_name(type_name, inside),
            map_key=map_key,
            default=default if default is None else _normal_scalar(default),
            options=tuple(self._options(field.options, inside)),
        )

    def _group(self, group: Group, inside: str) -> Group:
        return replace(
            group,
            options=tuple(self._options(group.options, inside)),
            body=self._body(group.body, joined(inside, group.name)),
        )

    def _oneofs(self, oneofs: Iterable[Oneof], inside: str) -> list[Oneof]:
        filled = [oneof for oneof in oneofs if any(fields_of(oneof.body))]
        filled.sort(key=lambda oneof: min(field.number for field in fields_of(oneof.body)))
        return [
            Oneof(
                name=oneof.name,
                body=(
                    *self._options(of_kind(oneof.body, Option), inside),
                    *(self._field(one, inside) for one in _by_number(of_kind(oneof.body, Field))),
                    *(self._group(one, inside) for one in _by_number(of_kind(oneof.body, Group))),
                ),
            )
            for oneof in filled
        ]

    def _extensions(self, extensions: Iterable[Extensions], inside: str) -> list[Extensions]:
        single = [
            Extensions(
                ranges=(_simplest(numbers),),
                options=tuple(self._options(extension.options, inside)),
            )
            for extension in extensions
            for numbers in extension.ranges
        ]
        return sorted(single, key=lambda extension: _first(extension.ranges[0]))

    def _extends(self, extends: Iterable[Extend], inside: str) -> list[Extend]:
        by_name: dict[str, list[Field | Group]] = {}
        for extend in extends:
            by_name.setdefault(self._full_name(extend.name, inside), []).extend(extend.body)
        return [
            Extend(
                name=name,
                body=(
                    *(self._field(one, inside) for one in _by_number(of_kind(body, Field))),
                    *(self._group(one, inside) for one in _by_number(of_kind(body, Group))),
                ),
            )
            for name, body in by_name.items()
        ]

    def _enum(self, enum: Enum, name: str) -> Enum:
        is_proto3 = self._scope.files[MAIN].is_proto3
        values = sorted(
            of_kind(enum.body, EnumValue),
            key=lambda value: (is_proto3 and value.number != 0, value.number, value.name),
        )
        return Enum(
            name=enum.name,
            body=(
                *_sorted_reserved(of_kind(enum.body, Reserved)),
                *self._options(of_kind(enum.body, Option), name),
                *(replace(v, options=tuple(self._options(v.options, name))) for v in values),
            ),
        )

    def _service(self, service: Service, package: str) -> Service:
        name = joined(package, service.name)
        rpcs = (
            replace(
                rpc,
                request=self._full_name(rpc.request, name),
                response=self._full_name(rpc.response, name),
                options=tuple(self._options(rpc.options, name)),
            )
            for rpc in of_kind(service.body, Rpc)
        )
        options = self._options(of_kind(service.body, Option), name)
        return Service(name=service.name, body=(*options, *rpcs))

    def _full_name(self, name: str, inside: str) -> str:
        if name in SCALAR_TYPES:
            return name
        found = self._scope.resolve(name, inside)
        return name if found is None else f".{found.full_name}"

    # Options

    def _options(self, options: Iterable[Option], inside: str) -> list[Option]:
        """By name; the parts of one message that were set one by one become one value."""
        qualified = [self._qualified(option, inside) for option in options]
        qualified.sort(key=lambda option: option.name[0].text)
        parts: dict[str, list[Option]] = {}
        whole: list[Option | str] = []
        for option in qualified:
            name = option.name[0].text
            known = self._scope.extensions.get(name) if option.is_custom else None
            if known is None or known.is_repeated:
                whole.append(option)
                continue
            if name not in parts:
                whole.append(name)
            parts.setdefault(name, []).append(option)
        result = (_merged_options(parts[one]) if isinstance(one, str) else one for one in whole)
        return [replace(option, value=self._value(option.value, inside)) for option in result]

    def _qualified(self, option: Option, inside: str) -> Option:
        first, *others = option.name
        found = self._scope.resolve_extension(first.text, inside) if option.is_custom else None
        if found is None:
            return option
        value = option.value
        for part in reversed(others):
            key = f"[{part.text}]" if part.is_extension else part.text
            value = Aggregate(((key, value),))
        return replace(option, name=(NamePart(found.full_name, is_extension=True),), value=value)

    def _value(self, value: Value, inside: str) -> Value:
        if isinstance(value, Aggregate):
            entries = {
                self._key(key, inside): self._value(one, inside)
                for key, one in value.entries
                if one != ListValue(())
            }
            return Aggregate(tuple(sorted(entries.items(), key=lambda item: item[0])))
        if isinstance(value, ListValue):
            values = tuple(self._value(one, inside) for one in value.values)
            return values[0] if len(values) == 1 else ListValue(values)
        return _normal_scalar(value)

    def _key(self, key: str, inside: str) -> str:
        if not key.startswith("["):
            return key
        found = self._scope.resolve_extension(key[1:-1], inside)
        return key if found is None else f"[{found.full_name}]"


def _merged_options(options: Sequence[Option]) -> Option:
    return replace(options[-1], value=_merged([option.value for option in options]))


def _merged(values: Sequence[Value]) -> Value:
    """All messages in one; keys of several are lists, each value once. Else the last value."""
    messages = [value for value in values if isinstance(value, Aggregate)]
    if len(messages) < len(values):
        return values[-1]
    entries: dict[str, list[Value]] = {}
    for message in messages:
        for key, value in message.entries:
            entries.setdefault(key, []).append(value)
    return Aggregate(tuple((key, _united(united)) for key, united in entries.items()))


def _united(values: Sequence[Value]) -> Value:
    if len(values) == 1:
        return values[0]
    if all(isinstance(value, Aggregate) for value in values):
        return _merged(values)
    joined_value = joined_values(values)
    assert isinstance(joined_value, ListValue)
    return ListValue(tuple(dict.fromkeys(joined_value.values)))


def _normal_scalar(value: Scalar) -> Scalar:
    if value.kind is not ValueKind.NUMBER:
        return value
    text = decimal_text(value.text)
    try:
        number = Decimal(text.rstrip("fF"))
    except InvalidOperation:
        return value
    if not number.is_finite() or abs(number.adjusted()) > _DIGITS_MAX:
        return value
    plain = f"{number:f}"
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return Scalar(ValueKind.NUMBER, plain)


def _by_number(fields: Iterable[_F]) -> list[_F]:
    return sorted(fields, key=lambda field: field.number)


def _sorted_imports(imports: Iterable[Import]) -> tuple[Import, ...]:
    return tuple(sorted(dict.fromkeys(imports), key=lambda used: used.path))


def _sorted_reserved(reserved: Iterable[Reserved]) -> list[Reserved]:
    values = [_simplest(value) for one in reserved for value in one.values]
    values.sort(key=_reserved_key)
    return [Reserved(values=(value,)) for value in values]


def _reserved_key(value: int | NumberRange | str) -> tuple[bool, int, str]:
    if isinstance(value, str):
        return (True, 0, value)
    last = value.last if isinstance(value, NumberRange) else value
    return (False, _first(value), f"{last:010}")


def _simplest(value: _V) -> _V | int:
    if isinstance(value, NumberRange) and value.first == value.last:
        return value.first
    return value


def _first(numbers: int | NumberRange) -> int:
    return numbers.first if isinstance(numbers, NumberRange) else numbers


def _kept(options: Iterable[Option]) -> tuple[Option, ...]:
    return tuple(
        option
        for option in options
        if not option.is_custom or option.name[0].text.startswith(_CONFLUENT)
    )


def _stripped(body: Iterable[Any]) -> Iterable[Any]:
    for member in body:
        if isinstance(member, Extend | Extensions):
            continue
        if isinstance(member, Option):
            yield from _kept((member,))
        elif isinstance(member, Field | EnumValue | Rpc):
            yield replace(member, options=_kept(member.options))
        elif isinstance(member, Group):
            yield replace(member, options=_kept(member.options), body=tuple(_stripped(member.body)))
        elif isinstance(member, Message | Enum | Oneof | Service):
            whole: Any = member  # each kind keeps its own members
            yield replace(whole, body=tuple(_stripped(member.body)))
        else:
            yield member
