"""``headwater broker``: starts, refuses to start, and stops, as an operator sees it."""

import json
import signal
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from headwater.core_log.testing.process import BrokerProcess, free_port

from .commands import Commands, command_line

MARKER = ".kafka_cleanshutdown"
NOBODY = Commands("127.0.0.1:1")


def events(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def refused(*arguments: str | Path) -> str:
    """Why a broker with these arguments does not start."""
    result = NOBODY("broker", *arguments, process=True, code=1)
    first = json.loads(result.err.splitlines()[0])
    assert first["event"] == "start_refused"
    return str(first["reason"])


def test_a_clean_stop_needs_no_recovery(tmp_path: Path) -> None:
    """SIGTERM: exit code 0 and a marker, which the next start takes away."""
    broker = BrokerProcess(tmp_path, settings={"offsets.topic.num.partitions": "2"})
    broker.start()
    headwater = Commands(broker.bootstrap)
    headwater("topics", "create", "kept")
    headwater("produce", "kept", given="1\n2\n")
    process = broker._process
    assert process is not None
    broker.stop()
    assert process.returncode == 0
    assert (broker.data_directory / MARKER).exists()
    first = [event["event"] for event in events(broker.log_file)]
    assert first[-2:] == ["stopping", "stopped"]
    try:
        broker.start()
        assert not (broker.data_directory / MARKER).exists()
        assert headwater("consume", "kept").out == "1\n2\n"
        broker.kill()
        clean = [event["event"] for event in events(broker.log_file)][len(first) :]
        with (broker.data_directory / "kept-0" / f"{0:020}.log").open("ab") as log:
            log.write(b"what the power cut left")
        broker.start()
        assert headwater("consume", "kept").out == "1\n2\n"
        crashed = [event["event"] for event in events(broker.log_file)][len(first) + len(clean) :]
    finally:
        broker.stop()
    assert "log_tail_truncated" not in clean
    assert "log_tail_truncated" in crashed


def test_interrupt_stops_as_cleanly(tmp_path: Path) -> None:
    """Ctrl-C in the terminal."""
    with BrokerProcess(tmp_path) as broker:
        process = broker._process
        assert process is not None
        process.send_signal(signal.SIGINT)
        assert process.wait(30) in {0, 130}
    assert (broker.data_directory / MARKER).exists()


def test_settings_from_file_environment_and_flags(tmp_path: Path) -> None:
    """All three at once; health and metrics where they were asked for."""
    port, monitor = free_port(), free_port()
    settings = tmp_path / "broker.yaml"
    settings.write_text(
        f"listeners: ['PLAINTEXT://127.0.0.1:{port}']\nnode_id: 7\nconfigs:\n  num.partitions: 3\n"
    )
    with subprocess.Popen(  # noqa: S603 - our own command line
        command_line(
            *("broker", "--config", settings, "--data-dir", tmp_path / "data"),
            *("--monitor", f"127.0.0.1:{monitor}", "--log-form", "json"),
        ),
        stderr=subprocess.PIPE,
    ) as process:
        try:
            assert process.stderr is not None
            lines = iter(process.stderr.readline, b"")
            assert any(json.loads(line)["event"] == "ready" for line in lines)
            headwater = Commands(f"127.0.0.1:{port}")
            headwater("topics", "create", "three")
            rows = headwater("topics", "describe", "three", "--json").rows
            assert [row["leader"] for row in rows] == [7, 7, 7]
            with urllib.request.urlopen(f"http://127.0.0.1:{monitor}/health") as answer:
                assert answer.status == 200
            with urllib.request.urlopen(f"http://127.0.0.1:{monitor}/metrics") as answer:
                assert b"headwater_broker_partitions 3.0" in answer.read()
        finally:
            process.terminate()
            assert process.wait(30) == 0


def test_wrong_settings_are_all_told_with_their_places(tmp_path: Path) -> None:
    """File with line and column, flag by name; exit code 2."""
    settings = tmp_path / "broker.yaml"
    settings.write_text("node_id: one\nlistener:\n  - PLAINTEXT://127.0.0.1:0\n")
    err = NOBODY("broker", "--config", settings, "--monitor", "nowhere", code=2).err
    assert f"{settings}:1:10" in err
    assert "node_id" in err
    assert f"{settings}:2:1" in err
    assert "listeners" in err  # the name that was meant
    assert "--monitor" in err
    assert "Did you mean one of" in NOBODY("broker", "--listner", "x", code=2).err
    broken = NOBODY("broker", "--set", "num.partitions=many", code=2).err
    assert "Invalid value many for configuration num.partitions" in broken


@pytest.mark.parametrize("given", ["port", "directory"])
def test_what_another_broker_has(broker: BrokerProcess, tmp_path: Path, given: str) -> None:
    """A port or a directory in use is named, with the way out."""
    if given == "port":
        listener = f"PLAINTEXT://127.0.0.1:{broker.port}"
        reason = refused("--listener", listener, "--data-dir", tmp_path / "other")
        assert f"cannot listen on {listener}: Address already in use" in reason
        assert "another --listener" in reason
    else:
        reason = refused(
            "--listener", "PLAINTEXT://127.0.0.1:0", "--data-dir", broker.data_directory
        )
        assert str(broker.data_directory) in reason
        assert "another process" in reason


def test_directories_of_a_newer_version_or_another_node(tmp_path: Path) -> None:
    """Both are refused, and nothing in them is changed."""
    first = BrokerProcess(tmp_path)
    with first:
        pass
    free = ("--listener", "PLAINTEXT://127.0.0.1:0", "--data-dir", first.data_directory)
    other = refused(*free, "--node-id", "5")
    assert "node" in other
    assert "5" in other
    (first.data_directory / "headwater.properties").write_text("format.version=99\n")
    before = sorted(path.name for path in first.data_directory.iterdir())
    newer = refused(*free)
    assert "a newer Headwater wrote it (format 99, this one knows 1); start that version" in newer
    assert sorted(path.name for path in first.data_directory.iterdir()) == before


def test_help_has_examples_that_parse() -> None:
    """Every flag of an example is a flag, and the help is short enough to be read."""
    text = NOBODY("broker", "--help").out
    start = text.index("Examples:")
    examples, options = text[start : text.index("Options:")], text[text.index("Options:") :]
    flags = {word for word in examples.split() if word.startswith("--")}
    assert flags >= {"--set", "--data-dir", "--listener"}
    assert {flag for flag in flags if flag not in options} == set()
    assert len(text.splitlines()) < 70


def test_ready_is_said_once_clients_are_served(tmp_path: Path) -> None:
    """The line has the listeners with the ports they got."""
    with subprocess.Popen(  # noqa: S603 - our own command line
        command_line(
            *("broker", "--listener", "PLAINTEXT://127.0.0.1:0"),
            *("--data-dir", tmp_path / "data", "--log-form", "json"),
        ),
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        deadline = time.monotonic() + 30
        ready: dict[str, Any] = {}
        while not ready and time.monotonic() < deadline:
            line = json.loads(process.stderr.readline())
            ready = line if line["event"] == "ready" else {}
        address = ready["listeners"][0].removeprefix("PLAINTEXT://")
        assert Commands(address)("topics", "list").out == "no topics\n"
        process.terminate()
        assert process.wait(30) == 0
