"""Files that every schema may import without a reference.

Confluent's registry has these eleven of google/protobuf, sixteen of google/type and two of its
own. A reference of the same name goes before them.
"""

import importlib
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from google.protobuf import descriptor_pb2 as pb

from .elements import Enum, Message, ProtoFile
from .from_descriptor import file_of
from .parser import parse_file

_META: Final = """
syntax = "proto3";
package confluent;
import "google/protobuf/descriptor.proto";
option java_package = "io.confluent.protobuf";
option java_outer_classname = "MetaProto";
option go_package = "../confluent";
message Meta {
  string doc = 1;
  map<string, string> params = 2;
  repeated string tags = 3;
}
extend google.protobuf.FileOptions { Meta file_meta = 1088; }
extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }
"""

_DECIMAL: Final = """
syntax = "proto3";
package confluent.type;
option java_package = "io.confluent.protobuf.type";
option java_outer_classname = "DecimalProto";
option go_package = "../type";
message Decimal {
  bytes value = 1;
  uint32 precision = 2;
  int32 scale = 3;
}
"""

_TEXTS: Final = MappingProxyType(
    {"confluent/meta.proto": _META, "confluent/type/decimal.proto": _DECIMAL}
)
_MODULES: Final = MappingProxyType(
    {
        f"google/{folder}/{name}.proto": f"google.{folder}.{name}_pb2"
        for folder, names in {
            "protobuf": "any api descriptor duration empty field_mask source_context struct"
            " timestamp type wrappers",
            "type": "calendar_period color date datetime dayofweek decimal expr fraction interval"
            " latlng money month phone_number postal_address quaternion timeofday",
        }.items()
        for name in names.split()
    }
)
KNOWN_PATHS: Final = frozenset({*_TEXTS, *_MODULES})
_PACKAGES: Final = ("google.protobuf.", "google.type.", "confluent.")


@cache
def known_file(path: str) -> ProtoFile:
    """The file at *path*, one of KNOWN_PATHS."""
    if path in _TEXTS:
        return parse_file(_TEXTS[path])
    return file_of(known_descriptor(path), {})


@cache
def known_descriptor(path: str) -> pb.FileDescriptorProto:
    """Google's own descriptor of *path*, one of KNOWN_PATHS under google/; nobody changes it."""
    module = importlib.import_module(_MODULES[path])
    return pb.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)


def is_google(path: str) -> bool:
    """Whether ``known_descriptor`` has *path*."""
    return path in _MODULES


def known_path_of(full_name: str) -> str | None:
    """The file that declares *full_name* or the type around it; None when none does."""
    if not full_name.startswith(_PACKAGES):
        return None  # most names; the others would load thirty descriptors
    while "." in full_name:
        if (path := _paths_by_type().get(full_name)) is not None:
            return path
        full_name = full_name.rpartition(".")[0]
    return None


@cache
def _paths_by_type() -> Mapping[str, str]:
    return MappingProxyType(
        {
            f"{file.package}.{element.name}": path
            for path in sorted(KNOWN_PATHS)
            for file in [known_file(path)]
            for element in file.body
            if isinstance(element, Message | Enum)
        }
    )
