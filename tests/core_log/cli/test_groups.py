"""``headwater groups``: where groups are, and where they continue."""

from .commands import Commands


def test_a_group_from_first_commit_to_deletion(headwater: Commands) -> None:
    """Lag, a reset that is first only shown, and the end."""
    headwater("topics", "create", "work", "--partitions", "1")
    headwater("produce", "work", given="1\n2\n3\n")
    headwater("consume", "work", "--group", "workers", "--max", "2")
    [listed] = [r for r in headwater("groups", "list", "--json").rows if r["group"] == "workers"]
    assert (listed["state"], listed["type"]) == ("EMPTY", "CLASSIC")
    [lag] = headwater("groups", "describe", "workers", "--json").rows
    assert (lag["committed_offset"], lag["end_offset"], lag["lag"]) == (2, 3, 1)
    assert headwater("groups", "describe", "workers").table[1][:6] == [
        *("workers", "work", "0", "2", "3", "1")
    ]

    shown = headwater("groups", "reset", "workers", "--topic", "work", "--to-earliest")
    assert shown.table[1] == ["work", "0", "2", "0"]
    assert "nothing was changed; add --execute" in shown.err
    [unchanged] = headwater("groups", "describe", "workers", "--json").rows
    assert unchanged["committed_offset"] == 2

    headwater("groups", "reset", "workers", "--topic", "work:0", "--to-offset", "1", "--execute")
    assert headwater("consume", "work", "--group", "workers").out == "2\n3\n"
    assert headwater("groups", "delete", "workers").out == "deleted workers\n"
    assert "'headwater groups list'" in headwater("groups", "delete", "workers", code=1).err


def test_places_to_reset_to(headwater: Commands) -> None:
    """By place, offset (kept within the log) and time."""
    headwater("topics", "create", "places")
    headwater("produce", "places", given="1\n2\n")
    reset = ("groups", "reset", "seekers", "--topic", "places", "--json")
    for target, offset in (
        (("--to-earliest",), 0),
        (("--to-latest",), 2),
        (("--to-offset", "1"), 1),
        (("--to-offset", "99"), 2),
        (("--to-time-ms", "0"), 0),
        (("--to-time-ms", "99999999999999"), 2),
    ):
        [row] = headwater(*reset, *target).rows
        assert (row["old_offset"], row["new_offset"]) == (None, offset), target


def test_mistakes_are_told(headwater: Commands) -> None:
    """Unknown groups, unknown topics, and two targets at once."""
    assert "there is no group nobody" in headwater("groups", "describe", "nobody", code=1).err
    reset = ("groups", "reset", "g", "--topic")
    assert "there is no topic none" in headwater(*reset, "none", "--to-latest", code=1).err
    both = headwater(*reset, "x", "--to-latest", "--to-offset", "1", code=2)
    assert "exactly one of" in both.err
    assert "exactly one of" in headwater(*reset, "x", code=2).err
