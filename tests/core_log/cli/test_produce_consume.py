"""``headwater produce`` and ``headwater consume``: lines in, lines out."""

import json
import subprocess
from pathlib import Path

from .commands import Commands, command_line


def test_lines_come_back_as_they_went_in(headwater: Commands) -> None:
    """Value by line, with and without an end of line at the end, empty ones included."""
    headwater("topics", "create", "lines")
    produced = headwater("produce", "lines", given="one\n\nthrée\nlast")
    assert produced.err == "4 records acknowledged\n"
    assert headwater("consume", "lines").out == "one\n\nthrée\nlast\n"
    assert headwater("consume", "lines", "--max", "2").out == "one\n\n"
    assert headwater("consume", "lines", "--from", "2").out == "thrée\nlast\n"
    assert headwater("consume", "lines", "--from", "end").out == ""


def test_keys_headers_and_nulls(headwater: Commands) -> None:
    """The JSON form has everything a record has."""
    headwater("topics", "create", "full")
    headwater(
        *("produce", "full", "--key-separator", ":", "--null-value", "NULL"),
        *("--header", "source=test", "--compression", "zstd", "--acks", "1"),
        given="a:1\nb:NULL\n",
    )
    rows = headwater("consume", "full", "--form", "json").rows
    assert [(r["key"], r["value"], r["headers"], r["offset"]) for r in rows] == [
        ("a", "1", {"source": "test"}, 0),
        ("b", None, {"source": "test"}, 1),
    ]
    assert headwater("consume", "full", "--form", "key-value").out == "a\t1\nb\t\n"
    later = f"time:{rows[1]['timestamp_ms'] + 60_000}"
    assert headwater("consume", "full", "--from", later).out == ""
    assert len(headwater("consume", "full", "--from", "time:0").out.splitlines()) == 2


def test_what_is_not_text_is_told_in_base64(headwater: Commands, tmp_path: Path) -> None:
    """JSON stays JSON."""
    headwater("topics", "create", "bytes")
    (tmp_path / "records").write_bytes(b"\xff\xfe\n")
    headwater("produce", "bytes", "--file", tmp_path / "records")
    [row] = headwater("consume", "bytes", "--form", "json").rows
    assert row["value"] == {"base64": "//4="}


def test_a_group_continues_where_it_was(headwater: Commands) -> None:
    """Twice consumed is once printed."""
    headwater("topics", "create", "shared", "--partitions", "2")
    headwater("produce", "shared", given="1\n2\n3\n")
    first = headwater("consume", "shared", "--group", "readers")
    assert sorted(first.out.split()) == ["1", "2", "3"]
    assert headwater("consume", "shared", "--group", "readers").out == ""


def test_mistakes_are_told(headwater: Commands) -> None:
    """Which topic, which line, which place."""
    headwater("topics", "create", "mistakes", "--config", "max.message.bytes=1000")
    unknown = headwater("consume", "nowhere", code=1)
    assert "there is no topic nowhere; 'headwater topics list'" in unknown.err
    assert "none of beginning, end" in headwater("consume", "mistakes", "--from", "x", code=2).err
    beyond = headwater("consume", "mistakes", "--partition", "5", code=1)
    assert "mistakes has no partition 5; it has 1" in beyond.err
    no_key = headwater("produce", "mistakes", "--key-separator", ":", given="a:1\nb\n", code=1)
    assert "line 2 has no ':'" in no_key.err
    large = headwater("produce", "mistakes", given="x" * 2000 + "\n", code=1)
    assert "MESSAGE_TOO_LARGE" in large.err
    assert "mistakes" in large.err


def test_a_reader_that_has_enough_is_no_error(headwater: Commands) -> None:
    """``| head -1`` prints one line and nothing else."""
    headwater("topics", "create", "long")
    headwater("produce", "long", given="".join(f"{n:0100}\n" for n in range(5000)))
    command = command_line("consume", "long", "--bootstrap", headwater.bootstrap)
    with subprocess.Popen(  # noqa: S603 - our own command line
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as consumer:
        assert consumer.stdout is not None
        assert consumer.stderr is not None
        assert consumer.stdout.readline() == b"0" * 100 + b"\n"
        consumer.stdout.close()
        assert consumer.stderr.read() == b""
        assert consumer.wait(30) in {0, 141}


def test_streams_of_json_end_in_whole_lines(headwater: Commands) -> None:
    """Each line is an object of its own."""
    headwater("topics", "create", "streams")
    headwater("produce", "streams", given="a\nb\n")
    lines = headwater("consume", "streams", "--form", "json").out.splitlines()
    assert [json.loads(line)["value"] for line in lines] == ["a", "b"]
