"""``headwater configs``: what is configured, and where it comes from."""

from .commands import Commands


def test_set_and_unset(headwater: Commands) -> None:
    """Only what was set is shown; with --all, everything."""
    headwater("topics", "create", "configured")
    resource = ("topic", "configured")
    assert headwater("configs", "describe", *resource).out == "everything is at its default\n"
    done = headwater("configs", "set", *resource, "retention.ms=1000", "flush.messages=10")
    assert done.out == "changed retention.ms, flush.messages of topic configured\n"
    rows = headwater("configs", "describe", *resource).table
    assert [row[:3] for row in rows[1:]] == [
        ["flush.messages", "10", "DYNAMIC_TOPIC_CONFIG"],
        ["retention.ms", "1000", "DYNAMIC_TOPIC_CONFIG"],
    ]
    headwater("configs", "unset", *resource, "retention.ms", "flush.messages")
    everything = headwater("configs", "describe", *resource, "--all", "--json").rows
    values = {row["name"]: (row["value"], row["source"]) for row in everything}
    assert values["retention.ms"] == ("604800000", "DEFAULT_CONFIG")
    assert values["flush.messages"] == ("1", "DEFAULT_CONFIG")


def test_a_default_for_all_topics(headwater: Commands) -> None:
    """A broker's configuration stands in where a topic has none of its own."""
    headwater("topics", "create", "inherits")
    headwater("configs", "set", "broker", "1", "log.segment.bytes=2000000")
    rows = headwater("configs", "describe", "topic", "inherits", "--all", "--json").rows
    [row] = [row for row in rows if row["name"] == "segment.bytes"]
    assert (row["value"], row["source"]) == ("2000000", "DYNAMIC_BROKER_CONFIG")
    headwater("configs", "unset", "broker", "1", "log.segment.bytes")


def test_mistakes_are_told(headwater: Commands) -> None:
    """Name, value and resource; a broker that is not there is not waited for."""
    headwater("topics", "create", "strict")
    change = ("configs", "set", "topic", "strict")
    wrong = headwater(*change, "retention.ms=abc", code=1).err
    assert "Invalid value abc for configuration retention.ms: Not a number of type LONG" in wrong
    assert "Unknown topic config name: nonsense" in headwater(*change, "nonsense=1", code=1).err
    assert "is not NAME=VALUE" in headwater(*change, "retention.ms", code=2).err
    describe = ("configs", "describe")
    assert "'headwater topics list'" in headwater(*describe, "topic", "nowhere", code=1).err
    for name in ("7", "x"):
        refused = headwater(*describe, "broker", name, code=1)
        assert f"there is no broker {name}; there are: 1" in refused.err
    assert "there is no broker 7" in headwater("configs", "set", "broker", "7", "a=b", code=1).err
