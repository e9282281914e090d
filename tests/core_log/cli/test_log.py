"""``headwater log dump``: what lies in a directory, with or without a broker."""

import shutil
from pathlib import Path

import pytest

from headwater.core_log.testing.process import BrokerProcess

from .commands import Commands

KAFKA_PARTITION = Path(__file__).parents[1] / "storage" / "data" / "kafka-4.3-partition"
KAFKA_METADATA = Path(__file__).parents[1] / "controller" / "kafka_directories" / "dynamic"
NOBODY = Commands("127.0.0.1:1")


@pytest.fixture
def partition(headwater: Commands, broker: BrokerProcess, tmp_path: Path) -> Path:
    """A copy of a partition with two batches, away from the broker."""
    source = broker.data_directory / "dumped-0"
    if not source.exists():  # the first test that needs it makes it
        headwater("topics", "create", "dumped")
        for text in ("a:1\nb:2\n", "c:3\n"):
            headwater("produce", "dumped", "--key-separator", ":", "--header", "h=v", given=text)
    return Path(shutil.copytree(source, tmp_path / "dumped-0"))


def test_segments_batches_and_records(partition: Path) -> None:
    """Each depth, as a table and as JSON, without a broker."""
    segments = NOBODY("log", "dump", partition)
    assert segments.table[1][:2] == ["dumped-0", f"{0:020}.log"]
    [segment] = NOBODY("log", "dump", partition, "--json").rows
    assert (segment["batches"], segment["records"], segment["last_offset"]) == (2, 3, 2)
    assert segment["fault"] is None
    batches = NOBODY("log", "dump", partition, "--batches", "--json").rows
    assert [(b["first_offset"], b["records"], b["codec"]) for b in batches] == [
        (0, 2, "none"),
        (2, 1, "none"),
    ]
    assert batches[1]["base_sequence"] == 0
    records = NOBODY("log", "dump", partition, "--records", "--json").rows
    assert [(r["offset"], r["key"], r["value"]) for r in records] == [
        (0, "a", "1"),
        (1, "b", "2"),
        (2, "c", "3"),
    ]
    assert [words[0] for words in NOBODY("log", "dump", partition, "--records").table if words] == [
        *("dumped-0/00000000000000000000.log", "OFFSET", "0", "1", "2")
    ]


def test_a_directory_of_a_running_broker(headwater: Commands, broker: BrokerProcess) -> None:
    """Everything in it, the metadata log included, and nothing is changed."""
    headwater("produce", "running", given="made by its first record\n")
    names = {
        row["partition"] for row in NOBODY("log", "dump", broker.data_directory, "--json").rows
    }
    assert {"__cluster_metadata-0", "running-0"} <= names


@pytest.mark.parametrize("place", [16, 23, 65])
def test_a_damaged_segment_is_exit_code_1(partition: Path, place: int) -> None:
    """The place and the reason; what is whole before it is still shown."""
    log = partition / f"{0:020}.log"
    second = NOBODY("log", "dump", log, "--batches", "--json").rows[1]["position"]
    data = bytearray(log.read_bytes())
    data[second + place] ^= 1  # magic, attributes, a record
    log.write_bytes(data)
    [row] = NOBODY("log", "dump", partition, "--json", code=1).rows
    assert f"at byte {second}: " in row["fault"]
    assert len(NOBODY("log", "dump", partition, "--records", "--json", code=1).rows) == 2


def test_a_torn_tail_is_exit_code_1(partition: Path) -> None:
    """A batch that ends too early is told as such."""
    log = partition / f"{0:020}.log"
    log.write_bytes(log.read_bytes()[:-1])
    [row] = NOBODY("log", "dump", log, "--json", code=1).rows
    assert row["fault"] is not None
    assert row["fault"] in NOBODY("log", "dump", log, code=1).out


def test_directories_that_apache_kafka_wrote(tmp_path: Path) -> None:
    """Partitions with transactions, and the metadata log with its snapshots."""
    shutil.copytree(KAFKA_PARTITION, tmp_path / "traces-0")
    segments = NOBODY("log", "dump", tmp_path, "--json").rows
    assert [row["first_offset"] for row in segments] == [0, 150]
    kinds = {row["kind"] for row in NOBODY("log", "dump", tmp_path, "--batches", "--json").rows}
    assert "transactional control" in kinds
    names = [row["segment"] for row in NOBODY("log", "dump", KAFKA_METADATA, "--json").rows]
    assert any(name.endswith(".checkpoint") for name in names)
    assert any(name.endswith(".log") for name in names)


def test_what_holds_no_log(tmp_path: Path) -> None:
    """What may be given instead, or that nothing is there."""
    assert "give a data directory" in NOBODY("log", "dump", tmp_path, code=1).err
    assert "does not exist" in NOBODY("log", "dump", tmp_path / "none", code=2).err
