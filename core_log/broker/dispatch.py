"""From a request frame to a handler and back to a response frame."""

from collections.abc import Mapping
from functools import partial
from typing import Final, final

from ..kernel.errors import ErrorCode
from ..protocol.apis import (
    API_BY_KEY,
    RequestHeader,
    decode_request,
    decode_request_header,
    encode_response,
)
from ..protocol.errors import DecodeError, EncodeError
from .broker import Broker
from .call import Call
from .deferred import Deferred
from .handler import Handler, Response
from .handlers.api_versions import listing
from .session import Answer, Frames, Later, ProtocolViolation, Session

API_VERSIONS: Final = 18


@final
class Dispatcher:
    """The router of a broker's sessions, over the table of handlers."""

    def __init__(self, broker: Broker, handlers: Mapping[int, Handler]) -> None:
        self._broker = broker
        self._served = {
            (key, version): handler
            for key, handler in handlers.items()
            for version in range(handler.version_min, handler.version_max + 1)
            if version in handler.api.versions
        }

    def handle(self, frame: bytearray, session: Session) -> Answer:
        """Serve one request frame.

        Raises ProtocolViolation for what no client of Kafka sends: an API or version that is not
        served, or bytes that do not decode. Kafka closes the connection on these, and so do we.
        """
        broker = self._broker
        try:
            header = decode_request_header(frame)
            version = header.api_version
            handler = self._served.get((header.api_key, version))
            if handler is None:
                return self._unsupported(header)
            request = decode_request(header, frame, budget=broker.config.request_elements_max)
        except DecodeError as error:
            broker.stats.violations += 1
            raise ProtocolViolation(str(error)) from error
        broker.stats.requested(header.api_key)
        call = Call(
            api_version=version,
            correlation_id=header.correlation_id,
            client_id=header.client_id,
            session=session,
        )
        try:
            response = handler.serve(broker, request, call)
        except ProtocolViolation:
            raise
        except Exception as fault:
            raise self._unhandled(handler, call, fault) from fault
        if response is None:
            return None
        if isinstance(response, Deferred):
            encode = partial(self._encode, handler, call)
            return Later(response, encode, mutes=handler.mutes)
        return self._encode(handler, call, response)

    def wants_flush(self, session: Session) -> None:
        """Remember the session for the end of the turn."""
        self._broker.answer_later(session)

    def _encode(self, handler: Handler, call: Call, response: Response) -> Frames:
        try:
            return encode_response(handler.api, call.api_version, call.correlation_id, response)
        except EncodeError as error:
            # The client cannot be answered, and waiting for ever would be worse for it.
            call.session.close(str(self._unhandled(handler, call, error)))
            return []

    def _unhandled(self, handler: Handler, call: Call, error: Exception) -> ProtocolViolation:
        """Report a fault of ours; what remains is to close the connection."""
        self._broker.stats.unhandled += 1
        self._broker.report_unhandled(
            error, api=handler.api.name, version=call.api_version, client_id=call.client_id
        )
        return ProtocolViolation(
            f"{handler.api.name} v{call.api_version} met a fault of the broker: {error!r}"
        )

    def _unsupported(self, header: RequestHeader) -> Answer:
        if header.api_key == API_VERSIONS:
            refusal = listing(self._broker, ErrorCode.UNSUPPORTED_VERSION)
            return encode_response(API_BY_KEY[API_VERSIONS], 0, header.correlation_id, refusal)
        self._broker.stats.violations += 1
        known = API_BY_KEY.get(header.api_key)
        name = known.name if known is not None else f"API key {header.api_key}"
        raise ProtocolViolation(f"{name} version {header.api_version} is not served")
