"""One connection through the proxy: two streams of frames, each in order and in its own time.

A shell. Each direction has a reader, which gives every frame a fate and a due time, and a writer.
Whatever is under way to the broker arrives even when the client is gone, as it does on a real
network: that is how a late request meets a client that has moved on.
"""

import asyncio
import contextlib
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, final

from ...protocol.errors import FrameError
from ...protocol.frame import PREFIX_BYTES, FrameReader
from .held import HELD_SECONDS_MAX, Held
from .weather import Fate, Forecast, Weather

READ_BYTES: Final = 1 << 16
FRAME_BYTES_MAX: Final = 128 << 20
"""More than brokers take (``socket.request.max.bytes``) or clients ask for, by default."""
QUEUED_FRAMES_MAX: Final = 64
"""Under way in one direction; then the sender waits, as behind a full pipe."""
LAST_ANSWERS_SECONDS: Final = 5.0
"""How long a broker has to answer and close once its client is gone."""


class Direction(StrEnum):
    TO_BROKER = "to-broker"
    TO_CLIENT = "to-client"


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnderWay:
    """A frame with its size, on its way."""

    frame: bytes
    due_seconds: float
    held: Held | None = None


Peer = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@final
class Line:
    """Carries one client's connection. *catch* gives a frame to whoever waits for one such."""

    def __init__(
        self,
        number: int,
        client: Peer,
        broker: Peer,
        *,
        forecast: Forecast,
        weather: Callable[[], Weather],
        catch: Callable[[int, bytes], Held | None],
    ) -> None:
        self.number = number
        self.is_client_gone = False
        self._client_reader, self._client = client
        self._broker_reader, self._broker = broker
        self._forecast = forecast
        self._weather = weather
        self._catch = catch
        self._held: list[Held] = []
        self._open = {direction: asyncio.Event() for direction in Direction}
        self._to_broker: asyncio.Queue[_UnderWay | None] = asyncio.Queue(QUEUED_FRAMES_MAX)
        self._to_client: asyncio.Queue[_UnderWay | None] = asyncio.Queue(QUEUED_FRAMES_MAX)
        for gate in self._open.values():
            gate.set()

    async def run(self) -> None:
        """Carry until both sides are done."""
        try:
            async with asyncio.TaskGroup() as group:
                readers = [
                    group.create_task(read()) for read in (self._read_client, self._read_broker)
                ]
                to_broker = group.create_task(self._write_broker())
                to_client = group.create_task(self._write_client())
                await asyncio.wait({to_broker, to_client}, return_when=asyncio.FIRST_COMPLETED)
                if not to_client.done():
                    await asyncio.wait({to_client}, timeout=LAST_ANSWERS_SECONDS)
                await self._close_client()
                for task in (*readers, to_broker, to_client):
                    task.cancel()
        finally:
            self.reset()

    def stall(self, direction: Direction) -> None:
        """Hold everything that way until ``resume``."""
        self._open[direction].clear()

    def resume(self) -> None:
        for gate in self._open.values():
            gate.set()

    def reset(self) -> None:
        """Break the connection with RST on both sides; what is under way is lost."""
        self.cut_client()
        _abort(self._broker)
        self.resume()  # what waits for a stalled direction has nothing to wait for any more
        for held in self._held:
            held.offer(None)

    def cut_client(self) -> None:
        """RST to the client alone; what it sent before is still under way."""
        self.is_client_gone = True
        _abort(self._client)

    async def _read_client(self) -> None:
        cutter = FrameReader(FRAME_BYTES_MAX)
        with contextlib.suppress(OSError, FrameError):
            while data := await self._client_reader.read(READ_BYTES):
                for body in cutter.feed(data):
                    if not await self._take_request(bytes(body)):
                        self.reset()
                        return
        self.is_client_gone = True
        await self._to_broker.put(None)

    async def _take_request(self, body: bytes) -> bool:
        """False when the request is lost with the connection."""
        if len(body) < 8:  # [2 api key][2 version][4 correlation id] or it is no request
            return False
        frame = len(body).to_bytes(PREFIX_BYTES, "big") + body
        api_key = int.from_bytes(body[:2], "big", signed=True)
        held = self._catch(api_key, frame)
        fate = Fate() if held else self._forecast.request(api_key, self._weather())
        if fate.is_lost:
            return False
        if held is not None:
            self._held.append(held)
        await self._to_broker.put(_under_way(frame, fate, held))
        if fate.cuts_client or (held is not None and held.cuts_client):
            self.cut_client()
        return True

    async def _read_broker(self) -> None:
        cutter = FrameReader(FRAME_BYTES_MAX)
        with contextlib.suppress(OSError, FrameError):
            while data := await self._broker_reader.read(READ_BYTES):
                for body in cutter.feed(data):
                    for held in self._held:
                        held.offer(bytes(body))
                    frame = len(body).to_bytes(PREFIX_BYTES, "big") + body
                    fate = self._forecast.answer(self._weather())
                    await self._to_client.put(_under_way(frame, fate, None))
        await self._to_client.put(None)

    async def _write_broker(self) -> None:
        while (item := await self._to_broker.get()) is not None:
            if item.held is not None and not await _released(item.held):
                self.reset()
                return
            await self._carry(item, self._broker, Direction.TO_BROKER)
        with contextlib.suppress(OSError, RuntimeError):  # closed by the broker meanwhile
            self._broker.write_eof()

    async def _write_client(self) -> None:
        while (item := await self._to_client.get()) is not None:
            if not self.is_client_gone:
                await self._carry(item, self._client, Direction.TO_CLIENT)

    async def _close_client(self) -> None:
        """With FIN, so that what was written before arrives."""
        if not self.is_client_gone:
            self._client.close()
            with contextlib.suppress(OSError):
                await self._client.wait_closed()

    async def _carry(
        self, item: _UnderWay, writer: asyncio.StreamWriter, direction: Direction
    ) -> None:
        await asyncio.sleep(item.due_seconds - time.monotonic())
        await self._open[direction].wait()
        with contextlib.suppress(OSError):
            for piece in self._forecast.slices(item.frame, self._weather()):
                writer.write(piece)
                await writer.drain()


def _under_way(frame: bytes, fate: Fate, held: Held | None) -> _UnderWay:
    due_seconds = time.monotonic() + fate.delay_ms / 1000
    return _UnderWay(frame=frame, due_seconds=due_seconds, held=held)


async def _released(held: Held) -> bool:
    """Wait for it; False when the request is to be dropped."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(HELD_SECONDS_MAX):
            return await asyncio.wrap_future(held.goes_on)
    return True


def _abort(writer: asyncio.StreamWriter) -> None:
    """Close with RST instead of FIN."""
    raw: socket.socket | None = writer.get_extra_info("socket")
    if raw is not None and not writer.transport.is_closing():
        with contextlib.suppress(OSError):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
