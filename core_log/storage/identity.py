"""Whose a data directory is, and a partition's: small text files in Kafka's formats. Pure.

``meta.properties`` names cluster, node and directory (KIP-631, KIP-858), ``partition.metadata`` a
partition's topic id (KIP-516). ``headwater.properties`` is ours: the version of everything in the
directory that Kafka does not version itself. Kafka looks at directories only and leaves it alone.
A directory without it was written by Kafka and is taken over.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ..kernel.ids import id_text, parse_id

META_PROPERTIES: Final = "meta.properties"
FORMAT_PROPERTIES: Final = "headwater.properties"
CLEAN_SHUTDOWN: Final = ".kafka_cleanshutdown"
LOCK: Final = ".lock"

META_VERSION: Final = 1
FORMAT_VERSION: Final = 1
"""Raised when an older Headwater could no longer read a directory; newer ones refuse no older."""

_TOPIC_METADATA_VERSION: Final = 0


class IdentityUnreadable(ValueError):
    """``reason`` says what a file that names an owner lacks."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason: Final = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryIdentity:
    """What ``meta.properties`` says."""

    cluster_id: str
    node_id: int
    directory_id: bytes | None
    """None in a directory formatted before Kafka 3.7."""


def encode_identity(identity: DirectoryIdentity) -> bytes:
    """The text of ``meta.properties``."""
    lines = [
        f"version={META_VERSION}",
        f"cluster.id={identity.cluster_id}",
        f"node.id={identity.node_id}",
    ]
    if identity.directory_id is not None:
        lines.append(f"directory.id={id_text(identity.directory_id)}")
    return ("\n".join(lines) + "\n").encode()


def decode_identity(data: bytes) -> DirectoryIdentity:
    """What ``meta.properties`` says. Raises IdentityUnreadable."""
    properties = decode_properties(data)
    version = properties.get("version")
    if version != str(META_VERSION):
        raise IdentityUnreadable(
            f"its version is {version}, known is {META_VERSION}; version 0 is Kafka's from before "
            "KRaft and must be migrated by Kafka first"
        )
    try:
        directory_id = properties.get("directory.id")
        return DirectoryIdentity(
            cluster_id=properties["cluster.id"],
            node_id=int(properties["node.id"]),
            directory_id=None if directory_id is None else parse_id(directory_id),
        )
    except KeyError as error:
        raise IdentityUnreadable(f"it has no {error.args[0]}") from error
    except ValueError as error:
        raise IdentityUnreadable(str(error)) from error


def encode_format() -> bytes:
    """The text of ``headwater.properties``."""
    return f"format.version={FORMAT_VERSION}\n".encode()


def decode_format(data: bytes) -> int:
    """The format version of a directory. Raises IdentityUnreadable."""
    version = decode_properties(data).get("format.version", "")
    if not version.isdecimal():
        raise IdentityUnreadable(f"its format.version is {version!r}, not a number")
    return int(version)


def encode_topic_id(topic_id: bytes) -> bytes:
    """The text of ``partition.metadata``."""
    return f"version: {_TOPIC_METADATA_VERSION}\ntopic_id: {id_text(topic_id)}".encode()


def decode_topic_id(data: bytes) -> bytes:
    """The topic id in ``partition.metadata``. Raises IdentityUnreadable."""
    lines = data.decode("utf-8", "replace").splitlines()
    parts = (line.partition(":") for line in lines if ":" in line)
    fields = {key.strip(): value.strip() for key, _, value in parts}
    if fields.get("version") != str(_TOPIC_METADATA_VERSION):
        raise IdentityUnreadable(f"its version is {fields.get('version')}")
    try:
        return parse_id(fields.get("topic_id", ""))
    except ValueError as error:
        raise IdentityUnreadable(str(error)) from error


def decode_properties(data: bytes) -> Mapping[str, str]:
    """Keys and values of a Java properties file, as simple as Kafka writes them."""
    properties: dict[str, str] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        text = line.strip()
        if text and text[0] not in "#!":
            key, _, value = text.partition("=")
            properties[key.strip()] = value.strip().replace("\\", "")
    return properties
