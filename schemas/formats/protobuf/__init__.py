"""Protobuf: ``.proto`` files parsed, printed, compared and turned into descriptors, no protoc."""

from typing import Final

from ..contract import Format
from .indexes import NoSuchMessage
from .schema import ProtobufFormat, ProtobufSchema

PROTOBUF: Final[Format] = ProtobufFormat()

__all__ = ["PROTOBUF", "NoSuchMessage", "ProtobufFormat", "ProtobufSchema"]
