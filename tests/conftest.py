"""What every test run shares: hypothesis profiles, and a count of what was left out.

``HEADWATER_TEST_PROFILE=sim`` draws many more examples. Suites that need software of other people
skip themselves where it is missing, and fail instead under ``HEADWATER_TEST_REQUIRE=all``
(tests/interop/toolchain.py).
"""

import os
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

from headwater.core_log.records import batch

# Modules that assert for others; registered before any suite imports them.
pytest.register_assert_rewrite("tests.interop.contract", "tests.interop.waiting")

LONG_WAITS = ("interop", "chaos", "jvm")
PROFILE_VARIABLE = "HEADWATER_TEST_PROFILE"

# Deadlines measure the machine: two busy cores make any of them wrong.
settings.register_profile("quick", max_examples=50, deadline=None)
settings.register_profile(
    "sim", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get(PROFILE_VARIABLE, "quick"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what starts other programs, and leave out what compiled code does not allow.

    A file that waits for a JVM would else come last, while every other worker has nothing left.
    Continuous checks run everything with Python alone, and all but what changes code at run time
    once more compiled.
    """
    items.sort(key=lambda item: not any(map(item.get_closest_marker, LONG_WAITS)))
    if str(batch.__file__).endswith(".py"):
        return
    changing = {item for item in items if item.get_closest_marker("patches_code")}
    if changing:
        config.hook.pytest_deselected(items=list(changing))
        items[:] = [item for item in items if item not in changing]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out, by name and count."""
    left_out = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", ()))
    if left_out:
        terminalreporter.section("left out")
        for reason, count in left_out.most_common():
            terminalreporter.line(f"{count:5} tests: {reason}")


def _reason(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return str(report.longrepr)
