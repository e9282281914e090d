"""Random messages for tests and fuzzers."""

import random

from headwater.core_log.protocol.codec import encode
from headwater.core_log.protocol.messages.fetch import FetchRequest
from headwater.core_log.protocol.messages.list_offsets import ListOffsetsRequest
from headwater.core_log.testing.messages import message_classes, random_message


def test_a_seed_replays_a_message() -> None:
    """The dice decide everything."""
    first, second = (random_message(FetchRequest, 17, random.Random(5)) for _ in range(2))
    assert first == second
    assert first != random_message(FetchRequest, 17, random.Random(6))


def test_every_class_is_found_once() -> None:
    """Requests and responses come in pairs, as many as Kafka 4.3 has keys."""
    names = [cls.__name__ for cls in message_classes()]
    assert len(names) == len(set(names))
    requests = {name.removesuffix("Request") for name in names if name.endswith("Request")}
    responses = {name.removesuffix("Response") for name in names if name.endswith("Response")}
    assert requests == responses
    assert len(requests) == 89


def test_edges_are_drawn() -> None:
    """Among a few messages are the smallest and largest numbers, null, and text beyond ASCII."""
    found = [random_message(FetchRequest, 12, random.Random(seed)) for seed in range(200)]
    waits = {message.max_wait_ms for message in found}
    assert {-(2**31), -1, 0, 2**31 - 1} <= waits
    assert {None, ""} <= {message.cluster_id for message in found}
    assert any(not message.rack_id.isascii() for message in found)


def test_plain_numbers_are_small_and_positive() -> None:
    """For peers that read some of them as times."""
    for seed in range(50):
        message = random_message(ListOffsetsRequest, 7, random.Random(seed), plain=True)
        assert 0 <= message.replica_id < 100
        for topic in message.topics:
            assert all(0 <= part.timestamp < 100 for part in topic.partitions)


def test_small_messages_stay_small() -> None:
    """Whole suites draw thousands of them."""
    sizes = [
        len(encode(random_message(cls, cls.VERSIONS.last, random.Random(1), small=True), version))
        for cls in message_classes()
        for version in [cls.VERSIONS.last]
    ]
    assert max(sizes) < 20_000
