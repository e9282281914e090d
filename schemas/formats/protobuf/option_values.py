"""Options of descriptors as ``elements``: standard ones by name, custom ones by their extensions.

An extension is an unknown field until somebody says what it is called. The files that are imported
do; Confluent's registry asks none but its own ``confluent/meta.proto``.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from google.protobuf import descriptor_pb2 as pb
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message as AnyMessage
from google.protobuf.unknown_fields import UnknownFieldSet

from .elements import (
    Aggregate,
    ListValue,
    NamePart,
    Option,
    Scalar,
    Value,
    ValueKind,
    simple_option,
)
from .numerals import double_text, float_text
from .option_parser import value_of

# Confluent writes them in this order and the rest by number; the order is part of the text.
_BEFORE_OTHERS: Final = {
    "java_package": 1,
    "java_outer_classname": 2,
    "java_multiple_files": 3,
    "java_generate_equals_and_hash": 4,
    "java_string_check_utf8": 5,
    "ctype": 1,
    "packed": 2,
    "jstype": 3,
}
_LAST: Final = 2**31
_VALUE_FIRST: Final = frozenset({"precision", "scale"})
_META: Final = "confluent.Meta"


class OptionTexts:
    """Options of one file's descriptor; *dependencies* name the extensions among them."""

    def __init__(self, proto: pb.FileDescriptorProto, dependencies: Mapping[str, bytes]) -> None:
        self._proto = proto
        self._dependencies = dependencies
        self._pool: descriptor_pool.DescriptorPool | None = None

    def of(self, options: AnyMessage) -> tuple[Option, ...]:
        """What *options* say, standard options first."""
        if not options.ByteSize():
            return ()
        return (*_standard(options), *_uninterpreted(options), *self._custom(options))

    def _custom(self, options: AnyMessage) -> Iterator[Option]:
        if not len(UnknownFieldSet(options)):
            return
        try:
            known = self._pool_of_all().FindMessageTypeByName(options.DESCRIPTOR.full_name)
        except KeyError:  # nothing imports descriptor.proto, so nothing extends it
            return
        read = message_factory.GetMessageClass(known).FromString(options.SerializeToString())
        for field, value in read.ListFields():
            if field.is_extension:
                name = (NamePart(field.full_name, is_extension=True),)
                for one in value if field.is_repeated else (value,):
                    yield Option(name=name, value=_single(field, one))

    def _pool_of_all(self) -> descriptor_pool.DescriptorPool:
        if self._pool is None:
            self._pool = descriptor_pool.DescriptorPool()
            files = [*self._dependencies.values(), self._proto.SerializeToString()]
            for serialized in files:
                try:
                    self._pool.AddSerializedFile(serialized)
                except TypeError:  # without it its extensions stay unknown; the rest is as good
                    continue
        return self._pool


def _standard(options: AnyMessage) -> list[Option]:
    fields = [
        (field, value)
        for field, value in options.ListFields()
        if not field.is_extension and field.name != "uninterpreted_option"
    ]
    fields.sort(key=lambda item: (_BEFORE_OTHERS.get(item[0].name, _LAST), item[0].number))
    return [
        simple_option(field.name, _single(field, one))
        for field, value in fields
        for one in (value if field.is_repeated else (value,))
    ]


def _uninterpreted(options: Any) -> Iterator[Option]:
    for option in options.uninterpreted_option:
        name = tuple(NamePart(part.name_part, part.is_extension) for part in option.name)
        yield Option(name=name, value=_uninterpreted_value(option))


def _uninterpreted_value(option: pb.UninterpretedOption) -> Value:
    if option.HasField("identifier_value"):
        is_boolean = option.identifier_value in ("true", "false")
        kind = ValueKind.BOOLEAN if is_boolean else ValueKind.IDENTIFIER
        return Scalar(kind, option.identifier_value)
    if option.HasField("string_value"):
        return _text(option.string_value)
    if option.HasField("aggregate_value"):
        return value_of("{" + option.aggregate_value + "}")
    if option.HasField("double_value"):
        return _number(double_text(option.double_value))
    signed = option.HasField("negative_int_value")
    return _number(str(option.negative_int_value if signed else option.positive_int_value))


def _single(field: FieldDescriptor, value: Any) -> Value:
    """One *value* of *field*, no list."""
    if field.type in (field.TYPE_MESSAGE, field.TYPE_GROUP):
        return _aggregate(value)
    if field.type == field.TYPE_BOOL:
        return Scalar(ValueKind.BOOLEAN, "true" if value else "false")
    if field.type == field.TYPE_ENUM:
        assert field.enum_type is not None
        known = field.enum_type.values_by_number.get(value)
        return _number(str(value)) if known is None else Scalar(ValueKind.IDENTIFIER, known.name)
    if field.type in (field.TYPE_STRING, field.TYPE_BYTES):
        return _text(value)
    if field.type == field.TYPE_DOUBLE:
        return _number(double_text(value))
    if field.type == field.TYPE_FLOAT:
        return _number(float_text(value))
    return _number(str(value))


def _aggregate(message: AnyMessage) -> Aggregate:
    entries: list[tuple[str, Value]] = []
    for field, value in message.ListFields():
        key = f"[{field.full_name}]" if field.is_extension else field.name
        if _is_map(field):
            is_meta = message.DESCRIPTOR.full_name == _META
            entries.append((key, _map_entries(field, value, is_meta=is_meta)))
        elif field.is_repeated:
            entries.append((key, ListValue(tuple(_single(field, one) for one in value))))
        else:
            entries.append((key, _single(field, value)))
    return Aggregate(tuple(entries))


def _map_entries(field: FieldDescriptor, value: Mapping[Any, Any], *, is_meta: bool) -> ListValue:
    assert field.message_type is not None
    fields = field.message_type.fields_by_name
    aggregates = []
    for key in sorted(value):
        entry: Iterable[tuple[str, Value]] = (
            ("key", _single(fields["key"], key)),
            ("value", _single(fields["value"], value[key])),
        )
        # Confluent's converters once wrote the two parameters of decimals this way round.
        if is_meta and key in _VALUE_FIRST:
            entry = reversed(tuple(entry))
        aggregates.append(Aggregate(tuple(entry)))
    return ListValue(tuple(aggregates))


def _is_map(field: FieldDescriptor) -> bool:
    entry = field.message_type
    return field.is_repeated and entry is not None and bool(entry.GetOptions().map_entry)


def _number(text: str) -> Scalar:
    kind = ValueKind.IDENTIFIER if text in ("inf", "nan") else ValueKind.NUMBER
    return Scalar(kind, text)


def _text(value: bytes | str) -> Scalar:
    """proto2's strings are bytes where they are no UTF-8."""
    text = value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")
    return Scalar(ValueKind.STRING, text)
