"""Questions, checks and reasons."""

import pytest

from headwater.service.health import Health, Question


def test_without_checks_all_is_well() -> None:
    """A process that answers is alive."""
    for question in Question:
        report = Health().report(question)
        assert report.is_ok
        assert report.document() == {"status": "ok", "checks": {}}


def test_a_reason_makes_the_process_not_ready() -> None:
    """The document names each check and its reason, and follows it when it changes."""
    reasons: list[str | None] = ["recovering 3 of 40 partitions"]
    health = Health()
    health.add("storage", lambda: reasons[0])
    health.add("listener", lambda: None)
    assert health.report(Question.LIVE).is_ok
    report = health.report(Question.READY)
    assert not report.is_ok
    assert report.document() == {
        "status": "unavailable",
        "checks": {"storage": "recovering 3 of 40 partitions", "listener": "ok"},
    }
    reasons[0] = None
    assert health.report(Question.READY).is_ok


def test_what_is_not_alive_is_not_ready() -> None:
    """A check of liveness is asked for both questions."""
    health = Health()
    health.add("disk", lambda: "offline", question=Question.LIVE)
    assert not health.report(Question.LIVE).is_ok
    assert not health.report(Question.READY).is_ok
    health.remove("disk")
    health.remove("never there")
    assert health.report(Question.READY).is_ok


def test_a_check_that_fails_is_a_reason() -> None:
    """The probe's mistake is told, not raised into the HTTP port."""

    def broken() -> str | None:
        raise ValueError("x")

    health = Health()
    health.add("broken", broken)
    assert health.report(Question.READY).checks == {"broken": "the check failed: ValueError: x"}


@pytest.mark.parametrize("question", Question)
def test_a_name_is_used_once(question: Question) -> None:
    """Two checks of one name would hide one another."""
    health = Health()
    health.add("a", lambda: None)
    with pytest.raises(AssertionError):
        health.add("a", lambda: None, question=question)
