"""Unpacks Kafka's message definitions from its jars and prints the folder they are in.

Our declarations are compared with them where ``HEADWATER_KAFKA_SCHEMAS`` names that folder; the
definitions themselves are Kafka's and are not kept in this repository. Run it as
``python -m tools.kafka_schemas`` from the root.
"""

import re
import zipfile
from pathlib import Path

from tools.kafka.jars import library

FOLDER = Path(__file__).parents[1] / ".cache" / "kafka" / "schemas"
DEFINITION = re.compile(r"common/[a-z]+/([A-Za-z0-9]+\.json)")


def unpack() -> Path:
    """The folder with one subfolder for each jar that holds definitions."""
    for jar in sorted(library().glob("kafka-*.jar")):
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                match = DEFINITION.fullmatch(name)
                if match is not None:
                    target = FOLDER / jar.stem / match[1]
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(archive.read(name))
    return FOLDER


if __name__ == "__main__":
    print(unpack())
