"""A node on a real event loop and loopback: it serves, stops cleanly, and ends when it must."""

import asyncio
from pathlib import Path

import pytest

from headwater.core_log.protocol.apis import API_BY_KEY, decode_response, encode_request
from headwater.core_log.protocol.messages.create_topics import CreateTopicsResponse
from headwater.core_log.protocol.messages.metadata import MetadataRequest, MetadataResponse
from headwater.core_log.protocol.messages.produce import ProduceResponse
from headwater.core_log.protocol.schema import Message
from headwater.core_log.server.clock import SystemClock
from headwater.core_log.server.config import BrokerSettings
from headwater.core_log.server.node import Node
from headwater.core_log.storage.errors import LogDirectoryFailed, LogDirectoryRefused
from headwater.core_log.testing import requests
from headwater.core_log.testing.memory_fs import MemoryFileSystem
from headwater.service.kinds import ListenerAddress

DIR = Path("/data")


class Client:
    """One connection that asks and reads the answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def ask(self, request: Message, *, version: int) -> Message:
        api = API_BY_KEY[request.API_KEY]
        self.writer.write(b"".join(encode_request(api, version, 7, "test", request)))
        size = int.from_bytes(await self.reader.readexactly(4), "big")
        correlation_id, response = decode_response(
            api, version, await self.reader.readexactly(size)
        )
        assert correlation_id == 7
        return response


class House:
    """A node over a file system in memory, with what it told."""

    def __init__(self, fs: MemoryFileSystem | None = None, **configs: str) -> None:
        self.fs = fs or MemoryFileSystem()
        self.told: list[str] = []
        self.fatal: list[LogDirectoryFailed] = []
        self.node = Node(
            BrokerSettings(
                listeners=(ListenerAddress("PLAINTEXT", "127.0.0.1", 0),),
                data_dirs=(DIR,),
                configs={key.replace("_", "."): value for key, value in configs.items()},
            ),
            fs=self.fs,
            clock=SystemClock(),
            notify=lambda event, _severe, _facts: self.told.append(event),
            on_fatal=self.fatal.append,
        )

    async def connect(self) -> Client:
        endpoint = self.node.endpoints[0]
        return Client(*await asyncio.open_connection(endpoint.host, endpoint.port))

    def topic_id(self, name: str) -> bytes:
        assert self.node.broker is not None
        return self.node.broker.image.topics[name].topic_id


async def made_topic(house: House) -> Client:
    client = await house.connect()
    answer = await client.ask(requests.create_topic("t"), version=7)
    assert isinstance(answer, CreateTopicsResponse)
    return client


async def test_a_node_tells_clients_the_port_it_took() -> None:
    house = House()
    await house.node.start()
    client = await house.connect()
    answer = await client.ask(MetadataRequest(topics=None), version=9)
    assert isinstance(answer, MetadataResponse)
    assert answer.brokers[0].port == house.node.endpoints[0].port != 0
    client.writer.close()
    await house.node.stop()


async def test_what_was_acknowledged_is_there_after_a_clean_stop() -> None:
    house = House()
    await house.node.start()
    client = await made_topic(house)
    batch = requests.batch_of(["v"], now_ms=SystemClock().now_ms())
    answer = await client.ask(requests.produce("t", house.topic_id("t"), {0: batch}), version=13)
    assert isinstance(answer, ProduceResponse)
    assert answer.responses[0].partition_responses[0].error_code == 0
    await house.node.stop()
    assert house.node.broker is None
    again = House(house.fs)
    await again.node.start()
    assert again.node.broker is not None
    hosted = again.node.broker.hosted_by_name("t", 0)
    assert (hosted.high_watermark, hosted.replica.leader_epoch) == (1, 0)
    assert "log_tail_truncated" not in again.told
    client.writer.close()
    await again.node.stop()


async def test_a_stop_closes_connections() -> None:
    house = House()
    await house.node.start()
    client = await house.connect()
    await client.ask(MetadataRequest(topics=None), version=9)
    await house.node.stop()
    assert await client.reader.read() == b""
    client.writer.close()


async def test_a_directory_in_use_lets_the_port_go_again() -> None:
    house = House()
    await house.node.start()
    second = House(house.fs)
    with pytest.raises(LogDirectoryRefused):
        await second.node.start()
    assert second.node.broker is None
    await house.node.stop()
    await second.node.start()
    await second.node.stop()


async def test_the_loss_of_the_only_directory_ends_the_node_once() -> None:
    house = House()
    await house.node.start()
    client = await made_topic(house)
    house.fs.fail_after(0)
    batch = requests.batch_of(["v"], now_ms=SystemClock().now_ms())
    answer = await client.ask(requests.produce("t", house.topic_id("t"), {0: batch}), version=13)
    assert isinstance(answer, ProduceResponse)
    assert answer.responses[0].partition_responses[0].error_code == 56
    assert [failure.path for failure in house.fatal] == [str(DIR)]
    assert house.told.count("log_directory_failed") == 1
    client.writer.close()
    await house.node.stop()
