"""One contract for two file systems: the operating system's, and the one in memory."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.core_log.kernel.ports import FileSystem, OpenMode
from headwater.core_log.storage.fs import OsFileSystem
from headwater.core_log.testing.memory_fs import MemoryFileSystem


@pytest.fixture(params=["os", "memory"])
def fs(request: pytest.FixtureRequest) -> FileSystem:
    if request.param == "os":
        return OsFileSystem()
    return MemoryFileSystem()


@pytest.fixture
def root(fs: FileSystem, tmp_path: Path) -> str:
    if isinstance(fs, MemoryFileSystem):
        fs.make_directory("root")
        return "root"
    return str(tmp_path)


def write(fs: FileSystem, path: str, data: bytes) -> None:
    file = fs.open(path, OpenMode.REPLACE)
    file.write_at([data], 0)
    file.close()


def read(fs: FileSystem, path: str) -> bytes:
    file = fs.open(path, OpenMode.READ)
    data = file.read_at(file.size(), 0)
    file.close()
    return data


def test_buffers_are_written_one_behind_the_other(fs: FileSystem, root: str) -> None:
    """Any kind of buffer, at a position; the result is their size."""
    file = fs.open(f"{root}/a", OpenMode.CREATE)
    assert file.write_at([b"abc", bytearray(b"de"), memoryview(b"xfgx")[1:3]], 0) == 7
    assert file.write_at([b"XY"], 2) == 2
    assert file.read_at(100, 0) == b"abXYefg"
    assert file.write_at([], 3) == 0
    assert file.size() == 7


def test_more_buffers_than_one_call_takes(fs: FileSystem, root: str) -> None:
    """The system bounds the buffers of a call; a caller does not see it."""
    file = fs.open(f"{root}/a", OpenMode.CREATE)
    assert file.write_at([b"%d," % (i % 10) for i in range(5000)], 0) == 10_000
    assert file.read_at(6, 9_994) == b"7,8,9,"


def test_writing_behind_the_end_leaves_zeros(fs: FileSystem, root: str) -> None:
    file = fs.open(f"{root}/a", OpenMode.CREATE)
    file.write_at([b"z"], 5)
    assert file.read_at(10, 0) == b"\0\0\0\0\0z"


def test_reads_end_at_the_end_of_the_file(fs: FileSystem, root: str) -> None:
    write(fs, f"{root}/a", b"0123456789")
    file = fs.open(f"{root}/a", OpenMode.READ)
    assert file.read_at(4, 8) == b"89"
    assert file.read_at(4, 10) == b""
    assert file.read_at(4, 99) == b""


def test_cached_reads_give_the_same_or_nothing(fs: FileSystem, root: str) -> None:
    """None is always a right answer; anything else is what read_at gives."""
    write(fs, f"{root}/a", bytes(range(256)) * 64)
    file = fs.open(f"{root}/a", OpenMode.READ)
    for size, position in ((100, 0), (100, 16_384 - 50), (10, 16_384), (1 << 20, 0)):
        cached = file.read_cached(size, position)
        assert cached is None or bytes(cached) == file.read_at(size, position)


def test_truncation_cuts_and_extends(fs: FileSystem, root: str) -> None:
    write(fs, f"{root}/a", b"0123456789")
    file = fs.open(f"{root}/a", OpenMode.WRITE)
    file.truncate(3)
    assert file.size() == 3
    file.truncate(5)
    assert file.read_at(9, 0) == b"012\0\0"


def test_modes_say_what_must_be_there(fs: FileSystem, root: str) -> None:
    for mode in (OpenMode.READ, OpenMode.WRITE):
        with pytest.raises(FileNotFoundError):
            fs.open(f"{root}/a", mode)
    fs.open(f"{root}/a", OpenMode.CREATE).write_at([b"old"], 0)
    with pytest.raises(FileExistsError):
        fs.open(f"{root}/a", OpenMode.CREATE)
    assert fs.open(f"{root}/a", OpenMode.WRITE).read_at(9, 0) == b"old"
    assert fs.open(f"{root}/a", OpenMode.REPLACE).size() == 0
    with pytest.raises(FileNotFoundError):
        fs.open(f"{root}/missing/a", OpenMode.CREATE)


def test_a_file_for_reading_is_not_written(fs: FileSystem, root: str) -> None:
    write(fs, f"{root}/a", b"old")
    with pytest.raises(OSError, match=r"descriptor|reading"):
        fs.open(f"{root}/a", OpenMode.READ).write_at([b"new"], 0)


def test_renaming_takes_the_place_of_the_target(fs: FileSystem, root: str) -> None:
    write(fs, f"{root}/a", b"a")
    write(fs, f"{root}/b", b"b")
    fs.rename(f"{root}/a", f"{root}/b")
    assert fs.list(root) == ["b"]
    assert read(fs, f"{root}/b") == b"a"
    with pytest.raises(FileNotFoundError):
        fs.rename(f"{root}/a", f"{root}/c")


def test_directories_are_renamed_with_what_is_in_them(fs: FileSystem, root: str) -> None:
    fs.make_directory(f"{root}/d")
    write(fs, f"{root}/d/a", b"a")
    fs.rename(f"{root}/d", f"{root}/e")
    assert read(fs, f"{root}/e/a") == b"a"
    assert not fs.is_directory(f"{root}/d")


def test_an_open_file_outlives_its_name(fs: FileSystem, root: str) -> None:
    """A reader keeps what it has open, whether the file is renamed or removed."""
    write(fs, f"{root}/a", b"kept")
    file = fs.open(f"{root}/a", OpenMode.READ)
    fs.rename(f"{root}/a", f"{root}/b")
    fs.remove(f"{root}/b")
    assert file.read_at(9, 0) == b"kept"


def test_removing_takes_whole_directories_and_minds_no_absence(fs: FileSystem, root: str) -> None:
    fs.make_directory(f"{root}/d/e")
    write(fs, f"{root}/d/e/a", b"a")
    fs.remove(f"{root}/d")
    fs.remove(f"{root}/d")
    fs.remove(f"{root}/nothing")
    assert fs.list(root) == []


def test_directories_come_with_their_parents(fs: FileSystem, root: str) -> None:
    fs.make_directory(f"{root}/x/y/z")
    fs.make_directory(f"{root}/x/y/z")
    assert fs.is_directory(f"{root}/x/y/z")
    write(fs, f"{root}/x/file", b"")
    assert not fs.is_directory(f"{root}/x/file")
    with pytest.raises(FileExistsError):
        fs.make_directory(f"{root}/x/file")


def test_lists_are_sorted_and_sizes_known(fs: FileSystem, root: str) -> None:
    for name in ("b", "a", "c"):
        write(fs, f"{root}/{name}", name.encode() * 3)
    assert fs.list(root) == ["a", "b", "c"]
    assert fs.size(f"{root}/a") == 3
    assert fs.size(f"{root}/z") is None
    assert fs.size(f"{root}/a/z") is None
    with pytest.raises(FileNotFoundError):
        fs.list(f"{root}/z")


def test_syncing_succeeds_on_files_and_directories(fs: FileSystem, root: str) -> None:
    file = fs.open(f"{root}/a", OpenMode.CREATE)
    file.write_at([b"x"], 0)
    file.sync()
    fs.sync_directory(root)
    with pytest.raises(FileNotFoundError):
        fs.sync_directory(f"{root}/z")


def test_a_lock_has_one_holder_until_it_is_closed(fs: FileSystem, root: str) -> None:
    """Also within one process, where record locks alone would not notice."""
    held = fs.lock(f"{root}/.lock")
    with pytest.raises(BlockingIOError):
        fs.lock(f"{root}/.lock")
    held.close()
    fs.lock(f"{root}/.lock").close()


def test_there_is_free_space(fs: FileSystem, root: str) -> None:
    assert fs.free_bytes(root) > 0


def test_closing_twice_is_fine(fs: FileSystem, root: str) -> None:
    file = fs.open(f"{root}/a", OpenMode.CREATE)
    file.close()
    file.close()


# What only the operating system has


@pytest.mark.parametrize(
    "touch",
    [
        lambda fs, path: fs.open(path, OpenMode.READ),
        lambda fs, path: fs.open(path, OpenMode.WRITE),
        lambda fs, path: fs.open(path, OpenMode.REPLACE),
        lambda fs, path: fs.open(path, OpenMode.CREATE),
        lambda fs, path: fs.lock(path),
        lambda fs, path: fs.list(path.removesuffix("/link")),
    ],
)
def test_symbolic_links_are_refused(
    tmp_path: Path, touch: Callable[[OsFileSystem, str], object]
) -> None:
    """Neither read nor followed nor overwritten: what they point to stays as it was."""
    target = tmp_path / "elsewhere"
    target.write_bytes(b"precious")
    data = tmp_path / "data"
    data.mkdir()
    (data / "link").symlink_to(target)
    with pytest.raises(OSError, match=r"link|exists"):
        touch(OsFileSystem(), str(data / "link"))
    assert target.read_bytes() == b"precious"


def test_removing_a_link_leaves_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_bytes(b"a")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    OsFileSystem().remove(str(tmp_path / "link"))
    assert (tmp_path / "real" / "a").exists()
    assert not OsFileSystem().is_directory(str(tmp_path / "link"))


def test_files_are_private(tmp_path: Path) -> None:
    fs = OsFileSystem()
    fs.make_directory(str(tmp_path / "d" / "e"))
    fs.open(str(tmp_path / "d" / "a"), OpenMode.CREATE).close()
    fs.lock(str(tmp_path / "d" / ".lock")).close()

    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    assert mode(tmp_path / "d") == mode(tmp_path / "d" / "e") == 0o700
    assert mode(tmp_path / "d" / "a") == mode(tmp_path / "d" / ".lock") == 0o600


def test_a_dropped_file_closes_its_descriptor(tmp_path: Path) -> None:
    """Caches let go of files without closing them: the last user's drop does."""
    file = OsFileSystem().open(str(tmp_path / "a"), OpenMode.CREATE)
    descriptor = file.fileno()
    assert descriptor is not None
    other = file
    del file
    os.fstat(descriptor)
    del other
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(descriptor)


def test_a_cached_read_of_a_hot_file_needs_no_disk(tmp_path: Path) -> None:
    """Where the kernel can tell what is cached, what was just written is."""
    file = OsFileSystem().open(str(tmp_path / "a"), OpenMode.CREATE)
    file.write_at([b"x" * 100_000], 0)
    cached = file.read_cached(100_000, 0)
    if cached is None:
        pytest.skip("this file system does not say what is in the page cache")
    assert bytes(cached) == b"x" * 100_000
    assert bytes(file.read_cached(10, 99_995) or b"") == b"x" * 5
