"""The small HTTP port of a process: ``/metrics``, ``/health``, ``/health/live``, ``/health/ready``.

GET and HEAD, one request per connection, no body taken. Forty lines of protocol on asyncio's
streams instead of a web framework: importing one would cost the broker 200 ms of start and
several megabytes (docs/adr/0003). Everything a peer can send is bounded: bytes of the head, time
to send it, connections at once. It binds to loopback unless an operator says otherwise; it has no
authentication and shows no data of clients.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, TypeAlias, final

from .health import Health, Question

HEAD_BYTES_MAX: Final = 8 * 1024
"""Request line and headers; what common servers take."""
HEAD_SECONDS_MAX: Final = 5.0
"""From connecting to the end of the head."""
WRITE_SECONDS_MAX: Final = 10.0
CONNECTIONS_MAX: Final = 16
"""A scraper and a prober use one each."""

JSON_TYPE: Final = "application/json"
TEXT_TYPE: Final = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a route gives back."""

    body: bytes
    content_type: str
    status: HTTPStatus = HTTPStatus.OK


Route: TypeAlias = Callable[[], Answer]


def health_routes(health: Health) -> dict[str, Route]:
    """The routes that ask *health*; 503 with the reasons when the answer is no."""

    def asked(question: Question) -> Route:
        def answer() -> Answer:
            report = health.report(question)
            status = HTTPStatus.OK if report.is_ok else HTTPStatus.SERVICE_UNAVAILABLE
            body = json.dumps(report.document(), indent=2).encode() + b"\n"
            return Answer(body=body, content_type=JSON_TYPE, status=status)

        return answer

    return {
        "/health": asked(Question.READY),
        "/health/live": asked(Question.LIVE),
        "/health/ready": asked(Question.READY),
    }


def metrics_route(exposition: Callable[[], bytes], content_type: str) -> dict[str, Route]:
    """The route that shows metrics."""
    return {"/metrics": lambda: Answer(body=exposition(), content_type=content_type)}


def answer_to(head: bytes, routes: Mapping[str, Route]) -> bytes:
    """The whole response to a request's head: pure, but for what the route itself reads."""
    line = head.split(b"\r\n", 1)[0].decode("latin-1")
    parts = line.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        return response(_plain(HTTPStatus.BAD_REQUEST))
    method, target, _ = parts
    if method not in ("GET", "HEAD"):
        return response(_plain(HTTPStatus.METHOD_NOT_ALLOWED), extra=("Allow: GET, HEAD",))
    route = routes.get(target.partition("?")[0])
    answer = _plain(HTTPStatus.NOT_FOUND, "\n".join(sorted(routes))) if route is None else route()
    return response(answer, with_body=method == "GET")


def response(answer: Answer, *, with_body: bool = True, extra: tuple[str, ...] = ()) -> bytes:
    """The bytes of one HTTP/1.0 response; the connection closes behind it."""
    head = "\r\n".join(
        [
            f"HTTP/1.0 {answer.status.value} {answer.status.phrase}",
            f"Content-Type: {answer.content_type}",
            f"Content-Length: {len(answer.body)}",
            "Cache-Control: no-store",
            "X-Content-Type-Options: nosniff",
            "Connection: close",
            *extra,
        ]
    )
    return head.encode("latin-1") + b"\r\n\r\n" + (answer.body if with_body else b"")


@final
class HttpPort:
    """An open port. Use it as a context manager: it listens inside, and closes behind."""

    def __init__(self, routes: Mapping[str, Route], *, host: str, port: int) -> None:
        self._routes = routes
        self._host = host
        self._port = port
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """The port listened on, known once inside."""
        assert self._server is not None, "not started"
        number: int = self._server.sockets[0].getsockname()[1]
        return number

    @property
    def open_count(self) -> int:
        """Connections at the moment."""
        return len(self._open)

    async def __aenter__(self) -> "HttpPort":
        self._server = await asyncio.start_server(
            self._serve, self._host, self._port, limit=HEAD_BYTES_MAX
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None, "not started"
        self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            # A peer that goes away or dawdles is its own loss.
            with contextlib.suppress(OSError, TimeoutError):
                await self._exchange(reader, writer)
        finally:
            self._open.discard(task)
            writer.transport.abort()  # nothing is left to send, or the peer does not read

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer = await self._answer(reader)
        if answer is None:
            return
        # With no buffer allowed, drain waits until the kernel has taken every byte.
        writer.transport.set_write_buffer_limits(high=0)
        writer.write(answer)
        async with asyncio.timeout(WRITE_SECONDS_MAX):
            await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes | None:
        """The response for what comes in; None when there is none to give."""
        if len(self._open) > CONNECTIONS_MAX:
            return None  # closed without a word: an answer would wait for the request first
        try:
            async with asyncio.timeout(HEAD_SECONDS_MAX):
                head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        except asyncio.LimitOverrunError:
            return response(_plain(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE))
        try:
            return answer_to(head, self._routes)
        except Exception as error:  # noqa: BLE001 - the root of the connection's task
            context = {"message": "a route of the HTTP port failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)
            return response(_plain(HTTPStatus.INTERNAL_SERVER_ERROR))


def _plain(status: HTTPStatus, text: str = "") -> Answer:
    body = f"{status.phrase}\n{text}".rstrip() + "\n"
    return Answer(body=body.encode(), content_type=TEXT_TYPE, status=status)
