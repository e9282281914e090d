"""Schemas in few words."""

import json
from typing import Any

from hypothesis import assume

from headwater.schemas.formats.avro import AvroFormat, AvroSchema
from headwater.schemas.formats.contract import InvalidSchema

Json = Any  # a schema's text as Python has it: JSON edge


def record(name: str, *fields: Json, **attributes: Json) -> Json:
    return {"type": "record", "name": name, "fields": list(fields), **attributes}


def field(name: str, schema: Json, **attributes: Json) -> Json:
    return {"name": name, "type": schema, **attributes}


def enum(name: str, *symbols: str, **attributes: Json) -> Json:
    return {"type": "enum", "name": name, "symbols": list(symbols), **attributes}


def fixed(name: str, size_bytes: int, **attributes: Json) -> Json:
    return {"type": "fixed", "name": name, "size": size_bytes, **attributes}


def parsed(schema: Json, *references: Json, is_new: bool = False) -> AvroSchema:
    texts = {f"ref{index}": json.dumps(one) for index, one in enumerate(references)}
    return AvroFormat().parse(json.dumps(schema), texts, is_new=is_new)


def refusal(text: str, *, is_new: bool = False) -> InvalidSchema:
    """Why *text* is refused; fails when it is not."""
    try:
        schema = AvroFormat().parse(text, {}, is_new=is_new)
    except InvalidSchema as error:
        return error
    raise AssertionError(f"taken: {schema.canonical}")


def drawn(schema: Json, *, is_new: bool = False) -> AvroSchema:
    """*schema* parsed; where the dice made none of it, a property passes it over."""
    try:
        return parsed(schema, is_new=is_new)
    except InvalidSchema:
        assume(False)
        raise


def reasons(reader: Json, writer: Json) -> list[tuple[str, str]]:
    """Kinds and paths."""
    found = AvroFormat().incompatibilities(reader=parsed(reader), writer=parsed(writer))
    return [(one.kind, one.path) for one in found]
