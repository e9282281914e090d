"""What a handler is: one API, the versions of it that work, and the function that serves it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..protocol.apis import Api
from .broker import Broker
from .call import Call
from .deferred import Deferred

Response: TypeAlias = Any
"""A response message of the protocol package; which one, the API's table row says."""

Serve: TypeAlias = Callable[[Broker, Any, Call], Response | Deferred[Any] | None]
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
