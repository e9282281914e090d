"""A broker put together over ports: several directories, and what is refused before it serves."""

import pytest

from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.kernel.ports import OpenMode
from headwater.core_log.protocol.messages.create_topics import CreateTopicsResponse
from headwater.core_log.protocol.messages.describe_log_dirs import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from headwater.core_log.storage.errors import LogDirectoryRefused
from headwater.core_log.testing import requests
from headwater.core_log.testing.local_broker import LocalBroker

DIRS = ("/one", "/two")


def started(broker: LocalBroker) -> LocalBroker:
    broker.start()
    broker.settle()
    return broker


def test_partitions_spread_over_the_directories_and_are_found_again() -> None:
    broker = started(LocalBroker(data_dirs=DIRS))
    client = broker.connect()
    client.ask(requests.create_topic("t", partitions=4), CreateTopicsResponse, version=7)
    broker.stop()
    client = started(broker).connect()
    answer = client.ask(DescribeLogDirsRequest(topics=None), DescribeLogDirsResponse, version=4)
    held = [
        sum(len(topic.partitions) for topic in result.topics if topic.name == "t")
        for result in answer.results
    ]
    assert [result.log_dir for result in answer.results] == list(DIRS)
    assert sum(held) == 4
    assert all(held)


def test_a_directory_that_another_process_holds_is_refused_and_the_others_let_go() -> None:
    broker = LocalBroker(data_dirs=DIRS)
    started(broker).stop()
    lock = broker.fs.lock("/two/.lock")
    with pytest.raises(LogDirectoryRefused, match="another process"):
        broker.start()
    lock.close()
    started(broker)


def test_a_directory_of_another_node_is_refused() -> None:
    broker = LocalBroker()
    started(broker).stop()
    properties = broker.fs.open("/data/meta.properties", OpenMode.WRITE)
    content = properties.read_at(10_000, 0).replace(b"node.id=1", b"node.id=7")
    properties.write_at([content], 0)
    with pytest.raises(LogDirectoryRefused, match="node 7"):
        broker.start()


def test_a_lost_directory_takes_its_partitions_with_it_and_no_others() -> None:
    broker = started(LocalBroker(data_dirs=DIRS))
    client = broker.connect()
    client.ask(requests.create_topic("t", partitions=4), CreateTopicsResponse, version=7)
    lost = next(h for h in broker.running.partitions if h.log.path.startswith("/two/"))
    kept = next(h for h in broker.running.partitions if h.log.path.startswith("/one/"))
    broker.failures.append(lost.log.volume.fail(OSError(5, "injected")))
    broker.running.partitions.take_offline(broker.failures[0])
    assert lost.offline_reason is not None
    assert kept.offline_reason is None
    again = client.ask(requests.create_topic("u", partitions=2), CreateTopicsResponse, version=7)
    assert again.topics[0].error_code == ErrorCode.NONE
    paths = {h.log.path for h in broker.running.partitions if h.topic == "u"}
    assert all(path.startswith("/one/") for path in paths)


def test_a_lost_directory_keeps_no_other_from_a_clean_end() -> None:
    broker = started(LocalBroker(data_dirs=DIRS))
    client = broker.connect()
    client.ask(requests.create_topic("t", partitions=4), CreateTopicsResponse, version=7)
    lost = next(h for h in broker.running.partitions if h.log.path.startswith("/two/"))
    broker.running.partitions.take_offline(lost.log.volume.fail(OSError(5, "injected")))
    broker.stop()
    assert ".kafka_cleanshutdown" in broker.fs.list("/one")
    assert ".kafka_cleanshutdown" not in broker.fs.list("/two")
    started(broker)  # which finds no lock left behind
