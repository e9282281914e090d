"""The controller of a node: decides on the newest image, publishes what is committed.

Synchronous over the metadata log. Decisions see proposals that are not committed yet, so that two
requests for one topic name cannot both succeed; everybody else sees the committed image only, and
an answer leaves when everything its decision saw is committed.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar, final

from ..kernel.errors import ApiError, ErrorCode
from ..protocol.errors import DecodeError
from ..protocol.messages.broker_registration import BrokerRegistrationRequest
from ..protocol.metadata import decode_metadata_record, encode_metadata_record
from ..protocol.metadata.abort_transaction_record import AbortTransactionRecord
from ..protocol.schema import Message
from ..raft.errors import MetadataLogDamaged, MetadataLogRefused
from ..raft.metadata_log import METADATA_TOPIC, CommittedBatch, MetadataLog, SnapshotJob
from ..raft.quorum import QuorumFacts
from ..storage.errors import DiskFull, LogDirectoryFailed
from ..storage.log import FlushJob
from ..storage.notes import Note
from .decision import Decision
from .feature_updates import initial_features
from .features import METADATA_VERSION, METADATA_VERSION_LEVEL, METADATA_VERSION_LEVEL_MIN
from .image import MetadataDelta, MetadataImage
from .nodes import register_broker, unfence_broker
from .replay import MetadataInvalid, apply
from .snapshot import image_records

R = TypeVar("R")

REPLAY_COUNT: Final = 10_000
"""Records applied at once at the start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What a flush brought: act on ``delta``, then call ``answers`` in order."""

    delta: MetadataDelta
    answers: tuple[Callable[[], None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pending:
    """A proposal on its way, and the image once it is committed."""

    records: tuple[Message, ...]
    image: MetadataImage
    delta: MetadataDelta


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    """Somebody who learns *answer* when everything up to an offset is committed."""

    last_offset: int
    answer: Callable[[ApiError | None], None]
    """Called with the reason when it will not be."""


@final
class Controller:
    """Owner of the metadata on this node.

    Invariants: ``image`` is what is committed; pending proposals follow it in order of offset; who
    waits, waits for an offset that is not committed.
    """

    def __init__(self, log: MetadataLog, *, cluster_id: str) -> None:
        """Rebuild the image from the log's snapshot and the batches behind it.

        Raises MetadataLogDamaged when the records do not fit together, MetadataLogRefused when a
        newer Kafka wrote them.
        """
        self._log = log
        self.notes = tuple(
            Note(
                event="metadata_snapshot_damaged",
                path=damaged.path,
                facts={"reason": damaged.reason},
                severe=True,
            )
            for damaged in log.damaged
        )
        """What opening the log did of its own accord."""
        self.image = _replayed(log, cluster_id)
        """Committed metadata."""
        self._pending: deque[_Pending] = deque()
        self._waiting: deque[_Waiting] = deque()

    def __repr__(self) -> str:
        return f"<Controller {self.image!r}, {len(self._pending)} proposals pending>"

    def start(
        self, registration: BrokerRegistrationRequest, *, was_clean: bool, now_ms: int
    ) -> None:
        """Bring the metadata to where this node serves; blocks until that is on disk.

        An empty log gets its first records, the broker registers and takes the lead where nobody
        else has it; everywhere, when its last stop was not clean.
        """
        if self.image.open_transaction is not None:
            abort = AbortTransactionRecord(reason="its controller stopped before it ended")
            self._propose([abort], now_ms=now_ms)
        if not self.image.features.levels and not self.image.brokers:
            self._propose(_decoded(self._log.bootstrap_records()), now_ms=now_ms)
        self._propose(initial_features(self._newest).records, now_ms=now_ms)
        self._propose(register_broker(self._newest, registration).records, now_ms=now_ms)
        unfencing = unfence_broker(
            self._newest, registration.broker_id, raise_leader_epochs=not was_clean
        )
        self._propose(unfencing.records, now_ms=now_ms)
        self._log.flush()
        self._advance(self._log.committed_offset)

    def submit(
        self,
        decide: Callable[[MetadataImage], Decision[R]],
        done: Callable[[R | ApiError], None],
        *,
        now_ms: int,
    ) -> None:
        """Decide now; *done* gets the response, or the error, once it holds.

        It is called here when nothing is pending and nothing changes, else among the ``answers``
        of a flush, or by ``write`` and ``flush_failed`` when the records are lost.
        """
        outcome: R | ApiError
        try:
            decision = decide(self._newest)
            self._propose(decision.records, now_ms=now_ms)
            outcome = decision.response
        except ApiError as error:
            outcome = error

        def answer(failure: ApiError | None) -> None:
            done(outcome if failure is None else failure)

        if self._pending:
            last_offset = self._newest.last_offset
            self._waiting.append(_Waiting(last_offset=last_offset, answer=answer))
        else:
            answer(None)

    def write(self) -> None:
        """Put proposals into the file. Raises DiskFull or LogDirectoryFailed, and has then told
        those whose proposals are lost.
        """
        try:
            self._log.write()
        except DiskFull as failure:
            self._lose(self._log.end_offset, failure)
            raise
        except LogDirectoryFailed as failure:
            self._lose(self._log.committed_offset, failure)
            raise

    def begin_flush(self) -> FlushJob | None:
        """The work that commits what is written; None when there is nothing."""
        job = self._log.begin_flush()
        assert job is None or isinstance(job, FlushJob)
        return job

    def end_flush(self, job: FlushJob) -> Committed:
        """The job has run: ``image`` advances."""
        return self._advance(self._log.end_flush(job))

    def flush_failed(self, error: OSError) -> LogDirectoryFailed:
        """The job has raised: who waits learns that the directory is offline."""
        failure = self._log.flush_failed(error)
        assert isinstance(failure, LogDirectoryFailed)
        self._lose(self._log.committed_offset, failure)
        return failure

    @property
    def has_pending(self) -> bool:
        """Proposals are not committed yet: ``write`` or a flush has something to do."""
        return bool(self._pending)

    @property
    def wants_snapshot(self) -> bool:
        """The log has grown enough, and the image is between metadata transactions."""
        return self._log.wants_snapshot and self.image.open_transaction is None

    def begin_snapshot(self) -> SnapshotJob:
        """A snapshot of the committed image; run it on any thread, then call ``end_snapshot``."""
        image = self.image
        return self._log.begin_snapshot(
            (encode_metadata_record(record) for record in image_records(image)),
            last_offset=image.last_offset,
            epoch=image.last_epoch,
            timestamp_ms=image.last_timestamp_ms,
        )

    def end_snapshot(self, job: SnapshotJob, error: OSError | None = None) -> None:
        """The job has run, or raised *error*. Removes what it made superfluous; blocks shortly."""
        self._log.end_snapshot(job, error)

    def describe_quorum(self, *, now_ms: int) -> QuorumFacts:
        """The state of the quorum, for DescribeQuorum."""
        return self._log.describe(now_ms=now_ms)

    def close(self) -> None:
        """Commit what is pending; blocks."""
        self._log.flush()
        for answer in self._advance(self._log.committed_offset).answers:
            answer()

    def check(self) -> None:
        """Assert the invariants."""
        offsets = [self.image.last_offset, *(entry.image.last_offset for entry in self._pending)]
        assert offsets == sorted(set(offsets))
        assert self.image.last_offset < self._log.committed_offset
        assert all(entry.last_offset > self.image.last_offset for entry in self._waiting)

    @property
    def _newest(self) -> MetadataImage:
        return self._pending[-1].image if self._pending else self.image

    def _propose(self, records: Iterable[Message], *, now_ms: int) -> None:
        records = tuple(records)
        if not records:
            return
        # Applied before it is proposed: what does not fit must not get into the log.
        image, delta = apply(
            self._newest,
            records,
            last_offset=self._log.end_offset + len(records) - 1,
            last_epoch=self._log.leader_epoch,
            last_timestamp_ms=now_ms,
        )
        try:
            self._log.propose([encode_metadata_record(record) for record in records], now_ms=now_ms)
        except ValueError as error:
            raise ApiError(ErrorCode.POLICY_VIOLATION, str(error)) from error
        self._pending.append(_Pending(records=records, image=image, delta=delta))

    def _advance(self, committed_offset: int) -> Committed:
        pending = self._pending
        done: list[_Pending] = []
        while pending and pending[0].image.last_offset < committed_offset:
            done.append(pending.popleft())
        delta = self._publish(done)
        answers: list[Callable[[], None]] = []
        while self._waiting and self._waiting[0].last_offset < committed_offset:
            answers.append(_succeeding(self._waiting.popleft()))
        return Committed(delta=delta, answers=tuple(answers))

    def _publish(self, done: list[_Pending]) -> MetadataDelta:
        """Make what is committed the image; what changed, all in all."""
        if not done:
            return MetadataDelta()
        before, self.image = self.image, done[-1].image
        if len(done) == 1:
            return done[0].delta
        # A topic made and deleted within one flush must not show in the sum: apply it anew.
        return apply(
            before,
            [record for entry in done for record in entry.records],
            last_offset=self.image.last_offset,
            last_epoch=self.image.last_epoch,
            last_timestamp_ms=self.image.last_timestamp_ms,
        )[1]

    def _lose(self, end_offset: int, failure: ApiError) -> None:
        """Proposals at and above *end_offset* did not get into the log."""
        while self._pending and self._pending[-1].image.last_offset >= end_offset:
            self._pending.pop()
        lost = [entry for entry in self._waiting if entry.last_offset >= end_offset]
        self._waiting = deque(entry for entry in self._waiting if entry.last_offset < end_offset)
        for entry in lost:
            entry.answer(failure)


def _succeeding(waiting: _Waiting) -> Callable[[], None]:
    return lambda: waiting.answer(None)


def _decoded(records: Iterable[bytes]) -> list[Message]:
    try:
        return [decode_metadata_record(record) for record in records]
    except DecodeError as error:
        raise MetadataLogDamaged(METADATA_TOPIC, str(error)) from error


def _replayed(log: MetadataLog, cluster_id: str) -> MetadataImage:
    image = MetadataImage(cluster_id=cluster_id)
    try:
        if log.snapshot is not None and log.snapshot_id is not None:
            image, _ = apply(
                image,
                _decoded(log.snapshot.records),
                last_offset=log.snapshot_id.end_offset - 1,
                last_epoch=log.snapshot_id.epoch,
                last_timestamp_ms=log.snapshot.timestamp_ms,
            )
        for batches in _grouped(log.replay()):
            image, _ = apply(
                image,
                _decoded(record for batch in batches for record in batch.records),
                last_offset=batches[-1].last_offset,
                last_epoch=batches[-1].leader_epoch,
                last_timestamp_ms=batches[-1].timestamp_ms,
            )
    except MetadataInvalid as error:
        raise MetadataLogDamaged(METADATA_TOPIC, str(error)) from error
    log.replayed()
    _check_version(image)
    return image


def _grouped(batches: Iterable[CommittedBatch]) -> Iterator[list[CommittedBatch]]:
    """Batches in groups of some thousand, because each application copies what it touches."""
    group: list[CommittedBatch] = []
    for batch in batches:
        group.append(batch)
        if batch.last_offset - group[0].base_offset >= REPLAY_COUNT:
            yield group
            group = []
    if group:
        yield group


def _check_version(image: MetadataImage) -> None:
    level = image.features.levels.get(METADATA_VERSION, METADATA_VERSION_LEVEL)
    if not METADATA_VERSION_LEVEL_MIN <= level <= METADATA_VERSION_LEVEL:
        raise MetadataLogRefused(
            METADATA_TOPIC,
            f"its metadata.version is {level}, and this version reads "
            f"{METADATA_VERSION_LEVEL_MIN} to {METADATA_VERSION_LEVEL}; use the Headwater or the "
            "Kafka that wrote it",
        )
