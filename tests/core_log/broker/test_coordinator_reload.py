"""A coordinator whose records find no space starts anew, and does nothing else meanwhile."""

from headwater.core_log.kernel.effects import Sender
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.create_topics import CreateTopicsResponse
from headwater.core_log.protocol.messages.delete_topics import DeleteTopicsResponse
from headwater.core_log.protocol.messages.end_txn import EndTxnResponse
from headwater.core_log.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from headwater.core_log.protocol.messages.init_producer_id import InitProducerIdResponse
from headwater.core_log.protocol.messages.produce import ProduceResponse
from headwater.core_log.testing import requests
from headwater.core_log.testing import transaction_requests as transactional
from headwater.core_log.testing.local_broker import LocalBroker


def test_a_full_disk_does_not_keep_the_coordinator_busy_with_starting_anew() -> None:
    """The marker's topic is deleted, so nothing is left to be done but to note it; that is refused.

    The shard is built anew and finds the same: it has to wait for space, not to spin.
    """
    broker = LocalBroker()
    broker.start()
    client = broker.connect()
    client.ask(requests.create_topic("t"), CreateTopicsResponse, version=7)
    find = FindCoordinatorRequest(key_type=1, coordinator_keys=["id"])
    client.ask(find, FindCoordinatorResponse, version=4)
    broker.advance(100)
    answer = client.ask(transactional.init_producer("id"), InitProducerIdResponse, version=5)
    sender = Sender(producer_id=answer.producer_id, producer_epoch=answer.producer_epoch)
    batch = requests.batch_of(
        ["x"],
        now_ms=broker.clock.now_ms(),
        producer_id=sender.producer_id,
        producer_epoch=sender.producer_epoch,
        is_transactional=True,
    )
    topic_id = broker.running.image.topics["t"].topic_id
    produce = requests.produce("t", topic_id, {0: batch}, transactional_id="id")
    produced = client.ask(produce, ProduceResponse, version=13)
    assert produced.responses[0].partition_responses[0].error_code == ErrorCode.NONE

    ended = client.send(transactional.end_transaction("id", sender, commit=True), version=5)
    broker.step()  # the decision is in the file
    broker.fs.capacity_bytes = broker.fs.used_bytes
    broker.settle()  # it is on disk, and the marker is refused
    response = ended()
    assert isinstance(response, EndTxnResponse)
    assert response.error_code == ErrorCode.NONE

    broker.fs.capacity_bytes = None
    client.ask(requests.delete_topic("t", version=6), DeleteTopicsResponse, version=6)
    broker.fs.capacity_bytes = broker.fs.used_bytes
    broker.advance(1_000)

    broker.fs.capacity_bytes = None
    broker.advance(1_000)
    fresh = transactional.end_transaction(
        "id",
        Sender(producer_id=response.producer_id, producer_epoch=response.producer_epoch),
        commit=False,
    )
    last = client.ask(fresh, EndTxnResponse, version=5)
    assert last.error_code == ErrorCode.NONE
