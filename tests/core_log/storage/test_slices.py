"""A slice is a range of a file, read when it is sent."""

from headwater.core_log.kernel.ports import OpenMode
from headwater.core_log.storage.slices import LogSlice
from headwater.core_log.testing.memory_fs import MemoryFileSystem


def test_a_slice_reads_its_range() -> None:
    fs = MemoryFileSystem()
    file = fs.open("a", OpenMode.CREATE)
    file.write_at([b"0123456789"], 0)
    piece = LogSlice(file, position=3, size_bytes=4, base_offset=7, end_offset=9)
    assert piece.read() == piece.read_cached() == b"3456"
    fs.is_cold = True
    assert piece.read_cached() is None
    assert piece.read() == b"3456"


def test_an_empty_slice_needs_no_file() -> None:
    piece = LogSlice(None, position=0, size_bytes=0, base_offset=7, end_offset=9)
    assert piece.read() == piece.read_cached() == b""
