"""Leader epochs answer as Kafka's do, and as a list of the batches' epochs would."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.storage.epochs import (
    UNKNOWN_END,
    EpochEntry,
    EpochFileCorrupt,
    LeaderEpochs,
    decode_epochs,
    encode_epochs,
)

DATA = Path(__file__).parent / "data"
KAFKA_FILE = DATA / "kafka-4.3-leader-epoch-checkpoint"
KAFKA_ENTRIES = [EpochEntry(0, 0), EpochEntry(3, 1200), EpochEntry(4, 1300)]
KAFKA_LOG_END = 40  # what the recorder of the trace asked Kafka with

# A log is a list: the epoch of each record.
logs = st.lists(st.integers(0, 5), max_size=12).map(sorted)


def epochs_of(log: list[int]) -> LeaderEpochs:
    epochs = LeaderEpochs()
    for offset, epoch in enumerate(log):
        epochs.assign(epoch, offset)
    return epochs


def test_kafka_s_own_answers() -> None:
    """400 steps recorded from Kafka 4.3: after each, the same entries and the same answers."""
    epochs = LeaderEpochs()

    for line in (DATA / "kafka-4.3-epochs.txt").read_text().splitlines():
        step, _, entries = line.partition(" =")
        question, _, answer = step.partition(" -> ")
        assert replayed(epochs, question.split(), answer.split()), line
        epochs.check()
        assert " ".join(f"{epoch}:{start}" for epoch, start in epochs.entries) == entries.strip()


def replayed(epochs: LeaderEpochs, question: list[str], answer: list[str]) -> bool:
    match question:
        case ["assign", epoch, offset]:
            epochs.assign(int(epoch), int(offset))
        case ["end", offset]:
            epochs.truncate_from_end(int(offset))
        case ["start", offset]:
            epochs.truncate_from_start(int(offset))
        case ["ask", epoch]:
            end = epochs.end_offset_for(int(epoch), log_end_offset=KAFKA_LOG_END)
            return [str(end.epoch), str(end.end_offset)] == answer
        case ["at", offset]:
            holder = epochs.epoch_for_offset(int(offset))
            before = epochs.previous_epoch(int(answer[3]))
            return [str(-1 if e is None else e) for e in (holder, before)] == answer[:2]
        case _:
            raise AssertionError(question)
    return True


@given(log=logs)
def test_every_record_knows_its_epoch(log: list[int]) -> None:
    """Assigning each batch's epoch, as appends do, keeps the first offset of each."""
    epochs = epochs_of(log)

    assert [epochs.epoch_for_offset(offset) for offset in range(len(log))] == log
    assert epochs.entries == [EpochEntry(e, log.index(e)) for e in sorted(set(log))]
    assert epochs.latest_epoch == (log[-1] if log else None)
    assert epochs.earliest == (EpochEntry(log[0], 0) if log else None)


@given(log=logs, asked=st.integers(-1, 7))
def test_an_epoch_ends_where_the_next_begins(log: list[int], asked: int) -> None:
    """KIP-101: the end of the largest epoch at or below the one asked for."""
    end = epochs_of(log).end_offset_for(asked, log_end_offset=len(log))

    if not log or asked == -1 or asked > log[-1]:
        assert end == UNKNOWN_END
    else:
        below = [epoch for epoch in log if epoch <= asked]
        assert end == (below[-1] if below else asked, len(below))


@given(log=logs, data=st.data())
def test_truncation_forgets_what_the_log_forgot(log: list[int], data: st.DataObject) -> None:
    """Cut anywhere, at either end, the epochs are those of the records that are left."""
    start = data.draw(st.integers(0, len(log)), label="start")
    end = data.draw(st.integers(start, len(log)), label="end")
    epochs = epochs_of(log)

    before = epochs.entries
    assert epochs.truncate_from_end(end) == (epochs.entries != before)
    before = epochs.entries
    assert epochs.truncate_from_start(start) == (epochs.entries != before)

    epochs.check()
    left = range(start, end)
    assert [epochs.epoch_for_offset(offset) for offset in left] == log[start:end]
    assert all(entry.start_offset >= start or start >= end for entry in epochs.entries)
    assert all(entry.start_offset < end for entry in epochs.entries) or start >= end


def test_what_is_written_now_contradicts_what_was() -> None:
    """A lower epoch or an earlier offset than known shows that the known one was lost."""
    epochs = LeaderEpochs([EpochEntry(1, 0), EpochEntry(3, 10), EpochEntry(5, 20)])

    assert epochs.assign(4, 15)
    assert epochs.entries == [(1, 0), (3, 10), (4, 15)]
    assert epochs.assign(5, 10)
    assert epochs.entries == [(1, 0), (5, 10)]
    assert not epochs.assign(5, 30)
    assert epochs.assign(5, 9)
    assert epochs.entries == [(1, 0), (5, 9)]


@pytest.mark.parametrize(("epoch", "start_offset"), [(-1, 0), (0, -1)])
def test_negative_numbers_are_refused(epoch: int, start_offset: int) -> None:
    """-1 stands for no epoch and no offset, and neither is assigned."""
    with pytest.raises(ValueError, match=">= 0"):
        LeaderEpochs().assign(epoch, start_offset)
    with pytest.raises(ValueError, match=">= 0"):
        LeaderEpochs([EpochEntry(epoch, start_offset)])


@pytest.mark.parametrize("second", [(1, 5), (2, 0), (0, 1), (1, 0)])
def test_entries_must_rise(second: tuple[int, int]) -> None:
    """Both numbers rise, or the epochs answer nonsense."""
    with pytest.raises(ValueError, match="must rise"):
        LeaderEpochs([EpochEntry(1, 0), EpochEntry(*second)])


def test_clear_forgets_all() -> None:
    """And says whether the file is stale."""
    epochs = LeaderEpochs(KAFKA_ENTRIES)

    assert epochs.clear()
    assert epochs.entries == []
    assert not epochs.clear()
    assert epochs.epoch_for_offset(0) is None
    assert epochs.previous_epoch(9) is None


def test_a_file_written_by_kafka_is_read_and_written() -> None:
    """The text is Kafka's, to the last newline."""
    data = KAFKA_FILE.read_bytes()

    assert decode_epochs(data) == KAFKA_ENTRIES
    assert encode_epochs(KAFKA_ENTRIES) == data


@given(log=logs)
def test_entries_come_back(log: list[int]) -> None:
    """Written and read, they are the same; an empty log has an empty list."""
    entries = epochs_of(log).entries

    assert decode_epochs(encode_epochs(entries)) == entries


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "begin with version 0"),
        (b"0\n", "begin with version 0"),
        (b"1\n0\n", "begin with version 0"),
        (b"0\n2\n0 0\n", "promises '2' entries, 1 follow"),
        (b"0\n0\n0 0\n", "promises '0' entries, 1 follow"),
        (b"0\nx\n", "promises 'x'"),
        (b"0\n1\n0\n", "line 3 is '0'"),
        (b"0\n1\n0 0 0\n", "line 3 is '0 0 0'"),
        (b"0\n1\n0 x\n", "line 3 is '0 x'"),
        (b"0\n2\n1 0\n1 5\n", "must rise"),
        (b"0\n1\n-1 0\n", ">= 0"),
        (b"\xff\n", "not ASCII"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(data: bytes, reason: str) -> None:
    """The error names the line."""
    with pytest.raises(EpochFileCorrupt, match=reason):
        decode_epochs(data)


def test_epochs_show_their_entries() -> None:
    """A log line can hold them."""
    assert repr(LeaderEpochs([EpochEntry(1, 2)])) == (
        "<LeaderEpochs [EpochEntry(epoch=1, start_offset=2)]>"
    )
