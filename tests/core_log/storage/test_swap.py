"""The names of a swap: what a start makes of whatever moment it was interrupted at."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.kernel.ports import OpenMode
from headwater.core_log.storage import names, swap
from headwater.core_log.storage.swap import Replacement, SwapJob, decode_replaced, encode_replaced
from headwater.core_log.testing.memory_fs import MemoryFileSystem, PowerLost

from .compacted import Pass, filled, offsets, surviving
from .world import LOG, World

KINDS = (names.LOG, names.OFFSET_INDEX, names.TIME_INDEX)
TORN = OpenMode.REPLACE


def put(fs: MemoryFileSystem, base_offset: int, ending: str, text: str, *suffixes: str) -> None:
    for suffix in suffixes or KINDS:
        file = fs.open(f"d/{names.offset_name(base_offset, suffix)}{ending}", OpenMode.REPLACE)
        file.write_at([text.encode()], 0)


def found(fs: MemoryFileSystem) -> dict[str, str]:
    return {
        name: fs.open(f"d/{name}", OpenMode.READ).read_at(100, 0).decode() for name in fs.list("d")
    }


def directory() -> MemoryFileSystem:
    fs = MemoryFileSystem()
    fs.make_directory("d")
    return fs


def recovered(fs: MemoryFileSystem) -> str | None:
    return swap.recover(fs, "d", fs.list("d"))


def test_nothing_to_do_changes_nothing() -> None:
    fs = directory()
    put(fs, 0, "", "old")
    before = len(fs.operations)
    assert recovered(fs) is None
    assert len(fs.operations) == before


def test_cleaned_segments_that_were_not_decided_go() -> None:
    fs = directory()
    put(fs, 0, "", "old")
    put(fs, 0, ".cleaned", "new")
    assert recovered(fs) == "discarded"
    assert set(found(fs).values()) == {"old"}


def test_one_cleaned_file_left_undoes_every_swap_behind_it() -> None:
    """Names change from the newest segment down, so what lies below it was not reached."""
    fs = directory()
    for base in (0, 10, 20):
        put(fs, base, "", "old")
    put(fs, 0, ".cleaned", "new")
    put(fs, 10, ".cleaned", "new", names.LOG)
    put(fs, 10, ".swap", "new", names.OFFSET_INDEX, names.TIME_INDEX)
    put(fs, 20, ".swap", "new")
    assert recovered(fs) == "discarded"
    assert set(found(fs).values()) == {"old"}
    assert len(found(fs)) == 9


def test_a_decided_swap_replaces_exactly_what_it_says() -> None:
    """The last segment replaced has no record left: its offsets do not tell."""
    fs = directory()
    for base in (0, 10, 20, 30):
        put(fs, base, "", "old")
    put(fs, 10, "", "old aborted", names.TRANSACTION_INDEX)
    put(fs, 0, ".swap", "new")
    put(fs, 20, ".swap", "new")
    fs.open(f"d/{names.REPLACED}", OpenMode.REPLACE).write_at(
        [encode_replaced([Replacement(0, 20), Replacement(20, 30)])], 0
    )
    assert recovered(fs) == "finished"
    assert found(fs) == {
        names.offset_name(base, suffix): text
        for base, text in ((0, "new"), (20, "new"), (30, "old"))
        for suffix in KINDS
    }


@pytest.mark.parametrize("has_new_index", [True, False])
def test_a_kill_at_any_step_leaves_the_new_transaction_index_or_none(has_new_index: bool) -> None:  # noqa: FBT001 - a parameter
    """The old one would hide records that were committed since; one is a cache, this is not."""
    for operation in range(30):
        fs = directory()
        for base in (0, 10):
            put(fs, base, "", "old", *KINDS, names.TRANSACTION_INDEX)
        put(fs, 0, ".swap", "new")
        if has_new_index:
            put(fs, 0, ".swap", "new", names.TRANSACTION_INDEX)
        told = encode_replaced([Replacement(0, 20)])
        fs.open(f"d/{names.REPLACED}", OpenMode.REPLACE).write_at([told], 0)
        fs.crash_after(operation)
        with suppress(PowerLost):
            swap.switch(fs, "d", [0, 10], 0)
        fs.kill()
        for again in (3, 2, 1):  # and the recovery is killed too
            fs.crash_after(again)
            with suppress(PowerLost):
                recovered(fs)
            fs.kill()
        recovered(fs)
        kinds = [*KINDS, names.TRANSACTION_INDEX] if has_new_index else KINDS
        assert {n: t for n, t in found(fs).items() if not n.endswith(".deleted")} == {
            names.offset_name(0, suffix): "new" for suffix in kinds
        }


def test_an_index_that_has_its_name_already_is_the_new_one() -> None:
    """The old batches are gone, so the crash came while the new ones took their names."""
    fs = directory()
    put(fs, 0, ".swap", "new", names.LOG)
    put(fs, 0, "", "new", names.OFFSET_INDEX, names.TRANSACTION_INDEX)
    assert recovered(fs) == "finished"
    assert set(found(fs).values()) == {"new"}
    assert len(found(fs)) == 3


def test_an_old_transaction_index_does_not_stay_beside_new_batches() -> None:
    fs = directory()
    put(fs, 0, "", "old", names.LOG, names.TRANSACTION_INDEX)
    put(fs, 0, ".swap", "new", names.LOG)
    assert recovered(fs) == "finished"
    assert found(fs) == {names.offset_name(0, names.LOG): "new"}


def test_a_swap_that_kafka_began_ends_at_its_last_offset() -> None:
    """Kafka takes the old batches' names away first, oldest first, and says nothing more."""
    world = filled(18)
    one = Pass(world).work().decide()
    world.fs.remove(f"{LOG}/{names.REPLACED}")
    world.fs.rename(
        f"{LOG}/{names.offset_name(0, names.LOG)}",
        f"{LOG}/{names.offset_name(0, names.LOG)}.deleted",
    )
    assert one.swap is not None
    world.directory.close(clean=False)
    world.start()
    # 13 is the first record that stays: of [0, 8) none does, and [4, 8) is not known as replaced.
    assert offsets(world) == sorted({4, 5, 6, 7, *surviving(16, 18)})


def test_an_index_that_kafka_left_behind_takes_its_name() -> None:
    """Kafka renames the batches before their indexes."""
    fs = directory()
    put(fs, 0, "", "new", names.LOG)
    put(fs, 0, ".swap", "new", names.OFFSET_INDEX, names.TIME_INDEX)
    assert recovered(fs) == "finished"
    assert set(found(fs)) == {names.offset_name(0, suffix) for suffix in KINDS}


@given(
    st.lists(st.tuples(st.integers(0, 2**62), st.integers(0, 2**62)), max_size=5),
    st.integers(0, 200),
    st.integers(1, 255),
)
def test_the_list_is_read_back_or_not_at_all(
    pairs: list[tuple[int, int]], place: int, change: int
) -> None:
    replacements = [Replacement(*pair) for pair in pairs]
    data = encode_replaced(replacements)
    assert decode_replaced(data) == replacements
    damaged = bytearray(data)
    damaged[place % len(data)] ^= change
    assert decode_replaced(bytes(damaged)) in (None, replacements)
    assert decode_replaced(data[: place % len(data)]) in (None, replacements)


def test_a_cancelled_job_changes_nothing() -> None:
    fs = directory()
    put(fs, 0, ".cleaned", "new")
    before = len(fs.operations)
    job = SwapJob(fs, "d", [Replacement(0, 10)], file_names=frozenset())
    assert not job.settle()
    job.run()
    assert not job.settle()
    assert len(fs.operations) == before


def test_a_torn_list_is_as_good_as_none() -> None:
    world: World = filled(18)
    Pass(world).work().decide()
    path = f"{LOG}/{names.REPLACED}"
    world.fs.open(path, TORN).write_at([b"0\n2\n0 "], 0)
    world.directory.close(clean=False)
    world.start()
    assert set(surviving(16, 18)) <= set(offsets(world))


@pytest.mark.parametrize("name", ["x.swap", "x.cleaned"])
def test_a_file_of_no_segment_is_no_reason_to_stop(name: str) -> None:
    fs = directory()
    put(fs, 0, "", "old")
    fs.open(f"d/{name}", OpenMode.REPLACE)
    recovered(fs)
    assert set(found(fs).values()) <= {"old", ""}
