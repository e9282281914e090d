"""A whole broker in one thread, on a manual clock and a file system in memory.

The parts are the production ones; only the ports are replaced. Nothing happens unless the test
makes it: ``settle`` runs turns and disk work until nothing is left to do, ``advance`` moves the
clock and fires what is due. So a run is repeated exactly by its seed, and a crash can be put
between any two steps::

    broker = LocalBroker()
    broker.start()
    client = broker.connect()
    response = client.ask(MetadataRequest(topics=None), MetadataResponse, version=12)
"""

import random
from collections import deque
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Final, TypeVar, final

from ..broker.broker import Broker
from ..broker.config import Endpoint
from ..broker.dispatch import Dispatcher
from ..broker.handlers import HANDLERS
from ..broker.session import Frames, Session
from ..groups.config import GroupConfig
from ..protocol.apis import API_BY_KEY, decode_response, encode_request
from ..protocol.frame import PREFIX_BYTES, FrameReader
from ..protocol.schema import Message
from ..server.assemble import assemble
from ..server.config import (
    BrokerSettings,
    broker_config,
    group_config,
    intervals,
    transaction_config,
)
from ..server.host import Host, Specification
from ..server.opening import open_directories
from ..storage.directory import LogDirectory
from ..storage.errors import LogDirectoryFailed
from ..storage.log import FlushJob, LogSlice
from .clock import ManualClock
from .direct_cleaner import DirectCleaner
from .memory_fs import MemoryFileSystem

M = TypeVar("M", bound=Message)
T = TypeVar("T")

DATA_DIR: Final = "/data"
LISTENER: Final = "PLAINTEXT"
STEPS_MAX: Final = 100_000
"""A run that needs more steps to settle never will."""
FRAME_BYTES_MAX: Final = 100 * 1024 * 1024
CONFIGS: Final = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "2"}
"""What differs from Kafka's defaults: nobody waits for members that a test did not start."""


class NotAnswered(AssertionError):
    """The broker has nothing left to do, and the request has no answer."""


@final
class ManualDisk:
    """The disk port as a queue: work is done when ``step`` is called, oldest first."""

    def __init__(self) -> None:
        self._queue: deque[Callable[[], None]] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    def flush(self, jobs: list[FlushJob], done: Callable[[list[OSError | None]], None]) -> None:
        self._queue.append(lambda: done([_attempt(job.run) for job in jobs]))

    def read(self, pieces: list[LogSlice], done: Callable[[list[bytes | OSError]], None]) -> None:
        self._queue.append(lambda: done([_attempt(piece.read) for piece in pieces]))

    def run(self, work: Callable[[], T], done: Callable[[T | OSError], None]) -> None:
        self._queue.append(lambda: done(_attempt(work)))

    def step(self, place: int = 0) -> None:
        """Do one piece of work: the oldest, or the one at *place*, as threads may finish it."""
        work = self._queue[place]
        del self._queue[place]
        work()

    def drop(self) -> None:
        """Forget everything queued, as a crash does."""
        self._queue.clear()


@final
class LocalBroker:
    """One broker, restartable over the same file system.

    *configs* are the broker's by Kafka's names, *groups* overrides those of the coordinator.
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        fs: MemoryFileSystem | None = None,
        clock: ManualClock | None = None,
        configs: Mapping[str, str] | None = None,
        groups: GroupConfig | None = None,
        data_dirs: tuple[str, ...] = (DATA_DIR,),
    ) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - a simulation is repeated by its seed
        self.clock = clock or ManualClock()
        self.fs = fs or MemoryFileSystem()
        self.notes: list[tuple[str, dict[str, object]]] = []
        """What the broker reported of its own accord, oldest first."""
        self.unread_bytes = 0
        """What the broker is told of answers that nobody takes; a test may set it."""
        self.failures: list[LogDirectoryFailed] = []
        """One for each directory that failed since the start."""
        self.disk = ManualDisk()
        self.broker: Broker | None = None
        self.configs = CONFIGS | dict(configs or {})
        self._groups = groups
        self._data_dirs = data_dirs
        self._dispatcher: Dispatcher | None = None
        self._directories: list[LogDirectory] = []
        self._turn_wanted = False
        self._newest_connection = 0
        self._clients: list[LocalConnection] = []

    @property
    def running(self) -> Broker:
        """The broker; it must have been started."""
        assert self.broker is not None, "the broker is not running"
        return self.broker

    def start(self) -> None:
        """Open the data directory, recovering what is in it. Raises what ``assemble`` raises."""
        assert self.broker is None, "the broker runs already"
        host = Host(
            fs=self.fs,
            clock=self.clock,
            rng=self.rng,
            disk=self.disk,
            schedule_turn=self._want_turn,
            timer_set=lambda: None,
            failed=self._failed,
            notify=self._notify,
            unread_bytes=lambda: self.unread_bytes,
            newest_connection=lambda: self._newest_connection,
            cleaner=DirectCleaner(self.fs, self.clock, self.disk),
        )
        endpoint = Endpoint(listener=LISTENER, host="broker", port=9092)
        settings = BrokerSettings(data_dirs=tuple(map(Path, self._data_dirs)), configs=self.configs)
        spec = Specification(
            config=broker_config(settings, (endpoint,)),
            groups=self._groups or group_config(settings),
            transactions=transaction_config(settings),
            intervals=intervals(settings),
            data_dirs=self._data_dirs,
            producer_id_expiration_ms=settings.whole("producer.id.expiration.ms"),
        )
        self.failures.clear()
        self._directories = open_directories(host, spec)
        self.broker = assemble(host, spec, self._directories)
        self._dispatcher = Dispatcher(self.broker, HANDLERS)

    def stop(self) -> None:
        """Stop cleanly, once everything under way is done."""
        self.running.partitions.flush_all()
        self.settle()
        self.running.close()
        self._end()

    def crash(self) -> None:
        """End at once: memory is gone, and of the files what was not synced, by the seed."""
        self.fs.crash()
        self._end()

    def kill(self) -> None:
        """End at once like a process that is killed: what was written stays."""
        for directory in self._directories:
            directory.close(clean=False)
        self._end()

    def connect(
        self,
        on_frame: Callable[[bytes], None] | None = None,
        on_closed: Callable[[], None] | None = None,
    ) -> "LocalConnection":
        """A connection of a new client.

        With *on_frame* answers go there, without their size prefix, instead of waiting to be
        looked for; *on_closed* is told when the broker ends the connection.
        """
        assert self._dispatcher is not None
        self._newest_connection += 1
        client = LocalConnection(
            self,
            self._dispatcher,
            self._newest_connection,
            on_frame=on_frame,
            on_closed=on_closed,
        )
        self._clients.append(client)
        return client

    def settle(self) -> None:
        """Run turns and disk work until there is none; time does not pass."""
        for _ in range(STEPS_MAX):
            if not self.step():
                return
        raise AssertionError(f"the broker is still busy after {STEPS_MAX} steps")

    def step(self, *, disk: bool = True) -> bool:
        """One turn, one piece of disk work or one due timer; False when there is nothing to do.

        Without *disk* the disk hangs: its work stays queued.
        """
        if self.broker is None:
            return False
        if self._turn_wanted:
            self._turn_wanted = False
            self.broker.turn()
            return True
        if disk and len(self.disk):
            self.disk.step()
            return True
        now_ms = self.clock.monotonic_ms()
        deadline_ms = self.broker.next_deadline_ms()
        if deadline_ms is not None and deadline_ms <= now_ms:
            self.broker.tick(now_ms)
            return True
        return False

    def advance(self, duration_ms: int) -> None:
        """Let time pass, stopping at every deadline on the way."""
        end_ms = self.clock.monotonic_ms() + duration_ms
        while True:
            self.settle()
            now_ms = self.clock.monotonic_ms()
            deadline_ms = None if self.broker is None else self.broker.next_deadline_ms()
            if deadline_ms is None or deadline_ms > end_ms:
                self.clock.advance(end_ms - now_ms)
                self.settle()
                return
            self.clock.advance(max(0, deadline_ms - now_ms))

    def check(self) -> None:
        """Assert the invariants of every part; a simulation calls it after every event."""
        if self.broker is None:
            return
        self.broker.controller.check()
        self.broker.groups.shards.check()
        self.broker.transactions.shards.check()
        for hosted in self.broker.partitions:
            if hosted.offline_reason is None:
                hosted.log.check()
                hosted.replica.check()
                assert hosted.log.log_start_offset <= hosted.high_watermark, hosted
                assert hosted.high_watermark <= hosted.log.written_offset, hosted
                assert hosted.is_lazy or hosted.high_watermark <= hosted.log.flushed_offset, hosted

    def _want_turn(self) -> None:
        self._turn_wanted = True

    def _failed(self, failure: LogDirectoryFailed) -> None:
        if any(known.path == failure.path for known in self.failures):
            return  # as a node does
        self.failures.append(failure)
        if self.broker is not None:
            self.broker.partitions.take_offline(failure)

    def _notify(self, event: str, severe: bool, facts: Mapping[str, object]) -> None:  # noqa: FBT001 - as Notify has it
        self.notes.append((event, {"severe": severe, **facts}))

    def _end(self) -> None:
        self.broker = None
        self._dispatcher = None
        self.disk.drop()
        self._turn_wanted = False
        clients, self._clients = self._clients, []
        for client in clients:
            client.lost("the broker is gone")


@final
class LocalConnection:
    """One client connection: asks, and looks for answers in the order it asked."""

    def __init__(
        self,
        broker: LocalBroker,
        dispatcher: Dispatcher,
        number: int,
        *,
        on_frame: Callable[[bytes], None] | None,
        on_closed: Callable[[], None] | None,
    ) -> None:
        self._broker = broker
        self._wire = _Wire(on_frame, on_closed)
        self._correlations = count(1)
        self._session = Session(
            dispatcher,
            self._wire,
            listener=LISTENER,
            peer_host="127.0.0.1",
            peer_port=40_000 + number,
            number=number,
        )

    @property
    def closed(self) -> str | None:
        """Why the connection is closed, None while it is open."""
        return self._wire.closed

    def ask(self, request: Message, response_class: type[M], *, version: int) -> M:
        """Send one request and let the broker work until the answer is there.

        Raises NotAnswered when the broker is idle without one; time does not pass meanwhile.
        """
        answer = self.send(request, version=version)
        self._broker.settle()
        response = answer()
        if response is None:
            raise NotAnswered(f"{type(request).__name__} v{version}; closed: {self.closed}")
        assert isinstance(response, response_class)
        return response

    def send(self, request: Message, *, version: int) -> Callable[[], Message | None]:
        """Send one request; the result looks for its answer, None while there is none.

        Answers come in the order of requests, so look for them in that order.
        """
        api = API_BY_KEY[request.API_KEY]
        correlation_id = next(self._correlations)
        frame = b"".join(encode_request(api, version, correlation_id, "test", request))
        self.send_raw(frame[PREFIX_BYTES:])

        def answer() -> Message | None:
            if not self._wire.received:
                return None
            received_id, response = decode_response(api, version, self._wire.received.popleft())
            assert received_id == correlation_id, "answers come in the order of the requests"
            return response

        return answer

    def send_raw(self, frame: bytes) -> None:
        """Send one frame as it is, without its size prefix."""
        if self.closed is None:
            self._session.receive(bytearray(frame))
            self._session.flush()

    def receive_raw(self) -> bytes | None:
        """The oldest answer's frame, without its size prefix; None when there is none."""
        return bytes(self._wire.received.popleft()) if self._wire.received else None

    def disconnect(self, reason: str = "the client closed") -> None:
        """Close from the client's side."""
        self._wire.on_closed = None
        self.lost(reason)

    def lost(self, reason: str) -> None:
        """The connection is gone, whoever ended it."""
        self._wire.close(reason)
        self._session.disconnected()


@final
class _Wire:
    """The transport a session sends to; what it sent waits in ``received``."""

    def __init__(
        self, on_frame: Callable[[bytes], None] | None, on_closed: Callable[[], None] | None
    ) -> None:
        self.received: deque[bytearray] = deque()
        self.closed: str | None = None
        self.on_closed = on_closed
        self._on_frame = on_frame
        self._reader = FrameReader(FRAME_BYTES_MAX)

    def send(self, parts: Frames) -> None:
        for part in parts:
            frames = self._reader.feed(part)
            if self._on_frame is None:
                self.received.extend(frames)
            else:
                for frame in frames:
                    self._on_frame(bytes(frame))

    def close(self, reason: str) -> None:
        if self.closed is None:
            self.closed = reason
            if self.on_closed is not None:
                self.on_closed()

    def pause_reading(self) -> None:
        """A test sends only what it means to."""

    def resume_reading(self) -> None:
        """See ``pause_reading``."""


def _attempt(work: Callable[[], T]) -> T | OSError:
    try:
        return work()
    except OSError as error:
        return error
