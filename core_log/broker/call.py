"""The circumstances of one request."""

import msgspec

from .session import Session


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks, in which version. One is made for every request, so it is cheap."""

    api_version: int
    correlation_id: int
    client_id: str | None
    session: Session

    @property
    def client_host(self) -> str:
        """The peer as Kafka prints it in group descriptions."""
        return f"/{self.session.peer_host}"
