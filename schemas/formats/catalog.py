"""The formats that there are. Apart from the contract, because each brings its library along."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ..model import SchemaFormat
from .avro import AVRO
from .contract import Format
from .json_schema import JSON_SCHEMA
from .protobuf import PROTOBUF

FORMATS: Final[Mapping[SchemaFormat, Format]] = MappingProxyType(
    {
        SchemaFormat.JSON: JSON_SCHEMA,
        SchemaFormat.PROTOBUF: PROTOBUF,
        SchemaFormat.AVRO: AVRO,
    }
)
"""In the order in which Confluent's registry lists them."""
