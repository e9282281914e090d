"""The proxy between real sockets: what is carried, kept back, lost and overtaken."""

import socket
import socketserver
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import final

import pytest

from headwater.core_log.testing.process import HOST, free_port
from headwater.core_log.testing.proxy import Direction, FaultProxy, Late, Weather
from headwater.core_log.testing.proxy.held import NotCaught

END_TXN = 26
PRODUCE = 0


@final
class Broker:
    """Answers each frame with its correlation id and body; notes what came on which connection."""

    def __init__(self) -> None:
        self.arrived: list[tuple[int, int]] = []
        """Connection, counted from 1, and correlation id."""
        self.ended: list[int] = []
        outer = self
        numbers: dict[object, int] = {}

        class Server(socketserver.ThreadingTCPServer):
            def verify_request(self, request: object, client_address: object) -> bool:  # noqa: ARG002 - as the library has it
                numbers[client_address] = len(numbers) + 1  # in the order of accept
                return True

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                number = numbers[self.client_address]
                try:
                    while (body := receive(self.request)) is not None:
                        outer.arrived.append((number, struct.unpack_from(">i", body, 4)[0]))
                        answer = body[4:]
                        self.request.sendall(struct.pack(">i", len(answer)) + answer)
                except OSError:
                    pass
                outer.ended.append(number)

        self._server = Server((HOST, 0), Handler)
        self._server.daemon_threads = True
        self.address: tuple[str, int] = (HOST, self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@final
class Client:
    def __init__(self, proxy: FaultProxy) -> None:
        self.socket = socket.create_connection((HOST, proxy.port), 5)

    def send(self, correlation_id: int, *, api_key: int = PRODUCE, body: bytes = b"") -> None:
        frame = struct.pack(">hhi", api_key, 1, correlation_id) + body
        self.socket.sendall(struct.pack(">i", len(frame)) + frame)

    def answer(self, timeout_seconds: float = 5) -> int | None:
        """The correlation id of the next answer; None when the connection was closed or reset."""
        self.socket.settimeout(timeout_seconds)
        body = self.body()
        return None if body is None else int.from_bytes(body[:4], "big")

    def body(self) -> bytes | None:
        try:
            return receive(self.socket)
        except ConnectionError:
            return None

    def close(self) -> None:
        self.socket.close()


def receive(connection: socket.socket) -> bytes | None:
    """A frame without its size; None at the end."""
    data = b""
    wanted = 4
    while len(data) < wanted:
        received = connection.recv(wanted - len(data))
        if not received:
            return None
        data += received
        if len(data) == 4 == wanted:
            wanted += struct.unpack(">i", data)[0]
    return data[4:]


@pytest.fixture
def broker() -> Iterator[Broker]:
    started = Broker()
    yield started
    started.close()


@pytest.fixture
def proxy(broker: Broker) -> Iterator[FaultProxy]:
    with FaultProxy(broker.address, seed=3) as started:
        yield started


@pytest.fixture
def connect(proxy: FaultProxy) -> Iterator[Callable[[], Client]]:
    clients: list[Client] = []

    def connect_() -> Client:
        clients.append(Client(proxy))
        return clients[-1]

    yield connect_
    for client in clients:
        client.close()


Connect = Callable[[], Client]


def wait_for(state: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not state():
        assert time.monotonic() < deadline, "the state did not come"
        time.sleep(0.002)


def test_calm_weather_carries_all_in_order(connect: Connect, broker: Broker) -> None:
    client = connect()
    for correlation_id in range(100):
        client.send(correlation_id)
    assert [client.answer() for _ in range(100)] == [*range(100)]
    assert broker.arrived == [(1, number) for number in range(100)]


def test_frames_in_slices_are_the_same_frames(connect: Connect, proxy: FaultProxy) -> None:
    proxy.weather = Weather(slice_bytes=(1, 3))
    client = connect()
    body = bytes(range(256)) * 300
    client.send(7, body=body)
    assert client.body() == struct.pack(">i", 7) + body


def test_a_held_request_waits_and_others_pass(
    connect: Connect, proxy: FaultProxy, broker: Broker
) -> None:
    """What its own connection sends behind it waits too; other connections do not."""
    slow, quick = connect(), connect()
    held = proxy.hold(END_TXN)
    slow.send(1)
    assert slow.answer() == 1
    slow.send(2, api_key=END_TXN)
    slow.send(3)
    held.wait_until_caught(5)
    quick.send(4)
    assert quick.answer() == 4
    assert [correlation_id for _, correlation_id in broker.arrived] == [1, 4]
    held.release()
    assert [slow.answer(), slow.answer()] == [2, 3]
    answer = held.answer(5)
    assert answer is not None
    assert struct.unpack_from(">i", answer)[0] == 2


def test_a_held_request_arrives_on_its_old_connection(
    connect: Connect, proxy: FaultProxy, broker: Broker
) -> None:
    """Its client lost that connection at once, and went on over a new one."""
    held = proxy.hold(END_TXN, cuts_client=True)
    old = connect()
    old.send(1, api_key=END_TXN)
    assert old.answer() is None
    held.wait_until_caught(5)
    new = connect()
    new.send(2, api_key=END_TXN)
    assert new.answer() == 2
    held.release()
    assert held.answer(5) is not None
    assert broker.arrived == [(2, 2), (1, 1)]
    wait_for(lambda: 1 in broker.ended)


def test_a_held_request_outlives_its_clients_patience(
    connect: Connect, proxy: FaultProxy, broker: Broker
) -> None:
    """A client that closes its connection itself does not take the request back."""
    held = proxy.hold(END_TXN)
    client = connect()
    client.send(1, api_key=END_TXN)
    held.wait_until_caught(5)
    client.close()
    held.release()
    assert held.answer(5) is not None
    assert broker.arrived == [(1, 1)]


def test_holds_catch_one_request_each_of_their_kind(
    connect: Connect, proxy: FaultProxy, broker: Broker
) -> None:
    first, second = proxy.hold(END_TXN), proxy.hold(END_TXN)
    one, other = connect(), connect()
    one.send(1)
    one.send(2, api_key=END_TXN)
    first.wait_until_caught(5)
    other.send(3, api_key=END_TXN)
    second.wait_until_caught(5)
    second.release()
    assert other.answer() == 3
    first.release()
    assert [one.answer(), one.answer()] == [1, 2]


def test_a_dropped_request_is_lost_with_its_connection(
    connect: Connect, proxy: FaultProxy, broker: Broker
) -> None:
    held = proxy.hold(END_TXN)
    client = connect()
    client.send(1, api_key=END_TXN)
    held.wait_until_caught(5)
    held.drop()
    assert client.answer() is None
    assert held.answer(5) is None
    wait_for(lambda: broker.ended == [1])
    assert broker.arrived == []


def test_nothing_caught_is_said_in_time(proxy: FaultProxy) -> None:
    with pytest.raises(NotCaught, match=r"API key 26 in 0\.01 s"):
        proxy.hold(END_TXN).wait_until_caught(0.01)


def test_a_reset_ends_both_sides(connect: Connect, proxy: FaultProxy, broker: Broker) -> None:
    client = connect()
    client.send(1)
    assert client.answer() == 1
    assert proxy.reset() == 1
    with pytest.raises(ConnectionResetError):
        client.socket.recv(1)
    wait_for(lambda: broker.ended == [1])


def test_a_share_of_nothing_resets_nobody(connect: Connect, proxy: FaultProxy) -> None:
    client = connect()
    client.send(1)
    assert client.answer() == 1
    assert proxy.reset(share=0) == 0
    client.send(2)
    assert client.answer() == 2


def test_a_stall_to_the_broker_keeps_requests(
    connect: Connect, proxy: FaultProxy, broker: Broker
) -> None:
    client = connect()
    client.send(1)
    assert client.answer() == 1
    assert proxy.stall(Direction.TO_BROKER) == 1
    client.send(2)
    with pytest.raises(TimeoutError):
        client.answer(timeout_seconds=0.05)
    assert broker.arrived == [(1, 1)]
    proxy.resume()
    assert client.answer() == 2


def test_a_stall_to_the_client_keeps_answers(
    connect: Connect, proxy: FaultProxy, broker: Broker
) -> None:
    client = connect()
    client.send(1)
    assert client.answer() == 1
    proxy.stall(Direction.TO_CLIENT)
    client.send(2)
    wait_for(lambda: broker.arrived == [(1, 1), (1, 2)])
    with pytest.raises(TimeoutError):
        client.answer(timeout_seconds=0.05)
    proxy.resume()
    assert client.answer() == 2


def test_a_reset_ends_a_stalled_connection_too(
    connect: Connect, proxy: FaultProxy, broker: Broker
) -> None:
    client = connect()
    client.send(1)
    assert client.answer() == 1
    proxy.stall(Direction.TO_CLIENT)
    client.send(2)
    wait_for(lambda: len(broker.arrived) == 2)
    proxy.stall(Direction.TO_BROKER)
    client.send(3)
    time.sleep(0.02)  # both frames are to wait in the proxy; it has no event for that
    proxy.reset()
    assert client.answer() is None
    wait_for(lambda: broker.ended == [1] and proxy.open_line_count == 0)


@pytest.mark.slow
def test_a_late_request_is_overtaken(connect: Connect, proxy: FaultProxy, broker: Broker) -> None:
    """In weather that makes every EndTxn late its client goes on and is served first."""
    late = Late(api_key=END_TXN, share=1.0, delay_ms=(400, 400), cuts_client=True)
    proxy.weather = Weather(late=(late,))
    old = connect()
    old.send(1, api_key=END_TXN)
    assert old.answer() is None
    new = connect()
    new.send(2)
    assert new.answer() == 2
    wait_for(lambda: broker.arrived == [(2, 2), (1, 1)])


def test_latency_is_per_frame_and_keeps_order(connect: Connect, proxy: FaultProxy) -> None:
    proxy.weather = Weather(latency_ms=(20, 30))
    client = connect()
    started = time.monotonic()
    for correlation_id in range(20):
        client.send(correlation_id)
    assert [client.answer() for _ in range(20)] == [*range(20)]
    seconds = time.monotonic() - started
    assert seconds >= 0.04, "both ways"
    assert seconds < 0.8, "one after the other they would take as long: they are under way at once"


def test_bad_weather_loses_requests_with_their_connections(
    connect: Connect, proxy: FaultProxy, broker: Broker
) -> None:
    proxy.weather = Weather(reset_share=1.0)
    client = connect()
    client.send(1)
    assert client.answer() is None
    assert broker.arrived == []


def test_healing_forgets_holds_and_weather(connect: Connect, proxy: FaultProxy) -> None:
    proxy.hold(END_TXN)
    proxy.weather = Weather(reset_share=1.0)
    proxy.heal()
    client = connect()
    client.send(1, api_key=END_TXN)
    assert client.answer() == 1


def test_what_is_no_request_ends_the_connection(connect: Connect, broker: Broker) -> None:
    client = connect()
    client.socket.sendall(b"GET / HTTP/1.1\r\n\r\n")
    assert client.answer() is None
    assert broker.arrived == []


def test_no_broker_is_a_reset_and_no_end(broker: Broker) -> None:
    """A broker that is down and comes back is found again."""
    port = free_port()
    with FaultProxy((HOST, port)) as proxy:
        client = Client(proxy)
        assert client.answer() is None
        client.close()
        proxy.broker = broker.address
        client = Client(proxy)
        client.send(1)
        assert client.answer() == 1
        client.close()


def test_a_taken_port_is_told(broker: Broker) -> None:
    with pytest.raises(OSError, match="address already in use"):
        FaultProxy(broker.address, port=broker.address[1]).start()
