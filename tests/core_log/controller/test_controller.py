"""The controller answers when it is committed, and never from what was lost."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.core_log.controller.controller import Committed, Controller
from headwater.core_log.controller.decision import ControllerConfig, Decision
from headwater.core_log.controller.image import EndpointImage, MetadataImage
from headwater.core_log.controller.log_config import METADATA_LOG_CONFIG
from headwater.core_log.controller.nodes import own_registration
from headwater.core_log.controller.topics import create_topics, delete_topics
from headwater.core_log.kernel.errors import ApiError, ErrorCode
from headwater.core_log.protocol.messages.broker_registration import BrokerRegistrationRequest
from headwater.core_log.protocol.messages.create_topics import (
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from headwater.core_log.protocol.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from headwater.core_log.protocol.metadata import encode_metadata_record
from headwater.core_log.protocol.metadata.begin_transaction_record import BeginTransactionRecord
from headwater.core_log.protocol.metadata.feature_level_record import FeatureLevelRecord
from headwater.core_log.protocol.metadata.topic_record import TopicRecord
from headwater.core_log.raft.errors import MetadataLogDamaged, MetadataLogRefused
from headwater.core_log.raft.metadata_log import (
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    MetadataLog,
)
from headwater.core_log.storage.directory import LogDirectory
from headwater.core_log.storage.errors import DiskFull, LogDirectoryFailed
from headwater.core_log.testing.clock import ManualClock
from headwater.core_log.testing.memory_fs import MemoryFileSystem, PowerLost

from .cluster import topic

CONFIG = ControllerConfig(node_id=1)
NOW_MS = 1_700_000_000_000


@dataclass
class Node:
    """A controller on a file system in memory, and what it answered."""

    fs: MemoryFileSystem
    snapshot_bytes: int = 10**6
    answers: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(1)
        self.directory = LogDirectory.open(
            self.fs, "/data", node_id=1, cluster_id=None, clock=ManualClock(), rng=self.rng
        )
        partition_log, _ = self.directory.open_log(
            METADATA_TOPIC, 0, METADATA_TOPIC_ID, METADATA_LOG_CONFIG
        )
        self.log = MetadataLog.open(
            self.fs,
            partition_log,
            node_id=1,
            directory_id=self.directory.directory_id,
            now_ms=NOW_MS,
            snapshot_bytes=self.snapshot_bytes,
        )
        self.controller = Controller(self.log, cluster_id=self.directory.cluster_id)

    def registration(self) -> BrokerRegistrationRequest:
        return own_registration(
            broker_id=1,
            cluster_id=self.directory.cluster_id,
            incarnation_id=self.rng.randbytes(16),
            endpoints=[EndpointImage(listener="L", host="h", port=1, security_protocol=0)],
            rack=None,
            log_dirs=[self.directory.directory_id],
        )

    def start(self, *, was_clean: bool = True) -> "Node":
        self.controller.start(self.registration(), was_clean=was_clean, now_ms=NOW_MS)
        return self

    def create(self, *names: str) -> None:
        request = CreateTopicsRequest(topics=[topic(name) for name in names])

        def done(response: CreateTopicsResponse | ApiError) -> None:
            if isinstance(response, ApiError):
                self.answers.append(f"{names[0]} {response.code.name}")
            else:
                codes = [ErrorCode(result.error_code).name for result in response.topics]
                self.answers.append(f"{names[0]} {' '.join(codes)}")

        self.controller.submit(
            lambda image: create_topics(image, request, CONFIG, self.rng), done, now_ms=NOW_MS
        )

    def delete(self, name: str) -> None:
        request = DeleteTopicsRequest(topic_names=[name])

        def done(response: DeleteTopicsResponse | ApiError) -> None:
            if isinstance(response, ApiError):
                code = response.code
            else:
                code = ErrorCode(response.responses[0].error_code)
            self.answers.append(f"-{name} {code.name}")

        self.controller.submit(
            lambda image: delete_topics(image, request, CONFIG), done, now_ms=NOW_MS
        )

    def commit(self) -> Committed:
        """One turn: write, flush, answer."""
        self.controller.write()
        job = self.controller.begin_flush()
        assert job is not None
        job.run()
        committed = self.controller.end_flush(job)
        for answer in committed.answers:
            answer()
        self.controller.check()
        return committed

    def close(self) -> None:
        self.controller.close()
        self.directory.close()

    @property
    def topics(self) -> list[str]:
        return list(self.controller.image.topics)


def test_a_fresh_node_registers_itself() -> None:
    """Features, registration, unfencing: all committed when ``start`` returns."""
    node = Node(MemoryFileSystem()).start()

    image = node.controller.image
    assert image.features.finalized == {
        "metadata.version": 30,
        "group.version": 1,
        "transaction.version": 2,
    }
    broker = image.brokers[1]
    assert not broker.fenced
    assert broker.log_dirs == (node.directory.directory_id,)
    assert node.log.committed_offset == image.last_offset + 1


def test_an_answer_waits_for_the_flush() -> None:
    """Until then neither the image nor the client knows of the topic."""
    node = Node(MemoryFileSystem()).start()

    node.create("a")
    assert node.answers == []
    assert node.topics == []
    committed = node.commit()

    assert node.answers == ["a NONE"]
    assert committed.delta.topics_created == ("a",)
    assert node.topics == ["a"]


def test_a_decision_sees_proposals_and_its_answer_waits_for_them() -> None:
    """The second of two requests for one name must not say so before the first is committed."""
    node = Node(MemoryFileSystem()).start()

    node.create("a")
    node.create("a")
    assert node.answers == []
    node.commit()

    assert node.answers == ["a NONE", "a TOPIC_ALREADY_EXISTS"]


def test_without_proposals_a_refusal_is_answered_at_once() -> None:
    """There is nothing to wait for."""
    node = Node(MemoryFileSystem()).start()

    node.delete("none")

    assert node.answers == ["-none UNKNOWN_TOPIC_OR_PARTITION"]
    assert node.controller.begin_flush() is None


def test_a_decision_may_refuse_by_exception() -> None:
    """The error goes to whoever asked."""
    node = Node(MemoryFileSystem()).start()
    answers: list[ApiError | None] = []

    def refuse(image: MetadataImage) -> Decision[None]:
        raise ApiError(ErrorCode.STALE_BROKER_EPOCH)

    node.controller.submit(refuse, answers.append, now_ms=NOW_MS)

    (error,) = answers
    assert isinstance(error, ApiError)
    assert error.code == ErrorCode.STALE_BROKER_EPOCH


def test_one_flush_commits_what_was_proposed_before_it_and_sums_it_up() -> None:
    """A topic that came and went within one flush does not show in the sum."""
    node = Node(MemoryFileSystem()).start()
    node.create("a")
    node.create("b")
    node.delete("a")

    committed = node.commit()

    assert committed.delta.topics_created == ("b",)
    assert committed.delta.topics_deleted == ()
    assert node.answers == ["a NONE", "b NONE", "-a NONE"]
    assert node.topics == ["b"]


def test_what_was_proposed_during_a_flush_waits_for_the_next() -> None:
    """The job knows what it made durable."""
    node = Node(MemoryFileSystem()).start()
    node.create("a")
    node.controller.write()
    job = node.controller.begin_flush()
    assert job is not None
    node.delete("a")
    node.controller.write()
    job.run()

    first = node.controller.end_flush(job)
    assert first.delta.topics_created == ("a",)
    assert len(first.answers) == 1
    assert node.topics == ["a"]

    assert [found.name for found in node.commit().delta.topics_deleted] == ["a"]


def test_a_full_disk_takes_back_only_what_it_did_not_take() -> None:
    """What was written before, though not yet flushed, is committed and answered later."""
    fs = MemoryFileSystem()
    node = Node(fs).start()
    node.create("a")
    node.commit()
    node.create("b")
    node.controller.write()
    fs.capacity_bytes = fs.used_bytes + 10
    node.delete("a")
    with pytest.raises(DiskFull):
        node.controller.write()
    assert node.answers == ["a NONE", "-a KAFKA_STORAGE_ERROR"]

    fs.capacity_bytes = None
    node.delete("a")
    node.commit()
    assert node.answers[2:] == ["b NONE", "-a NONE"]
    assert node.topics == ["b"]


def test_a_full_disk_refuses_and_forgets_the_proposal() -> None:
    """What rested on it is refused too; when there is space again the name is free."""
    fs = MemoryFileSystem()
    node = Node(fs).start()
    fs.capacity_bytes = fs.used_bytes + 10
    node.create(*(f"{'x' * 200}{number}" for number in range(400)))
    node.create("x" * 200 + "0")
    with pytest.raises(DiskFull):
        node.controller.write()
    assert [answer.split()[-1] for answer in node.answers] == ["KAFKA_STORAGE_ERROR"] * 2
    assert node.topics == []

    fs.capacity_bytes = None
    node.create("x" * 200 + "0")
    node.commit()
    assert node.answers[2].endswith(" NONE")
    node.close()
    assert Node(fs).topics == ["x" * 200 + "0"]


@pytest.mark.parametrize("written", [True, False])
def test_a_failed_disk_refuses_what_is_not_committed(written: bool) -> None:  # noqa: FBT001 - drawn
    """Whether the write or the flush fails, who waits learns of it and nothing is published."""
    fs = MemoryFileSystem()
    node = Node(fs).start()
    node.create("a")
    if written:
        node.controller.write()
        job = node.controller.begin_flush()
        assert job is not None
        fs.fail_after(0)
        with pytest.raises(OSError, match="injected") as failure:
            job.run()
        assert isinstance(node.controller.flush_failed(failure.value), LogDirectoryFailed)
    else:
        fs.fail_after(0)
        with pytest.raises(LogDirectoryFailed):
            node.controller.write()

    assert node.answers == ["a KAFKA_STORAGE_ERROR"]
    assert node.topics == []
    node.create("b")
    assert node.answers[-1] == "b KAFKA_STORAGE_ERROR"


def test_a_restart_finds_everything_and_registers_anew() -> None:
    """With a higher broker epoch; leader epochs rise only when the stop was not clean."""
    fs = MemoryFileSystem()
    node = Node(fs).start()
    node.create("a")
    node.commit()
    epoch = node.controller.image.brokers[1].broker_epoch
    node.close()

    clean = Node(fs).start(was_clean=True)
    assert clean.controller.image.topics["a"].partitions[0].leader_epoch == 0
    assert clean.controller.image.brokers[1].broker_epoch > epoch
    clean.close()

    unclean = Node(fs).start(was_clean=False)
    assert unclean.controller.image.topics["a"].partitions[0].leader_epoch == 1


def test_snapshots_replace_the_log_and_lose_nothing() -> None:
    """The image after a restart is the one before, wherever snapshots fell."""
    fs = MemoryFileSystem()
    node = Node(fs, snapshot_bytes=2000).start()
    snapshots = 0
    for number in range(60):
        node.create(f"t{number}")
        if number % 3 == 2:
            node.delete(f"t{number - 1}")
        node.commit()
        if node.controller.wants_snapshot:
            job = node.controller.begin_snapshot()
            job.run()
            node.controller.end_snapshot(job)
            snapshots += 1
    image = node.controller.image
    node.close()

    again = Node(fs).controller.image

    assert snapshots >= 3
    assert again.topics == image.topics
    assert list(again.topics) == list(image.topics)
    assert (again.brokers, again.features) == (image.brokers, image.features)
    assert again.topic_names == image.topic_names


def test_an_abandoned_metadata_transaction_is_aborted() -> None:
    """Its controller is gone; Kafka's next leader does the same."""
    fs = MemoryFileSystem()
    node = Node(fs).start()
    records = [BeginTransactionRecord(), TopicRecord(name="half", topic_id=bytes(15) + b"\x05")]
    node.log.propose([encode_metadata_record(record) for record in records], now_ms=NOW_MS)
    node.log.flush()
    node.directory.close()

    again = Node(fs)
    waiting = again.controller.image.open_transaction
    assert [type(record) for record in waiting or ()] == [TopicRecord]
    again.start()

    assert again.controller.image.open_transaction is None
    assert again.topics == []


def test_metadata_of_a_newer_kafka_is_refused() -> None:
    """Its records may mean more than we know."""
    fs = MemoryFileSystem()
    node = Node(fs).start()
    record = FeatureLevelRecord(name="metadata.version", feature_level=31)
    node.log.propose([encode_metadata_record(record)], now_ms=NOW_MS)
    node.log.flush()
    node.directory.close()

    with pytest.raises(MetadataLogRefused, match=r"metadata.version is 31.* reads 7 to 30"):
        Node(fs)


@pytest.mark.parametrize("record", [b"", b"\x01\x63\x00", b"\x07"])
def test_records_that_nobody_understands_are_refused(record: bytes) -> None:
    """To pass over one would be to forget a piece of the state."""
    fs = MemoryFileSystem()
    node = Node(fs).start()
    node.log.propose([record], now_ms=NOW_MS)
    node.log.flush()
    node.directory.close()

    with pytest.raises(MetadataLogDamaged):
        Node(fs)


def test_records_that_do_not_fit_are_refused() -> None:
    """The log has lost something."""
    fs = MemoryFileSystem()
    node = Node(fs).start()
    twice = encode_metadata_record(TopicRecord(name="a", topic_id=bytes(15) + b"\x05"))
    node.log.propose([twice, twice], now_ms=NOW_MS)
    node.log.flush()
    node.directory.close()

    with pytest.raises(MetadataLogDamaged, match="created twice"):
        Node(fs)


def script(node: Node, check: Callable[[Node], None]) -> None:
    """A life with topics coming and going; *check* runs whenever something is committed."""
    node.start(was_clean=False)
    for number in range(5):
        node.create(f"t{number}", f"u{number}")
        node.commit()
        check(node)
        if number % 2:
            node.delete(f"t{number - 1}")
            node.commit()
            check(node)
        if node.controller.wants_snapshot:
            job = node.controller.begin_snapshot()
            job.run()
            node.controller.end_snapshot(job)
    node.close()


def _into(seen: list[list[str]]) -> Callable[[Node], None]:
    return lambda node: seen.append(node.topics)


def test_a_crash_at_any_moment_keeps_what_was_answered() -> None:
    """A topic that a client was told of is there; one that was deleted is not."""
    whole = MemoryFileSystem(seed=1)
    script(Node(whole, snapshot_bytes=700), lambda _: None)
    for moment in range(0, len(whole.operations), 2):
        fs = MemoryFileSystem(seed=moment)
        seen: list[list[str]] = [[]]
        fs.crash_after(moment)
        with pytest.raises(PowerLost):
            script(Node(fs, snapshot_bytes=700), _into(seen))
        fs.crash()

        again = Node(fs).start(was_clean=False)

        found = set(again.topics)
        unanswered = found ^ set(seen[-1])
        assert len(unanswered) in (0, 1, 2), moment  # one creation of two, or one deletion
        again.create("next")
        again.commit()
        assert again.answers == ["next NONE"]
        again.close()


turns = st.lists(
    st.lists(st.tuples(st.sampled_from(["create", "delete"]), st.sampled_from("abc")), max_size=5),
    max_size=8,
)


@settings(max_examples=40, deadline=None)
@given(turns=turns)
def test_answers_are_those_of_one_request_after_the_other(
    turns: list[list[tuple[str, str]]],
) -> None:
    """However requests share flushes: a set of names, asked one by one, says the same."""
    node = Node(MemoryFileSystem()).start()
    model: set[str] = set()
    expected: list[str] = []
    for turn in turns:
        for operation, name in turn:
            if operation == "create":
                node.create(name)
                expected.append(f"{name} {'TOPIC_ALREADY_EXISTS' if name in model else 'NONE'}")
                model.add(name)
            else:
                node.delete(name)
                answer = "NONE" if name in model else "UNKNOWN_TOPIC_OR_PARTITION"
                expected.append(f"-{name} {answer}")
                model.discard(name)
        if len(node.answers) < len(expected):
            before = set(node.topics)
            delta = node.commit().delta
            gone = {found.name for found in delta.topics_deleted}
            assert (before - gone) | set(delta.topics_created) == model
        assert node.answers == expected
        assert set(node.topics) == model


def test_a_damaged_snapshot_is_told() -> None:
    """The state is whole without it, but a disk that damages files wants looking at."""
    fs = MemoryFileSystem()
    node = Node(fs).start()
    job = node.controller.begin_snapshot()
    job.run()
    node.controller.end_snapshot(job)
    node.close()
    path = f"/data/{METADATA_TOPIC}-0/{job.snapshot_id.file_name}"
    fs.flip_bit(path, 100)

    (note,) = Node(fs).controller.notes

    assert (note.event, note.path, note.severe) == (
        "metadata_snapshot_damaged",
        f"{path}.damaged",
        True,
    )
