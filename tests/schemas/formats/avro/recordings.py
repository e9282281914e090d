"""What Java made of schemas: recorded once, so that the comparison needs no Java.

``texts`` and ``pairs`` are answers of Avro 1.12.1 to ``oracle.py``. ``normalized`` is what the
rules of Confluent's ``AvroSchemaUtils.toNormalizedString`` gave over that library.
"""

import json
from pathlib import Path
from typing import Any

Json = Any  # recorded questions and answers: JSON edge


def recorded(name: str) -> list[Json]:
    """The questions of one file, each with its answer."""
    path = Path(__file__).parent / "recorded" / f"{name}.json"
    entries: list[Json] = json.loads(path.read_text(encoding="utf-8"))
    return entries
