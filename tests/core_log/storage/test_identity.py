"""Whose a directory is: Kafka's files read, ours written so that Kafka reads them."""

import pytest

from headwater.core_log.kernel.ids import parse_id
from headwater.core_log.storage.identity import (
    DirectoryIdentity,
    IdentityUnreadable,
    decode_format,
    decode_identity,
    decode_topic_id,
    encode_format,
    encode_identity,
    encode_topic_id,
)

FROM_KAFKA = b"""#
#Sat Nov 21 03:33:55 UTC 2026
node.id=1
directory.id=MWNmW66iE_HTshbkb_JBhg
version=1
cluster.id=aGVhZHdhdGVyaW50ZXJvcA
"""


def test_kafkas_file_is_read() -> None:
    assert decode_identity(FROM_KAFKA) == DirectoryIdentity(
        cluster_id="aGVhZHdhdGVyaW50ZXJvcA",
        node_id=1,
        directory_id=parse_id("MWNmW66iE_HTshbkb_JBhg"),
    )


@pytest.mark.parametrize("directory_id", [None, bytes(range(16))])
def test_what_is_written_is_read(directory_id: bytes | None) -> None:
    identity = DirectoryIdentity(cluster_id="c", node_id=7, directory_id=directory_id)
    assert decode_identity(encode_identity(identity)) == identity


def test_escapes_of_java_are_undone() -> None:
    data = b"version=1\nnode.id=1\ncluster.id=a\\=b\\:c\n! comment\n"
    assert decode_identity(data).cluster_id == "a=b:c"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "version is None"),
        (b"version=0\nbroker.id=1\n", "before KRaft"),
        (b"version=1\nnode.id=1\n", "no cluster.id"),
        (b"version=1\ncluster.id=c\n", "no node.id"),
        (b"version=1\ncluster.id=c\nnode.id=one\n", "invalid literal"),
        (b"version=1\ncluster.id=c\nnode.id=1\ndirectory.id=short\n", "not a Kafka id"),
    ],
)
def test_a_file_that_names_nobody_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(IdentityUnreadable, match=reason):
        decode_identity(data)


def test_topic_ids() -> None:
    """The text is Kafka's, which ends without a newline."""
    data = b"version: 0\ntopic_id: MWNmW66iE_HTshbkb_JBhg"
    assert decode_topic_id(data) == parse_id("MWNmW66iE_HTshbkb_JBhg")
    assert encode_topic_id(parse_id("MWNmW66iE_HTshbkb_JBhg")) == data


@pytest.mark.parametrize("data", [b"", b"version: 1\ntopic_id: x", b"version: 0\n", bytes(30)])
def test_a_torn_topic_id_is_refused(data: bytes) -> None:
    with pytest.raises(IdentityUnreadable):
        decode_topic_id(data)


def test_the_format_has_a_version() -> None:
    assert decode_format(encode_format()) == 1
    with pytest.raises(IdentityUnreadable, match="not a number"):
        decode_format(b"format.version=new\n")
