"""Disk threads: results come back on the loop, in order, errors among them."""

import asyncio
import errno
import threading
from collections.abc import Sequence

from headwater.core_log.kernel.ports import FileSystem
from headwater.core_log.server.disk import DiskThreads
from headwater.core_log.storage.flush import FlushJob
from headwater.core_log.storage.slices import LogSlice
from headwater.core_log.testing.memory_fs import MemoryFileSystem


class Touchy:
    """A file whose sync says which thread it ran on, or fails."""

    def __init__(self, error: OSError | None = None) -> None:
        self.error = error
        self.synced_by = ""

    def sync(self) -> None:
        self.synced_by = threading.current_thread().name
        if self.error is not None:
            raise self.error


def job(fs: FileSystem, file: Touchy) -> FlushJob:
    files: Sequence[object] = [file]
    return FlushJob(
        fs,
        files=files,  # type: ignore[arg-type]  # only sync is called
        directories=[],
        end_offset=0,
        generation=0,
        index_count=0,
    )


async def test_every_flush_gets_its_own_result_in_order() -> None:
    """More jobs than threads: errors stay with the job they belong to."""
    loop = asyncio.get_running_loop()
    disk = DiskThreads(loop)
    files = [Touchy(OSError(errno.EIO, "bad") if n % 3 == 0 else None) for n in range(20)]
    done: asyncio.Future[list[OSError | None]] = loop.create_future()
    disk.flush([job(MemoryFileSystem(), file) for file in files], done.set_result)
    errors = await done
    assert [error is not None for error in errors] == [n % 3 == 0 for n in range(20)]
    assert all(file.synced_by.startswith("flush") for file in files)
    disk.close()


async def test_work_of_any_kind_reports_its_result_or_its_error() -> None:
    loop = asyncio.get_running_loop()
    disk = DiskThreads(loop)
    results: asyncio.Queue[object] = asyncio.Queue()
    disk.run(lambda: 7, results.put_nowait)
    assert await results.get() == 7
    error = OSError(errno.ENOSPC, "full")

    def fail() -> int:
        raise error

    disk.run(fail, results.put_nowait)
    assert await results.get() is error
    disk.close()


async def test_slices_are_read_in_order() -> None:
    loop = asyncio.get_running_loop()
    disk = DiskThreads(loop)
    done: asyncio.Future[list[bytes | OSError]] = loop.create_future()
    empty = LogSlice(None, position=0, size_bytes=0, base_offset=0, end_offset=9)
    disk.read([empty, empty], done.set_result)
    assert await done == [b"", b""]
    disk.close()


async def test_closing_waits_for_what_runs() -> None:
    loop = asyncio.get_running_loop()
    disk = DiskThreads(loop)
    file = Touchy()
    disk.flush([job(MemoryFileSystem(), file)], lambda _: None)
    disk.close()
    assert file.synced_by
