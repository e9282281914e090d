"""The power goes at every file operation of one scripted life; what was answered is kept."""

import pytest

from .script import Script, after_power_loss
from .seeds import operation_step

SHARES = 4


def operation_count() -> int:
    script = Script()
    script.run()
    return len(script.fs.operations)


def test_the_script_comes_to_its_end() -> None:
    """And after a clean stop everything is there as well."""
    script = Script()
    script.run()
    script.broker.start()
    script.broker.settle()
    script.book.compare(script.broker)


@pytest.mark.slow
@pytest.mark.parametrize("share", range(SHARES))
def test_power_may_go_at_any_file_operation(share: int) -> None:
    """One run for each operation (of three, when time is short), with dice of its own."""
    count = operation_count()
    assert count > 200
    for operation in range(share, count, SHARES * operation_step()):
        assert after_power_loss(operation), f"the script ends before operation {operation}"
