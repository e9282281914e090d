"""Every order in which one or two late requests can arrive, against the coordinator's shard."""

import pytest

from headwater.core_log.transactions.guard import Guard

from .interleavings import orders, outcome


def wrong(version: int, late_max: int) -> tuple[int, list[str]]:
    """How many orders there are, and what is wrong in which."""
    count, found = 0, []
    for order in orders(late_max):
        count += 1
        what = outcome(order, version)
        if what:
            found.append(f"{what}: {order}")
    return count, found


@pytest.mark.parametrize("version", [1, 2])
def test_one_late_request_does_no_harm(version: int) -> None:
    count, found = wrong(version, 1)
    assert count == 4 * (1 + 10 + 8 + 6 + 5 + 3 + 1)
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize("version", [1, 2])
def test_two_late_requests_do_no_harm(version: int) -> None:
    count, found = wrong(version, 2)
    assert count > 1_000
    assert found == []


@pytest.mark.patches_code
def test_it_is_the_guard_that_keeps_version_1_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it a late end decides the next transaction, in every way there is."""
    monkeypatch.setattr(Guard, "admits", lambda *_: True)
    _, found = wrong(1, 1)
    assert any("cannot write" in what for what in found), "half committed, the rest refused"
    assert any("is told" in what for what in found), "decided other than the client is told"


@pytest.mark.patches_code
def test_version_2_needs_no_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Guard, "admits", lambda *_: True)
    assert wrong(2, 1)[1] == []
