"""A raw connection to a broker: bytes go out, frames come back, nothing is well meant by default.

A shell. Well-formed requests come from our own codec; what a test breaks, it breaks in the bytes.
"""

import socket
import struct
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar, final

from headwater.core_log.protocol.apis import API_BY_KEY, decode_response, encode_request
from headwater.core_log.protocol.messages.metadata import MetadataRequest, MetadataResponse
from headwater.core_log.protocol.schema import Message

M = TypeVar("M", bound=Message)

ANSWER_SECONDS: Final = 10.0
PREFIX: Final = struct.Struct(">i")


@final
class Raw:
    """One TCP connection. ``ask`` speaks the protocol; ``send`` and ``receive`` speak bytes."""

    def __init__(self, bootstrap: str) -> None:
        host, _, port = bootstrap.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), ANSWER_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation_id = 0

    def send(self, data: bytes) -> None:
        """All of *data*; fine when the broker has closed the connection meanwhile."""
        try:
            self._socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            return

    def send_some(self, data: bytes, *, timeout_seconds: float) -> int:
        """As much as the broker's side takes in the time; the number of bytes."""
        self._socket.settimeout(timeout_seconds)
        sent = 0
        try:
            while sent < len(data):
                sent += self._socket.send(data[sent : sent + 65_536])
        except OSError:  # full, or closed by the broker
            return sent
        return sent

    def receive(self, *, timeout_seconds: float = ANSWER_SECONDS) -> bytes | None:
        """The next frame without its length; None when the broker closed the connection.

        Raises TimeoutError when neither comes in time.
        """
        deadline = time.monotonic() + timeout_seconds
        prefix = self._exactly(PREFIX.size, deadline)
        return None if prefix is None else self._exactly(PREFIX.unpack(prefix)[0], deadline)

    def is_closed(self, *, timeout_seconds: float = ANSWER_SECONDS) -> bool:
        """Whether the broker closes the connection in time, without an answer."""
        try:
            return self.receive(timeout_seconds=timeout_seconds) is None
        except TimeoutError:
            return False

    def ask(self, request: Message, response_class: type[M], version: int) -> M:
        """Send a request and read its answer. The connection must be well, or the test fails."""
        self.send(self.encode(request, version))
        frame = self.receive()
        assert frame is not None, f"the broker closed the connection on {type(request).__name__}"
        api = API_BY_KEY[request.API_KEY]
        correlation_id, response = decode_response(api, version, frame)
        assert correlation_id == self._correlation_id
        assert isinstance(response, response_class)
        return response

    def encode(self, request: Message, version: int) -> bytes:
        """The whole frame of a request, with the next correlation id."""
        self._correlation_id += 1
        api = API_BY_KEY[request.API_KEY]
        return b"".join(encode_request(api, version, self._correlation_id, "raw", request))

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _exactly(self, size: int, deadline: float) -> bytes | None:
        data = b""
        while len(data) < size:
            self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                received = self._socket.recv(size - len(data))
            except ConnectionResetError:
                return None
            if not received:
                return None
            data += received
        return data


def framed(body: bytes) -> bytes:
    """A frame: the length, then *body*."""
    return PREFIX.pack(len(body)) + body


def head(api_key: int, version: int, *, is_flexible: bool) -> bytes:
    """A request header, version 2 if *is_flexible* and 1 otherwise."""
    start = struct.pack(">hhih", api_key, version, 1, 3) + b"raw"
    return start + b"\0" if is_flexible else start


def is_serving(connection: Raw) -> bool:
    """Whether a connection from before is answered as ever."""
    response = connection.ask(MetadataRequest(topics=[]), MetadataResponse, 12)
    return len(response.brokers) == 1


def resident_bytes(pid: int) -> int:
    """Resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096
