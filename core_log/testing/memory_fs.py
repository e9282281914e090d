"""A file system in memory that can lose power, run full, fail and lie.

It keeps two states: what a running program sees, and what a disk would hold. Data moves from the
first to the second by File.sync, names by sync_directory. ``crash()`` throws the first away. What
was not synced may survive or not: of each file every write whole, torn at any byte or by sectors,
or not at all; of each directory the oldest few of its unsynced changes, as a journal would keep.

After a failed sync the data counts as written: the next sync succeeds, and a crash loses it. That
is what Linux does, and why nobody may try a sync again.
"""

import errno
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, final

from ..kernel.ports import Buffer, OpenMode

SECTOR_BYTES: Final = 512
"""A disk writes a sector whole or not at all."""


class PowerLost(Exception):
    """The machine is off: nothing works until crash() has been called.

    Not an OSError, so that no code under test takes it for a disk's fault and goes on.
    """


@final
class MemoryFileSystem:
    """The file port in memory. Not thread safe.

    ``operations`` lists every change as text, in order; its length is what fail_after and
    crash_after count from.
    """

    def __init__(self, *, seed: int = 0) -> None:
        self.capacity_bytes: int | None = None
        """Files may hold this much together; None is a disk without end."""
        self.is_cold = False
        """Nothing is in the page cache: read_cached answers None."""
        self.operations: list[str] = []
        self._rng = random.Random(seed)  # noqa: S311 - faults, not secrets
        self._root = _Directory()
        self._locked: set[str] = set()
        self._generation = 0
        self._off = False
        self._crash_at: int | None = None
        self._fail_at: int | None = None
        self._error_number = errno.EIO

    # Faults

    def crash(self) -> None:
        """Lose power and come back: what was not synced is lost or not, as the seed says."""
        self._root.crash(self._rng)
        self.kill()

    def kill(self) -> None:
        """The process ends and another begins: all that was written is there, synced or not."""
        self._generation += 1
        self._locked.clear()
        self._off = False
        self._crash_at = self._fail_at = None

    def crash_after(self, count: int) -> None:
        """*count* more operations work; from then on everything raises PowerLost."""
        self._crash_at = len(self.operations) + count

    def fail_after(self, count: int, error_number: int = errno.EIO) -> None:
        """*count* more operations work; the one after them fails once with *error_number*."""
        self._fail_at = len(self.operations) + count
        self._error_number = error_number

    def flip_bit(self, path: str, position: int, bit: int = 0) -> None:
        """Change one bit of a file, on the disk too."""
        node = self._file(path)
        node.data[position] ^= 1 << bit
        if position < len(node.durable):
            node.durable[position] ^= 1 << bit

    @property
    def used_bytes(self) -> int:
        return self._root.used_bytes()

    # The port

    def open(self, path: str, mode: OpenMode) -> "MemoryFile":
        self._check_power()
        parent, name = self._parent(path)
        node = parent.entries.get(name)
        if isinstance(node, _Directory):
            raise IsADirectoryError(errno.EISDIR, "it is a directory", path)
        if mode is OpenMode.CREATE and node is not None:
            raise FileExistsError(errno.EEXIST, "the file exists", path)
        if node is None:
            if mode in (OpenMode.READ, OpenMode.WRITE):
                raise _missing(path)
            self.begin_operation(f"create {path}")
            node = _FileNode()
            parent.put(name, node)
        elif mode is OpenMode.REPLACE:
            self.begin_operation(f"truncate {path} 0")
            node.truncate(0)
        return MemoryFile(self, node, path, self._generation, writable=mode is not OpenMode.READ)

    def list(self, path: str) -> list[str]:
        self._check_power()
        return sorted(self._directory(path).entries)

    def size(self, path: str) -> int | None:
        self._check_power()
        node = self._find(path)
        if node is None:
            return None
        return len(node.data) if isinstance(node, _FileNode) else 0

    def is_directory(self, path: str) -> bool:
        self._check_power()
        return isinstance(self._find(path), _Directory)

    def make_directory(self, path: str) -> None:
        self._check_power()
        here = self._root
        for name in _names(path):
            node = here.entries.get(name)
            if isinstance(node, _FileNode):
                raise FileExistsError(errno.EEXIST, "a file of this name exists", path)
            if node is None:
                self.begin_operation(f"make_directory {path}")
                node = _Directory()
                here.put(name, node)
            here = node

    def rename(self, source: str, target: str) -> None:
        self._check_power()
        from_directory, from_name = self._parent(source)
        to_directory, to_name = self._parent(target)
        node = from_directory.entries.get(from_name)
        if node is None:
            raise _missing(source)
        self.begin_operation(f"rename {source} {target}")
        if from_directory is to_directory:
            from_directory.move(from_name, to_name)
        else:
            # NB: a real journal moves between directories at once; here a crash may split it.
            to_directory.put(to_name, node)
            from_directory.drop(from_name)

    def remove(self, path: str) -> None:
        self._check_power()
        if self._find(path) is None:
            return
        parent, name = self._parent(path)
        self.begin_operation(f"remove {path}")
        parent.drop(name)

    def sync_directory(self, path: str) -> None:
        self._check_power()
        directory = self._directory(path)
        self.begin_operation(f"sync_directory {path}")
        directory.sync()

    def lock(self, path: str) -> "MemoryFile":
        self._check_power()
        if path in self._locked:
            raise BlockingIOError(errno.EAGAIN, "the lock is held", path)
        mode = OpenMode.CREATE if self._find(path) is None else OpenMode.WRITE
        file = self.open(path, mode)
        file.locks = True
        self._locked.add(path)
        return file

    def free_bytes(self, path: str) -> int:
        self._check_power()
        del path
        if self.capacity_bytes is None:
            return 1 << 60
        return max(0, self.capacity_bytes - self.used_bytes)

    # For the files

    def begin_operation(self, what: str) -> None:
        """Count an operation; raise what the faults have in store for it."""
        done = len(self.operations)
        if self._crash_at is not None and done >= self._crash_at:
            self._off = True
        self._check_power()
        if self._fail_at is not None and done >= self._fail_at:
            self._fail_at = None
            raise OSError(self._error_number, "injected", what)
        self.operations.append(what)

    def check_generation(self, generation: int) -> None:
        """Raise PowerLost for a file opened before the last crash."""
        self._check_power()
        if generation != self._generation:
            raise PowerLost

    def unlock(self, path: str) -> None:
        self._locked.discard(path)

    def torn_size(self, size: int) -> int:
        """How much of a failing write arrives."""
        return self._rng.randrange(0, size + 1)

    def _check_power(self) -> None:
        if self._off:
            raise PowerLost

    def _find(self, path: str) -> "_Node | None":
        node: _Node = self._root
        for name in _names(path):
            if not isinstance(node, _Directory) or name not in node.entries:
                return None
            node = node.entries[name]
        return node

    def _file(self, path: str) -> "_FileNode":
        node = self._find(path)
        if not isinstance(node, _FileNode):
            raise _missing(path)
        return node

    def _directory(self, path: str) -> "_Directory":
        node = self._find(path)
        if node is None:
            raise _missing(path)
        if not isinstance(node, _Directory):
            raise NotADirectoryError(errno.ENOTDIR, "it is a file", path)
        return node

    def _parent(self, path: str) -> "tuple[_Directory, str]":
        *parents, name = _names(path)
        return self._directory("/".join(parents)), name


@final
class MemoryFile:
    """An open file of a MemoryFileSystem; it stays readable after its name is gone."""

    def __init__(
        self, fs: MemoryFileSystem, node: "_FileNode", path: str, generation: int, *, writable: bool
    ) -> None:
        self.locks = False
        self._fs = fs
        self._node: _FileNode | None = node
        self._path = path
        self._generation = generation
        self._writable = writable

    def write_at(self, buffers: Sequence[Buffer], position: int) -> int:
        node = self._writable_node()
        data = b"".join(buffers)
        try:
            self._fs.begin_operation(f"write {self._path} {position} {len(data)}")
        except OSError:
            node.write(position, data[: self._fs.torn_size(len(data))])
            raise
        growth = max(0, position + len(data) - len(node.data))
        free_bytes = self._fs.free_bytes(self._path)
        if growth > free_bytes:
            node.write(position, data[: max(0, len(data) - growth + free_bytes)])
            raise OSError(errno.ENOSPC, "no space left on device", self._path)
        node.write(position, data)
        return len(data)

    def read_at(self, size: int, position: int) -> bytes:
        return bytes(self._live_node().data[position : position + size])

    def read_cached(self, size: int, position: int) -> Buffer | None:
        node = self._live_node()
        return None if self._fs.is_cold else bytes(node.data[position : position + size])

    def sync(self) -> None:
        node = self._live_node()
        try:
            self._fs.begin_operation(f"sync {self._path}")
        except OSError:
            node.unsynced.clear()  # the pages count as written, see the module
            raise
        node.sync()

    def truncate(self, size: int) -> None:
        node = self._writable_node()
        self._fs.begin_operation(f"truncate {self._path} {size}")
        node.truncate(size)

    def size(self) -> int:
        return len(self._live_node().data)

    def fileno(self) -> int | None:
        return None

    def close(self) -> None:
        if self._node is not None and self.locks:
            self._fs.unlock(self._path)
        self._node = None

    def _live_node(self) -> "_FileNode":
        self._fs.check_generation(self._generation)
        if self._node is None:
            raise OSError(errno.EBADF, "the file is closed", self._path)
        return self._node

    def _writable_node(self) -> "_FileNode":
        node = self._live_node()
        if not self._writable:
            raise OSError(errno.EBADF, "the file is open for reading", self._path)
        return node


@dataclass(slots=True)
class _FileNode:
    data: bytearray = field(default_factory=bytearray)
    durable: bytearray = field(default_factory=bytearray)
    unsynced: "list[_Write | int]" = field(default_factory=list)
    """Writes, and the sizes of truncations."""

    def write(self, position: int, data: bytes) -> None:
        write = _Write(position, data)
        write.apply(self.data)
        self.unsynced.append(write)

    def truncate(self, size: int) -> None:
        _resize(self.data, size)
        self.unsynced.append(size)

    def sync(self) -> None:
        for change in self.unsynced:
            _apply(change, self.durable)
        self.unsynced.clear()

    def crash(self, rng: random.Random) -> None:
        for change in self.unsynced:
            for part in _survivors(change, rng):
                _apply(part, self.durable)
        self.unsynced.clear()
        self.data = bytearray(self.durable)


@dataclass(slots=True)
class _Directory:
    entries: "dict[str, _Node]" = field(default_factory=dict)
    durable: "dict[str, _Node]" = field(default_factory=dict)
    unsynced: "list[dict[str, _Node | None]]" = field(default_factory=list)
    """Changes of names; those of one change come together."""

    def put(self, name: str, node: "_Node") -> None:
        self._change({name: node})

    def drop(self, name: str) -> None:
        self._change({name: None})

    def move(self, source: str, target: str) -> None:
        if source != target:
            self._change({source: None, target: self.entries[source]})

    def sync(self) -> None:
        for change in self.unsynced:
            _rename_all(self.durable, change)
        self.unsynced.clear()

    def crash(self, rng: random.Random) -> None:
        del self.unsynced[rng.randrange(0, len(self.unsynced) + 1) :]
        self.sync()
        self.entries = dict(self.durable)
        for name in sorted(self.entries):
            self.entries[name].crash(rng)

    def used_bytes(self) -> int:
        return sum(
            len(node.data) if isinstance(node, _FileNode) else node.used_bytes()
            for node in self.entries.values()
        )

    def _change(self, change: "dict[str, _Node | None]") -> None:
        _rename_all(self.entries, change)
        self.unsynced.append(change)


@dataclass(frozen=True, slots=True)
class _Write:
    position: int
    data: bytes

    def apply(self, content: bytearray) -> None:
        if self.position > len(content):
            content.extend(bytes(self.position - len(content)))
        content[self.position : self.position + len(self.data)] = self.data


_Node: TypeAlias = _FileNode | _Directory


def _apply(change: _Write | int, content: bytearray) -> None:
    if isinstance(change, _Write):
        change.apply(content)
    else:
        _resize(content, change)


def _resize(content: bytearray, size: int) -> None:
    content.extend(bytes(max(0, size - len(content))))
    del content[size:]


def _survivors(change: _Write | int, rng: random.Random) -> list[_Write | int]:
    """What a power loss leaves of one unsynced change."""
    fate = rng.randrange(4)
    if fate == 0:
        return []
    if fate == 1 or isinstance(change, int):
        return [change]
    if fate == 2:
        return [_Write(change.position, change.data[: rng.randrange(0, len(change.data) + 1)])]
    return [
        _Write(change.position + start, change.data[start : start + SECTOR_BYTES])
        for start in range(0, len(change.data), SECTOR_BYTES)
        if rng.randrange(2)
    ]


def _rename_all(names: dict[str, _Node], change: dict[str, _Node | None]) -> None:
    for name, node in change.items():
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _missing(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, "no such file or directory", path)
