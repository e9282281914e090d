"""Taking a data directory over: its lock, whose it is, what it remembers, space in reserve."""

from dataclasses import dataclass
from typing import Final

from ..kernel.ids import ID_BYTES, id_text
from ..kernel.ports import File, FileSystem, OpenMode, Random
from .checkpoints import (
    CLEANED,
    HIGH_WATERMARKS,
    LOG_STARTS,
    RECOVERY_POINTS,
    CheckpointCorrupt,
    Offsets,
    decode_offsets,
)
from .errors import LogDirectoryRefused
from .identity import (
    CLEAN_SHUTDOWN,
    FORMAT_PROPERTIES,
    FORMAT_VERSION,
    LOCK,
    META_PROPERTIES,
    DirectoryIdentity,
    IdentityUnreadable,
    decode_format,
    decode_identity,
    encode_format,
    encode_identity,
)
from .notes import Note
from .volume import NO_SPACE, read_all, write_durably

RESERVE: Final = "headwater.reserve"
RESERVE_BYTES: Final = 1024 * 1024
"""Given up when a checkpoint finds the disk full: without one nothing could ever be deleted."""

RESERVED_DIRECTORY_IDS: Final = 100
"""Kafka keeps the ids whose number is below this for purposes of its own (KIP-858)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A directory that is ours as long as the lock is open."""

    lock: File
    identity: DirectoryIdentity
    was_clean: bool
    """The last owner stopped cleanly; its marker is gone now."""
    checkpoints: dict[str, Offsets]
    unreadable: frozenset[str]
    """Names of checkpoints that were there and made no sense."""
    notes: list[Note]


def claim(fs: FileSystem, path: str, *, node_id: int, cluster_id: str | None, rng: Random) -> Claim:
    """Take the directory over, creating what is missing. Raises LogDirectoryRefused, OSError."""
    _make_durably(fs, path)
    lock = _lock(fs, path)
    try:
        identity = _identify(fs, path, node_id=node_id, cluster_id=cluster_id, rng=rng)
        notes: list[Note] = []
        checkpoints: dict[str, Offsets] = {}
        unreadable: set[str] = set()
        for name in (RECOVERY_POINTS, LOG_STARTS, HIGH_WATERMARKS, CLEANED):
            offsets = _read_offsets(fs, path, name, notes)
            checkpoints[name] = offsets or {}
            if offsets is None:
                unreadable.add(name)
        marker = f"{path}/{CLEAN_SHUTDOWN}"
        was_clean = fs.size(marker) is not None
        fs.remove(marker)
        _reserve(fs, path)
        fs.sync_directory(path)
    except BaseException:
        lock.close()
        raise
    return Claim(
        lock=lock,
        identity=identity,
        was_clean=was_clean,
        checkpoints=checkpoints,
        unreadable=frozenset(unreadable),
        notes=notes,
    )


def _make_durably(fs: FileSystem, path: str) -> None:
    """Have the directory, and its name on disk, with those of missing parents."""
    if not fs.is_directory(path):
        parent = path.rstrip("/").rpartition("/")[0] or ("/" if path.startswith("/") else ".")
        _make_durably(fs, parent)
        fs.make_directory(path)
        fs.sync_directory(parent)


def _lock(fs: FileSystem, path: str) -> File:
    try:
        return fs.lock(f"{path}/{LOCK}")
    except BlockingIOError as error:
        raise LogDirectoryRefused(
            path, "another process uses it; stop that one, or give this node its own directory"
        ) from error


def _identify(
    fs: FileSystem, path: str, *, node_id: int, cluster_id: str | None, rng: Random
) -> DirectoryIdentity:
    """Check who the directory belongs to and write down what is missing."""
    _check_format(fs, path)
    data = read_all(fs, f"{path}/{META_PROPERTIES}")
    try:
        known = decode_identity(data) if data else None
    except IdentityUnreadable as error:
        raise LogDirectoryRefused(path, f"{META_PROPERTIES}: {error.reason}") from error
    if known is not None and known.node_id != node_id:
        raise LogDirectoryRefused(
            path, f"it belongs to node {known.node_id}, this is node {node_id}"
        )
    if known is not None and cluster_id is not None and known.cluster_id != cluster_id:
        raise LogDirectoryRefused(
            path, f"it belongs to cluster {known.cluster_id}, this node to {cluster_id}"
        )
    own_id = None if known is None else known.directory_id
    identity = DirectoryIdentity(
        cluster_id=known.cluster_id if known else cluster_id or id_text(rng.randbytes(ID_BYTES)),
        node_id=node_id,
        directory_id=own_id or _new_directory_id(rng),
    )
    if identity != known:
        write_durably(fs, f"{path}/{META_PROPERTIES}", encode_identity(identity))
    if fs.size(f"{path}/{FORMAT_PROPERTIES}") is None:
        write_durably(fs, f"{path}/{FORMAT_PROPERTIES}", encode_format())
    return identity


def _check_format(fs: FileSystem, path: str) -> None:
    data = read_all(fs, f"{path}/{FORMAT_PROPERTIES}")
    if data is None:
        return
    try:
        version = decode_format(data)
    except IdentityUnreadable as error:
        raise LogDirectoryRefused(path, f"{FORMAT_PROPERTIES}: {error.reason}") from error
    if version > FORMAT_VERSION:
        raise LogDirectoryRefused(
            path,
            f"a newer Headwater wrote it (format {version}, this one knows {FORMAT_VERSION}); "
            "start that version",
        )


def _new_directory_id(rng: Random) -> bytes:
    while True:
        directory_id = rng.randbytes(ID_BYTES)
        is_reserved = int.from_bytes(directory_id) < RESERVED_DIRECTORY_IDS
        if not is_reserved and not id_text(directory_id).startswith("-"):
            return directory_id


def _read_offsets(fs: FileSystem, path: str, name: str, notes: list[Note]) -> Offsets | None:
    """What a checkpoint says, None when it makes no sense."""
    data = read_all(fs, f"{path}/{name}")
    try:
        return decode_offsets(data) if data is not None else {}
    except CheckpointCorrupt as error:
        # Without recovery points everything is read, without log starts deleted records return.
        notes.append(
            Note(
                event="checkpoint_unreadable",
                path=f"{path}/{name}",
                facts={"reason": error.reason},
                severe=True,
            )
        )
        return None


def _reserve(fs: FileSystem, path: str) -> None:
    name = f"{path}/{RESERVE}"
    if fs.size(name) == RESERVE_BYTES:
        return
    try:
        file = fs.open(name, OpenMode.REPLACE)
        try:
            file.write_at([bytes(RESERVE_BYTES)], 0)
        finally:
            file.close()
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        fs.remove(name)
