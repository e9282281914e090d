"""All connections between clients and one broker, in a thread of its own with its own loop.

A shell. Every method may be called from any thread.
"""

import asyncio
import contextlib
import random
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Final, Self, TypeVar, final

from ..process import HOST
from .held import Held
from .line import Direction, Line, Peer
from .weather import CALM, Forecast, Weather

LINES_MAX: Final = 1_000
"""Connections at once; more are refused, for each costs two sockets and buffers."""
CONNECT_SECONDS: Final = 5.0
CALL_SECONDS: Final = 30.0

T = TypeVar("T")


@final
class FaultProxy:
    """Listens on loopback and carries everything to *broker* (host, port) through ``weather``.

    A seed and the connections' order replay every drawn fault. While the broker does not listen,
    connections are reset. Port 0 takes a free port.
    """

    def __init__(
        self,
        broker: tuple[str, int],
        *,
        port: int = 0,
        seed: int = 0,
        weather: Weather = CALM,
    ) -> None:
        self.broker = broker
        self.weather = weather
        """In force from the next frame on; assign another at will."""
        self._port = port
        self._rng = random.Random(seed)  # noqa: S311 - faults, not secrets
        self._lines: dict[int, Line] = {}
        self._line_count = 0
        self._holds: list[Held] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="fault-proxy", daemon=True)
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        return self._port

    @property
    def bootstrap(self) -> str:
        """Where clients connect, and what the broker has to advertise."""
        return f"{HOST}:{self._port}"

    def start(self) -> None:
        """Listen. Raises OSError when the port is taken."""
        self._thread.start()
        try:
            self._await(self._listen())
        except BaseException:
            self._end()
            raise

    def stop(self) -> None:
        """Reset every connection and end."""
        self._await(self._close())
        self._end()

    def hold(self, api_key: int, *, cuts_client: bool = False) -> Held:
        """Keep back the next request of that kind; several holds catch one request each, in order.

        With *cuts_client* its client loses the connection at once and goes on over a new one.
        """
        held = Held(api_key, cuts_client=cuts_client)
        self._do(lambda: self._holds.append(held))
        return held

    def reset(self, *, share: float = 1.0) -> int:
        """Break a random choice of the connections; how many."""

        def act() -> int:
            chosen = self._choose(share)
            for line in chosen:
                line.reset()
            return len(chosen)

        return self._do(act)

    def stall(self, direction: Direction, *, share: float = 1.0) -> int:
        """Carry nothing that way on a random choice of the connections; how many."""

        def act() -> int:
            chosen = self._choose(share)
            for line in chosen:
                line.stall(direction)
            return len(chosen)

        return self._do(act)

    def resume(self) -> None:
        """Carry again what was stalled, in order."""

        def act() -> None:
            for line in self._lines.values():
                line.resume()

        self._do(act)

    def heal(self) -> None:
        """Calm weather, nothing stalled, nothing waited for; requests under way go on."""
        self.weather = CALM
        self._do(self._holds.clear)
        self.resume()

    @property
    def line_count(self) -> int:
        """Connections since the start."""
        return self._line_count

    @property
    def open_line_count(self) -> int:
        """Connections there are now, with those that only deliver what their client left behind."""
        return len(self._lines)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _choose(self, share: float) -> list[Line]:
        return [line for line in self._lines.values() if self._rng.random() < share]

    def _catch(self, api_key: int, frame: bytes) -> Held | None:
        for held in self._holds:
            if held.api_key == api_key:
                self._holds.remove(held)
                held.catch(frame)
                return held
        return None

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _do(self, act: Callable[[], T]) -> T:
        """Call it in the proxy's thread."""

        async def call() -> T:
            return act()

        return asyncio.run_coroutine_threadsafe(call(), self._loop).result(CALL_SECONDS)

    def _await(self, act: Coroutine[object, object, None]) -> None:
        asyncio.run_coroutine_threadsafe(act, self._loop).result(CALL_SECONDS)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._accept, HOST, self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "the server runs it as a task"
        self._tasks.add(task)
        try:
            await self._carry((reader, writer))
        except asyncio.CancelledError:
            pass  # the proxy ends; this is the root of the task, and streams would complain
        finally:
            writer.transport.abort()
            self._tasks.discard(task)

    async def _carry(self, client: Peer) -> None:
        broker = await self._reach() if len(self._lines) < LINES_MAX else None
        if broker is None:
            return
        self._line_count += 1
        number = self._line_count
        line = self._lines[number] = Line(
            number,
            client,
            broker,
            forecast=Forecast(self._rng.getrandbits(64)),
            weather=lambda: self.weather,
            catch=self._catch,
        )
        try:
            await line.run()
        finally:
            del self._lines[number]

    async def _reach(self) -> Peer | None:
        """A connection to the broker; None while it does not listen."""
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(CONNECT_SECONDS):
                return await asyncio.open_connection(*self.broker)
        return None

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # an aborted transport closes its socket in the loop's next round
        await asyncio.sleep(0)

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CALL_SECONDS)
        self._loop.close()
