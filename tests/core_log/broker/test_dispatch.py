"""Every served API answers in every version; what is not served closes the connection."""

import random

import pytest

from headwater.core_log.broker.handlers import HANDLERS
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.apis import API_BY_KEY
from headwater.core_log.protocol.messages.api_versions import (
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from headwater.core_log.server.assemble import served_apis
from headwater.core_log.testing.messages import random_message

from .world import World

# What Apache Kafka 4.3's broker listener advertises, for the keys served here.
KAFKA_4_3 = {
    0: (0, 13), 1: (4, 18), 2: (1, 11), 3: (0, 13), 8: (2, 10), 9: (1, 10), 10: (0, 6), 11: (0, 9),
    12: (0, 4), 13: (0, 5), 14: (0, 5), 15: (0, 6), 16: (0, 5), 18: (0, 4), 19: (2, 7), 20: (1, 6),
    21: (0, 2), 22: (0, 5), 23: (2, 4), 24: (0, 5), 25: (0, 4), 26: (0, 5), 27: (1, 2), 28: (0, 5),
    32: (1, 4), 33: (0, 2), 34: (1, 2), 35: (1, 5), 37: (0, 3), 42: (0, 2), 43: (0, 2), 44: (0, 1),
    45: (0, 1), 46: (0, 0), 47: (0, 0), 55: (0, 2), 57: (0, 2), 60: (0, 2), 61: (0, 0), 65: (0, 0),
    66: (0, 2), 74: (0, 1), 75: (0, 0),
}  # fmt: skip

EVERY_VERSION = [
    pytest.param(key, version, id=f"{handler.api.name}-{version}")
    for key, handler in HANDLERS.items()
    for version in range(handler.version_min, handler.version_max + 1)
    if version in handler.api.versions
]


def test_the_served_versions_are_those_of_kafka() -> None:
    served = {api.key: (api.version_min, api.version_max) for api in served_apis()}
    assert served == KAFKA_4_3


@pytest.mark.parametrize("version", range(5))
def test_api_versions_lists_exactly_the_handlers(version: int) -> None:
    world = World(topic=False)
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1.0")
    answer = world.ask(request, ApiVersionsResponse, version)
    listed = {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}
    assert answer.error_code == ErrorCode.NONE
    assert listed == {
        key: (handler.version_min, handler.version_max) for key, handler in HANDLERS.items()
    }


@pytest.fixture(scope="module")
def busy() -> World:
    """A broker with topics whose names random messages use."""
    world = World()
    world.create("topic-1", partitions=3)
    world.create("a")
    return world


@pytest.mark.parametrize(("key", "version"), EVERY_VERSION)
def test_whatever_a_request_asks_it_is_answered_in_its_version(
    busy: World, key: int, version: int
) -> None:
    """Well-formed nonsense gets an answer, or closes the connection; it never meets a fault."""
    handler = HANDLERS[key]
    for seed in range(6):
        rng = random.Random(f"{key} {version} {seed}")
        request = random_message(
            handler.api.request_class, version, rng, small=True, plain=bool(seed % 2)
        )
        client = busy.broker.connect()
        answer = client.send(request, version=version)
        busy.broker.settle()
        if client.closed is None:
            answer()
        client.disconnect()
        assert busy.unhandled() == []
        busy.broker.check()


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(b"\x00\x00", id="cut header"),
        pytest.param(b"\x00\x63\x00\x00\x00\x00\x00\x01\xff\xff", id="unknown key"),
        pytest.param(b"\x00\x01\x00\x63\x00\x00\x00\x01\xff\xff", id="unknown version"),
        pytest.param(b"\x00\x00\x00\x02\x00\x00\x00\x01\xff\xff", id="Produce 2"),
        pytest.param(b"\x00\x03\x00\x0c\x00\x00\x00\x01\xff\xff\x00\xff", id="bad body"),
        pytest.param(b"\xff" * 64, id="ones"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="HTTP"),
    ],
)
def test_what_no_client_sends_closes_the_connection_and_nothing_else(frame: bytes) -> None:
    world = World()
    other = world.broker.connect()
    world.client.send_raw(frame)
    assert world.client.closed is not None
    assert world.broker.running.stats.violations == 1
    world.client = other
    assert world.produce("still here").error_code == ErrorCode.NONE


def test_an_unknown_version_of_api_versions_is_told_the_known_ones() -> None:
    """KIP-511: error 35, in version 0, with the list."""
    world = World(topic=False)
    world.client.send_raw(b"\x00\x12\x00\x63\x00\x00\x00\x07\xff\xff\x00")
    frame = world.client.receive_raw()
    assert frame is not None
    assert frame[:6] == b"\x00\x00\x00\x07\x00\x23"
    assert len(HANDLERS) == int.from_bytes(frame[6:10], "big")
    assert world.client.closed is None


def test_a_fault_of_ours_closes_the_connection_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()

    def fail() -> list[int]:
        raise ZeroDivisionError

    monkeypatch.setattr(world.broker.running.groups.shards, "indexes", fail)
    request = API_BY_KEY[16].request_class()
    world.client.send(request, version=4)
    assert world.client.closed is not None
    assert world.broker.running.stats.unhandled == 1
    assert world.unhandled()[0]["api"] == "ListGroups"
