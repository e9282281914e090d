"""The command line of the proxy: what it takes, and what it says of what it does not."""

import sys

import pytest

from headwater.core_log.testing.proxy.__main__ import main


def called(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["proxy", *arguments])
    return main()


def test_it_runs_for_its_time_and_tells_where(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--late", "26:0.1:5:9", "--latency-ms", "0:20", "--slice-bytes", "1:9"]
    storm = ["--reset-every-seconds", "0.1", "--stall-every-seconds", "0.1", "--stall-ms", "0:1"]
    arguments = ["--broker", "127.0.0.1:9", "--seconds", "0.1", "--seed", "5", *options, *storm]
    assert called(monkeypatch, *arguments) == 0
    assert capsys.readouterr().out.startswith("seed 5: clients at 127.0.0.1:")


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--broker", "9092", "HOST:PORT"),
        ("--latency-ms", "20", "LEAST:MOST"),
        ("--latency-ms", "20:10", "LEAST:MOST"),
        ("--late", "26:0.5", "API_KEY:SHARE:LEAST_MS:MOST_MS"),
        ("--late", "26:1.5:0:1", "API_KEY:SHARE:LEAST_MS:MOST_MS"),
    ],
)
def test_bad_values_are_named_with_the_form_wanted(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    option: str,
    value: str,
    expected: str,
) -> None:
    with pytest.raises(SystemExit) as ended:
        called(monkeypatch, "--broker", "127.0.0.1:9", option, value)
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert f"{option}: {value!r} is not" in said
    assert expected in said
