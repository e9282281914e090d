"""Is the process alive, and may it be given work: named checks, each with its reason.

Pure. *live* asks whether a restart would help; *ready* whether clients should be sent here now. A
check is a function that returns None when all is well, and otherwise the reason in words.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, final

Probe: TypeAlias = Callable[[], str | None]


class Question(Enum):
    """What is asked."""

    LIVE = "live"
    READY = "ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The answer: reasons by name of the check, None where all is well."""

    question: Question
    checks: Mapping[str, str | None]

    @property
    def is_ok(self) -> bool:
        return all(reason is None for reason in self.checks.values())

    def document(self) -> dict[str, object]:
        """The answer as JSON has it."""
        checks = {name: reason or "ok" for name, reason in self.checks.items()}
        return {"status": "ok" if self.is_ok else "unavailable", "checks": checks}


@final
@dataclass(slots=True)
class Health:
    """The checks of one process. A check asked for liveness counts for readiness too."""

    _live: dict[str, Probe] = field(default_factory=dict)
    _ready: dict[str, Probe] = field(default_factory=dict)

    def add(self, name: str, probe: Probe, *, question: Question = Question.READY) -> None:
        """Ask *probe* from now on; a name is used once."""
        assert name not in {**self._live, **self._ready}, f"{name} is checked already"
        (self._live if question is Question.LIVE else self._ready)[name] = probe

    def remove(self, name: str) -> None:
        """Ask no more; fine when there is no such check."""
        self._live.pop(name, None)
        self._ready.pop(name, None)

    def report(self, question: Question) -> Report:
        """Every check that belongs to *question*, asked now."""
        probes = self._live if question is Question.LIVE else {**self._live, **self._ready}
        return Report(
            question=question, checks={name: _asked(probe) for name, probe in probes.items()}
        )


def _asked(probe: Probe) -> str | None:
    try:
        return probe()
    except Exception as error:  # noqa: BLE001 - a check that cannot answer is the answer
        return f"the check failed: {type(error).__name__}: {error}"
