"""The transaction index file: appended to with the log, cut with it, loaded when asked for."""

import pytest

from headwater.core_log.kernel.ports import OpenMode
from headwater.core_log.storage.aborted import ENTRY_BYTES, AbortedTransaction
from headwater.core_log.storage.errors import LogDamaged
from headwater.core_log.storage.transactions import TransactionIndex
from headwater.core_log.storage.volume import Volume
from headwater.core_log.testing.memory_fs import MemoryFileSystem

from .world import volume_on

PATH = "data/a.txnindex"


def entry(number: int) -> AbortedTransaction:
    return AbortedTransaction(
        producer_id=number,
        first_offset=number * 10,
        last_offset=number * 10 + 5,
        last_stable_offset=number * 10 + 6,
    )


@pytest.fixture
def volume() -> Volume:
    fs = MemoryFileSystem()
    fs.make_directory("data")
    return volume_on(fs)


def test_most_segments_have_no_file(volume: Volume) -> None:
    index = TransactionIndex(volume, PATH, is_new=True)
    index.write()
    index.reset([])
    assert index.entries == []
    assert index.file() is None
    assert TransactionIndex(volume, PATH, is_new=False).entries == []
    assert volume.fs.list("data") == []


def test_entries_are_appended_and_read_again(volume: Volume) -> None:
    index = TransactionIndex(volume, PATH, is_new=True)
    index.append(entry(1))
    index.write()
    index.append(entry(2))
    index.append(entry(3))
    index.unload()  # keeps what is not written
    index.write()
    index.unload()
    assert volume.fs.size(PATH) == 3 * ENTRY_BYTES
    assert index.entries == [entry(1), entry(2), entry(3)]
    assert index.file() is not None


def test_what_was_queued_can_be_dropped(volume: Volume) -> None:
    index = TransactionIndex(volume, PATH, is_new=True)
    index.append(entry(1))
    index.write()
    index.append(entry(2))
    index.drop_pending()
    index.drop_pending()
    index.write()
    assert TransactionIndex(volume, PATH, is_new=False).entries == [entry(1)]


def test_a_reset_replaces_the_file(volume: Volume) -> None:
    index = TransactionIndex(volume, PATH, is_new=True)
    index.append(entry(1))
    index.append(entry(2))
    index.write()
    index.reset([entry(1)])
    assert volume.fs.size(PATH) == ENTRY_BYTES
    index.append(entry(3))
    index.write()
    assert TransactionIndex(volume, PATH, is_new=False).entries == [entry(1), entry(3)]


def test_a_damaged_file_is_named(volume: Volume) -> None:
    volume.fs.open(PATH, OpenMode.CREATE).write_at([b"x" * 40], 0)
    with pytest.raises(LogDamaged, match=PATH):
        TransactionIndex(volume, PATH, is_new=False).entries  # noqa: B018 - the property raises
