"""A broker process: opens data, listens, serves, stops.

Start: take over the data directories, bind the listeners (so that their ports are known), recover,
register, then accept. Stop: accept no more, answer what is under way, flush, checkpoint, leave the
clean-shutdown marker.
"""

import asyncio
import random
import resource
import socket
from collections.abc import Callable, Sequence
from typing import Final, final

from ..broker.broker import Broker
from ..broker.config import Endpoint
from ..broker.dispatch import Dispatcher
from ..broker.handlers import HANDLERS
from ..kernel.ports import Clock, FileSystem
from ..storage.directory import LogDirectory
from ..storage.errors import LogDirectoryFailed
from .assemble import assemble
from .cleaner import CleanerProcess
from .config import (
    BrokerSettings,
    broker_config,
    connection_limits,
    group_config,
    intervals,
    transaction_config,
)
from .disk import DiskThreads
from .host import Host, Specification
from .listener import Connection, Connections
from .loop import LoopDriver
from .notify import Notify
from .opening import open_directories

LISTEN_BACKLOG: Final = 1024
SWEEP_SECONDS: Final = 1.0
DRAIN_SECONDS_MAX: Final = 5.0
"""How long a clean stop waits for what is under way."""
DRAIN_POLL_SECONDS: Final = 0.002
OPEN_FILES_MAX: Final = 8192
"""More would cost memory without saving much: an idle file is reopened in microseconds."""
ANY_HOSTS: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - compared with, not bound to


@final
class Node:
    """One broker on one event loop."""

    def __init__(
        self,
        settings: BrokerSettings,
        *,
        fs: FileSystem,
        clock: Clock,
        notify: Notify,
        on_fatal: Callable[[LogDirectoryFailed], None],
    ) -> None:
        self.settings = settings
        self.endpoints: tuple[Endpoint, ...] = ()
        """Where clients connect; known after ``start``."""
        self.broker: Broker | None = None
        self._fs = fs
        self._clock = clock
        self._notify = notify
        self._on_fatal = on_fatal
        self._connections = Connections(connection_limits(settings), clock, notify)
        self._directories: list[LogDirectory] = []
        self._servers: list[asyncio.Server] = []
        self._sweeper: asyncio.TimerHandle | None = None
        self._disk: DiskThreads | None = None
        self._cleaner: CleanerProcess | None = None
        self._driver: LoopDriver | None = None
        self._failed_paths: set[str] = set()

    @property
    def connections(self) -> Connections:
        return self._connections

    async def start(self) -> None:
        """Serve. Raises OSError when a listener cannot bind, and what ``assemble`` raises."""
        loop = asyncio.get_running_loop()
        sockets = [self._bind(listener.host, listener.port) for listener in self.settings.listeners]
        try:
            self.endpoints = self._advertise(sockets)
            self._driver = LoopDriver(loop, self._clock)
            self._disk = DiskThreads(loop)
            self._cleaner = CleanerProcess(loop, self._notify)
            host = Host(
                fs=self._fs,
                clock=self._clock,
                rng=random.SystemRandom(),
                disk=self._disk,
                schedule_turn=self._driver.schedule_turn,
                timer_set=self._driver.rearm,
                failed=self._directory_failed,
                notify=self._notify,
                unread_bytes=lambda: self._connections.unread_bytes,
                newest_connection=lambda: self._connections.newest_number,
                cleaner=self._cleaner,
            )
            spec = Specification(
                config=broker_config(self.settings, self.endpoints),
                groups=group_config(self.settings),
                transactions=transaction_config(self.settings),
                intervals=intervals(self.settings),
                data_dirs=tuple(str(path) for path in self.settings.data_dirs),
                cluster_id=self.settings.cluster_id,
                producer_id_expiration_ms=self.settings.whole("producer.id.expiration.ms"),
                open_files_max=_open_files_max(),
            )
            self._directories = open_directories(host, spec)
            self.broker = assemble(host, spec, self._directories)
            self._driver.attach(self.broker)
            dispatcher = Dispatcher(self.broker, HANDLERS)
            for listener, bound in zip(self.settings.listeners, sockets, strict=True):
                self._servers.append(await self._serve(loop, dispatcher, listener.name, bound))
        except BaseException:
            for bound in sockets:
                bound.close()
            await self._abandon()
            raise
        self._sweep()

    async def stop(self) -> None:
        """Stop cleanly: everything acknowledged is on disk, and the next start recovers nothing."""
        for server in self._servers:
            server.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        broker = self.broker
        if broker is None:
            return
        await self._drain(broker)
        self._connections.close_all("the broker stops")
        await asyncio.sleep(0)
        assert self._driver is not None
        self._driver.stop()
        assert self._cleaner is not None
        await self._cleaner.close()
        assert self._disk is not None
        self._disk.close()
        broker.close()
        self.broker = None

    async def _drain(self, broker: Broker) -> None:
        """Let appends under way reach the disk and their answers the socket."""
        broker.partitions.flush_all()
        deadline = asyncio.get_running_loop().time() + DRAIN_SECONDS_MAX
        while asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(DRAIN_POLL_SECONDS)
            if broker.is_quiet:
                return

    async def _abandon(self) -> None:
        for server in self._servers:
            server.close()
        if self._driver is not None:
            self._driver.stop()
        if self._cleaner is not None:
            await self._cleaner.close()
        if self._disk is not None:
            self._disk.close()
        for directory in self._directories:
            if directory.offline_reason is None:
                directory.close(clean=False)

    def _bind(self, host: str, port: int) -> socket.socket:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        bound = socket.socket(family, socket.SOCK_STREAM)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind((host, port))
        except BaseException:
            bound.close()
            raise
        return bound

    def _advertise(self, sockets: Sequence[socket.socket]) -> tuple[Endpoint, ...]:
        told = {listener.name: listener for listener in self.settings.advertised_listeners}
        endpoints = []
        for listener, bound in zip(self.settings.listeners, sockets, strict=True):
            bound_port = int(bound.getsockname()[1])
            address = told.get(listener.name, listener)
            host = address.host
            if host in ANY_HOSTS:
                host = socket.gethostname()
            endpoints.append(
                Endpoint(
                    listener=listener.name,
                    host=host,
                    port=address.port or bound_port,
                    security_protocol=self.settings.protocol_of(listener.name),
                )
            )
        return tuple(endpoints)

    async def _serve(
        self,
        loop: asyncio.AbstractEventLoop,
        dispatcher: Dispatcher,
        name: str,
        bound: socket.socket,
    ) -> asyncio.Server:
        return await loop.create_server(
            lambda: Connection(dispatcher, self._connections, name),
            sock=bound,
            backlog=LISTEN_BACKLOG,
        )

    def _sweep(self) -> None:
        self._connections.sweep()
        self._sweeper = asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._sweep)

    def _directory_failed(self, failure: LogDirectoryFailed) -> None:
        """One directory is lost; without the metadata log, or without any, the node ends."""
        if failure.path in self._failed_paths:
            return
        self._failed_paths.add(failure.path)
        self._notify("log_directory_failed", True, {"path": failure.path, "reason": failure.reason})
        if self.broker is not None:
            self.broker.partitions.take_offline(failure)
        holds_metadata = bool(self._directories) and failure.path == self._directories[0].path
        if holds_metadata or len(self._failed_paths) == len(self.settings.data_dirs):
            self._on_fatal(failure)


def _open_files_max() -> int:
    """Half of what the system lets this process open; connections have the other half."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return OPEN_FILES_MAX if soft == resource.RLIM_INFINITY else min(OPEN_FILES_MAX, soft // 2)
