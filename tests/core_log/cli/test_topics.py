"""``headwater topics``, and what every client command says when there is nobody to talk to."""

import re

import pytest

from .commands import Commands


def test_a_topic_from_creation_to_deletion(headwater: Commands) -> None:
    """Created, listed, described, grown, changed, deleted; each step says what it did."""
    created = headwater(
        *("topics", "create", "life", "--partitions", "2", "--config", "retention.ms=9000")
    )
    assert created.out == "created life\n"
    assert headwater("topics", "alter", "life", "--partitions", "3").out == (
        "life has 3 partitions now\n"
    )
    described = headwater("topics", "describe", "life").table
    assert described[0] == [
        *("TOPIC", "PARTITION", "LEADER", "EPOCH", "REPLICAS", "ISR", "START", "END")
    ]
    assert described[1:] == [["life", str(p), "1", "0", "1", "1", "0", "0"] for p in range(3)]
    changed = headwater(
        *("topics", "alter", "life", "--config", "segment.ms=5000", "--unset", "retention.ms")
    )
    assert changed.out == "changed segment.ms, retention.ms of life\n"
    shown = headwater("configs", "describe", "topic", "life", "--json").rows
    assert [(row["name"], row["value"]) for row in shown] == [("segment.ms", "5000")]
    assert headwater("topics", "delete", "life", "--yes").out == "deleted life\n"
    assert "life" not in headwater("topics", "list").out


def test_json_has_what_the_table_has(headwater: Commands) -> None:
    """Names as columns say, numbers as numbers, ids in the alphabet that Kafka's tools use."""
    headwater("topics", "create", "shapes")
    [row] = [row for row in headwater("topics", "list", "--json").rows if row["topic"] == "shapes"]
    assert row["partitions"] == 1
    assert row["replication_factor"] == 1
    assert row["internal"] is False
    assert re.fullmatch(r"[A-Za-z0-9_-]{22}", row["topic_id"])
    described = headwater("topics", "describe", "shapes", "--json").rows
    assert described[0]["isr"] == [1]
    assert row["topic_id"] in headwater("topics", "list").out


def test_describe_without_names_shows_all(headwater: Commands) -> None:
    """As kafka-topics does."""
    headwater("topics", "create", "all-1", "all-2")
    assert {"all-1", "all-2"} <= {row[0] for row in headwater("topics", "describe").table}


def test_what_is_there_already_or_not_at_all_can_be_fine(headwater: Commands) -> None:
    """``--if-not-exists`` and ``--if-exists`` make scripts repeatable."""
    headwater("topics", "create", "twice")
    refused = headwater("topics", "create", "twice", code=1)
    assert "TOPIC_ALREADY_EXISTS" in refused.err
    assert "--if-not-exists" in refused.err
    assert headwater("topics", "create", "twice", "--if-not-exists").out == ""
    assert headwater("topics", "delete", "never", "--if-exists", "--yes").out == ""
    gone = headwater("topics", "delete", "never", "--yes", code=1)
    assert "UNKNOWN_TOPIC_OR_PARTITION" in gone.err
    assert "'headwater topics list'" in gone.err


def test_refusals_name_the_thing_and_the_reason(headwater: Commands) -> None:
    """The broker's own message reaches the user, with exit code 1."""
    headwater("topics", "create", "refusing", "--partitions", "2")
    for arguments, reason in (
        (("describe", "nowhere"), "describing nowhere: UNKNOWN_TOPIC_OR_PARTITION"),
        (("create", "with space"), "with space' contains one or more characters"),
        (("create", "many", "--replication-factor", "3"), "only 1 broker(s) are registered"),
        (("create", "odd", "--config", "nonsense=1"), "Unknown topic config name: nonsense"),
        (("alter", "refusing", "--partitions", "1"), "would not be an increase"),
    ):
        assert reason in headwater("topics", *arguments, code=1).err


def test_wrong_usage_is_exit_code_2_and_says_the_right_one(headwater: Commands) -> None:
    """Also for what Kafka's tools would have understood."""
    for arguments, reason in (
        (("topics", "--list"), "it is a command here: 'headwater topics list …'"),
        (("topics", "lits"), "No such command 'lits'"),
        (("topics", "alter", "x"), "give --partitions, --config or --unset"),
        (("topics", "create", "x", "--config", "retention.ms"), "is not NAME=VALUE"),
        (("topics", "delete", "x"), "--yes deletes without asking"),
        (("topics", "list", "--client-config", "a"), "is not NAME=VALUE"),
        (("topics", "list", "--client-config", "a=b"), 'No such configuration property: "a"'),
        (("topcs",), "Did you mean 'topics'?"),
    ):
        if arguments[:2] == ("topics", "delete"):
            headwater("topics", "create", "x", "--if-not-exists")
        assert reason in headwater(*arguments, code=2).err


def test_the_names_of_kafkas_flags_work(headwater: Commands) -> None:
    """--bootstrap-server is what fingers know."""
    assert headwater("topics", "list", "--bootstrap-server", headwater.bootstrap).code == 0


@pytest.mark.parametrize("command", [("topics", "list"), ("groups", "list")])
def test_nobody_answers(headwater: Commands, command: tuple[str, str]) -> None:
    """The address, the way to start a broker, and the way to name another."""
    refused = headwater(*command, "--bootstrap", "127.0.0.1:1", code=1)
    assert "no broker answers at 127.0.0.1:1" in refused.err
    assert "headwater broker" in refused.err
    assert "--bootstrap" in refused.err
    assert len(refused.err.splitlines()) == 1
