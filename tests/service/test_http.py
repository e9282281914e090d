"""The small HTTP port: its answers, and its bounds against peers that misbehave."""

import asyncio
import contextlib
import json
import urllib.error
import urllib.request

import pytest

from headwater.service import http
from headwater.service.health import Health, Question
from headwater.service.http import Answer, HttpPort, Route, answer_to, health_routes, metrics_route

ROUTES: dict[str, Route] = {"/x": lambda: Answer(body=b"hello", content_type="text/plain")}


def port(routes: dict[str, Route] | None = None) -> HttpPort:
    return HttpPort(routes or ROUTES, host="127.0.0.1", port=0)


async def exchange(number: int, request: bytes) -> bytes:
    """Everything the server says to *request* until it closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", number)
    writer.write(request)
    answer = await asyncio.wait_for(reader.read(), 5)
    writer.close()
    return answer


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("GET /x HTTP/1.1", 200),
        ("GET /x?name=1 HTTP/1.0", 200),
        ("HEAD /x HTTP/1.1", 200),
        ("GET /y HTTP/1.1", 404),
        ("GET /x/ HTTP/1.1", 404),
        ("GET /../x HTTP/1.1", 404),
        ("POST /x HTTP/1.1", 405),
        ("TRACE /x HTTP/1.1", 405),
        ("GET /x", 400),
        ("GET /x HTTP/2", 400),
        ("GET  /x HTTP/1.1", 400),
        ("", 400),
        ("\x16\x03\x01", 400),
    ],
)
def test_a_request_line_decides(line: str, status: int) -> None:
    """Known paths by GET and HEAD; everything else is refused by its number."""
    answer = answer_to(line.encode("latin-1") + b"\r\nHost: x\r\n\r\n", ROUTES)
    assert answer.startswith(f"HTTP/1.0 {status} ".encode())
    assert (b"Allow: GET, HEAD\r\n" in answer) == (status == 405)
    head, _, body = answer.partition(b"\r\n\r\n")
    if status == 200:
        assert body == (b"" if line.startswith("HEAD") else b"hello")
        assert b"Content-Length: 5" in head


def fetched(url: str) -> tuple[int, str, str]:
    """Status, type and body, as the standard library's client reads them."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - our own http URL
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"], error.read().decode()


async def test_another_client_reads_our_answers() -> None:
    """It gets metrics and health, and 503 with the reason when not ready."""
    reason: list[str | None] = [None]
    health = Health()
    health.add("storage", lambda: reason[0])
    routes = health_routes(health) | metrics_route(lambda: b"a 1\n", "text/plain; version=0.0.4")

    async with port(routes) as server:

        async def get(path: str) -> tuple[int, str, str]:
            return await asyncio.to_thread(fetched, f"http://127.0.0.1:{server.port}{path}")

        assert await get("/metrics") == (200, "text/plain; version=0.0.4", "a 1\n")
        status, content_type, body = await get("/health")
        assert (status, content_type) == (200, "application/json")
        assert json.loads(body) == {"status": "ok", "checks": {"storage": "ok"}}
        reason[0] = "offline"
        status, _, body = await get("/health/ready")
        assert status == 503
        assert json.loads(body)["checks"] == {"storage": "offline"}
        assert (await get("/health/live"))[0] == 200
        status, _, body = await get("/other")
        assert status == 404
        assert "/metrics" in body


async def test_a_request_may_come_in_pieces() -> None:
    """Byte by byte is as good as at once."""
    async with port() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for byte in b"GET /x HTTP/1.1\r\n\r\n":
            writer.write(bytes([byte]))
            await writer.drain()
        assert (await reader.read()).endswith(b"hello")
        writer.close()


async def test_a_long_head_is_refused() -> None:
    """Memory for one peer is bounded, with and without an end to the head."""
    async with port() as server:
        endless = b"GET /x HTTP/1.1\r\nX: " + b"y" * http.HEAD_BYTES_MAX * 3
        with_end = endless + b"\r\n\r\n"
        for request in (endless, with_end):
            try:
                answer = await exchange(server.port, request)
            except ConnectionResetError:
                continue  # the rest of what we sent met a closed socket
            assert answer == b"" or b" 431 " in answer
        assert (await exchange(server.port, b"GET /x HTTP/1.1\r\n\r\n")).endswith(b"hello")


async def test_a_peer_that_leaves_is_forgotten() -> None:
    """Half a request and a close costs nothing and breaks nothing."""
    async with port() as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET /x")
        writer.close()
        await writer.wait_closed()
        assert (await exchange(server.port, b"GET /x HTTP/1.1\r\n\r\n")).endswith(b"hello")


async def test_a_peer_that_dawdles_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a whole head in time, the connection ends."""
    monkeypatch.setattr(http, "HEAD_SECONDS_MAX", 0.02)
    async with port() as server:
        assert await exchange(server.port, b"GET /x HT") == b""


async def test_a_peer_that_does_not_read_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large answer does not stay in memory for ever."""
    monkeypatch.setattr(http, "WRITE_SECONDS_MAX", 0.05)
    large = {"/x": lambda: Answer(body=b"x" * (64 << 20), content_type="text/plain")}
    async with port(large) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET /x HTTP/1.1\r\n\r\n")
        while server.open_count == 0:
            await asyncio.sleep(0)
        while server.open_count:
            await asyncio.sleep(0.005)
        received = 0
        with contextlib.suppress(ConnectionResetError):
            while chunk := await reader.read(1 << 20):
                received += len(chunk)
        assert received < 64 << 20
        writer.close()


async def test_connections_at_once_are_bounded() -> None:
    """One too many is closed; when one leaves, there is room again."""
    async with port() as server:
        idle = [
            await asyncio.open_connection("127.0.0.1", server.port)
            for _ in range(http.CONNECTIONS_MAX)
        ]
        while server.open_count < http.CONNECTIONS_MAX:
            await asyncio.sleep(0)
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        assert await asyncio.wait_for(reader.read(), http.HEAD_SECONDS_MAX / 2) == b""
        writer.close()
        for _, writer in idle:
            writer.close()
        while server.open_count:
            await asyncio.sleep(0)
        assert b" 200 " in await exchange(server.port, b"GET /x HTTP/1.1\r\n\r\n")


async def test_closing_the_port_ends_its_connections() -> None:
    """A stop does not wait for a peer that says nothing."""
    async with port() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        while server.open_count == 0:
            await asyncio.sleep(0)
    assert await reader.read() == b""
    writer.close()


async def test_a_route_that_fails_answers_500() -> None:
    """The port says so to the peer, reports it, and stays open."""

    def broken() -> Answer:
        raise ValueError("x")

    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: reported.append(str(context["exception"]))
    )
    async with port({"/x": broken}) as server:
        assert b" 500 " in await exchange(server.port, b"GET /x HTTP/1.1\r\n\r\n")
        assert b" 404 " in await exchange(server.port, b"GET /y HTTP/1.1\r\n\r\n")
    assert reported == ["x"]


def test_the_health_document_is_json() -> None:
    """Machines read it too."""
    answer = health_routes(Health())["/health"]()
    assert json.loads(answer.body) == Health().report(Question.READY).document()
    assert answer.content_type == "application/json"
