"""Requests that librdkafka's admin client lacks: one plain connection for each broker asked.

Versions are agreed with each broker by ApiVersions. There is no encryption and no authentication
here; a cluster that asks for them is refused with the way out.
"""

import socket
from types import TracebackType
from typing import Any, Final, NamedTuple, Self, TypeVar, cast, final

from ..kernel.errors import ErrorCode
from ..kernel.limits import FRAME_BYTES_MAX
from ..protocol.apis import API_BY_KEY, decode_response, encode_request
from ..protocol.errors import DecodeError, EncodeError, FrameError
from ..protocol.frame import FrameReader
from ..protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ..protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ..protocol.schema import Message
from .cluster import REQUEST_TIMEOUT_SECONDS, Cluster, Refused

R = TypeVar("R", bound=Message)

CLIENT_ID: Final = "headwater-cli"
RECEIVE_BYTES: Final = 65_536
TRANSACTION: Final = 1
"""FindCoordinator's key type of transactional ids."""


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@final
class Wire:
    """The brokers of a cluster, and what they lead. Connections are opened when first needed.

    Raises Refused for a cluster that cannot be spoken to this way.
    """

    def __init__(self, cluster: Cluster) -> None:
        for name, value in cluster.properties.items():
            if name.startswith(("sasl.", "ssl.")) or (
                name == "security.protocol" and value.upper() != "PLAINTEXT"
            ):
                raise Refused(
                    f"{name} cannot be used here: these requests go over plain connections; ask "
                    "through a PLAINTEXT listener, or with kafka-transactions.sh"
                )
        found = cluster.admin().list_topics(timeout=REQUEST_TIMEOUT_SECONDS)
        self.leaders: dict[str, dict[int, int]] = {
            name: {index: partition.leader for index, partition in topic.partitions.items()}
            for name, topic in found.topics.items()
        }
        """Node id of each partition's leader by topic and partition; -1 where there is none."""
        self._addresses = {
            node: Address(str(broker.host), broker.port) for node, broker in found.brokers.items()
        }
        self._connections: dict[int, _Connection] = {}

    @property
    def nodes(self) -> list[int]:
        return sorted(self._addresses)

    def ask(self, node: int, request: Message, response_class: type[R]) -> R:
        """One broker's answer, in the newest version both know. Raises Refused."""
        if node not in self._addresses:
            raise Refused(f"broker {node} is not there at the moment; try again when it is back")
        if node not in self._connections:
            self._connections[node] = _Connection(self._addresses[node])
        return self._connections[node].ask(request, response_class)

    def coordinator(self, transactional_id: str) -> int:
        """The node that coordinates a transactional id. Raises Refused."""
        asked = FindCoordinatorRequest(key_type=TRANSACTION, coordinator_keys=[transactional_id])
        [found] = self.ask(self.nodes[0], asked, FindCoordinatorResponse).coordinators
        if found.error_code:
            raise Refused(f"{transactional_id}: {described(found.error_code, found.error_message)}")
        return found.node_id

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for connection in self._connections.values():
            connection.close()


def described(error_code: int, message: str | None = None) -> str:
    """Kafka's name of an error code, and the broker's own words or what it means."""
    try:
        code = ErrorCode(error_code)
    except ValueError:
        return f"error {error_code}: {message or 'this version does not know it'}"
    return f"{code.name}: {message or code.meaning}"


@final
class _Connection:
    """One request at a time."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._correlation_id = 0
        self._frames = FrameReader(FRAME_BYTES_MAX)
        try:
            self._socket = socket.create_connection(address, REQUEST_TIMEOUT_SECONDS)
        except OSError as error:
            raise Refused(f"no broker answers at {address} ({error})") from error
        # Version 0 is what every broker understands.
        served: Any = self._exchange(ApiVersionsRequest(), 0)
        answer = cast("ApiVersionsResponse", served)
        self._served = {
            each.api_key: range(each.min_version, each.max_version + 1) for each in answer.api_keys
        }

    def ask(self, request: Message, response_class: type[R]) -> R:
        api = API_BY_KEY[request.API_KEY]
        served = self._served.get(api.key, range(0))
        common = [version for version in served if version in api.versions]
        if not common:
            raise Refused(
                f"the broker at {self._address} does not serve {api.name}"
                + (f" in a version of ours ({api.versions})" if served else "")
            )
        try:
            response = self._exchange(request, common[-1])
        except EncodeError as error:
            raise Refused(
                f"the broker at {self._address} serves {api.name} up to version {common[-1]}, "
                f"which cannot say this: {error}"
            ) from error
        assert isinstance(response, response_class), "the table of APIs pairs them"
        return response

    def close(self) -> None:
        self._socket.close()

    def _exchange(self, request: Message, version: int) -> Message:
        self._correlation_id += 1
        api = API_BY_KEY[request.API_KEY]
        parts = encode_request(api, version, self._correlation_id, CLIENT_ID, request)
        try:
            self._socket.sendall(b"".join(parts))
            correlation_id, response = decode_response(api, version, self._receive())
        except (OSError, FrameError, DecodeError) as error:
            raise Refused(f"{self._address} gave no answer to {api.name}: {error}") from error
        if correlation_id != self._correlation_id:
            raise Refused(f"{self._address} answered another request than {api.name}")
        return response

    def _receive(self) -> bytearray:
        while True:
            data = self._socket.recv(RECEIVE_BYTES)
            if not data:
                raise ConnectionResetError("it closed the connection")
            for frame in self._frames.feed(data):
                return frame  # one request at a time: there is no second
