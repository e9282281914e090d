"""What a handler is: one API, the versions of it that work, and the function that serves it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ..protocol.apis import Api
from .deferred import Deferred
from .session import Session

if TYPE_CHECKING:
    from .broker import Broker

Response: TypeAlias = Any
"""A response message of the protocol package; which one, the API's table row says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The circumstances of one request."""

    api_version: int
    correlation_id: int
    client_id: str | None
    session: Session

    @property
    def client_host(self) -> str:
        """The peer as Kafka prints it in group descriptions."""
        return f"/{self.session.peer_host}"


Serve: TypeAlias = Callable[["Broker", Any, Call], Response | Deferred[Response] | None]
"""Gives the response, a deferred one, or None where the protocol asks for no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """One row of the table of served APIs."""

    api: Api
    version_min: int
    version_max: int
    serve: Serve
    mutes: bool = True
    """While the answer is pending, later requests of the connection wait (see Session)."""
