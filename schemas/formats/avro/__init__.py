"""Avro: schemas parsed as Java's library does, written as it writes them, and compared."""

from typing import Final

from ..contract import Format
from .schema import AvroFormat, AvroSchema

AVRO: Final[Format] = AvroFormat()

__all__ = ["AVRO", "AvroFormat", "AvroSchema"]
