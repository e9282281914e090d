"""From a request frame to a handler and back to a response frame."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ..kernel.errors import ErrorCode
from ..kernel.ports import Buffer
from ..protocol.apis import API_BY_KEY, RequestHeader, decode_request_header, encode_response
from ..protocol.codec import DecodeError
from ..protocol.hot import decode_request
from .deferred import Deferred
from .handler import Call, Handler, Response
from .session import Answer, Frames, ProtocolViolation, Session

if TYPE_CHECKING:
    from .broker import Broker

API_VERSIONS: Final = 18


def handle(
    broker: "Broker", handlers: Mapping[int, Handler], frame: bytearray, session: Session
) -> Answer:
    """Serve one request frame.

    Raises ProtocolViolation for what no client of Kafka sends: an API or version that is not
    served, or bytes that do not decode. Kafka closes the connection on these, and so do we.
    """
    try:
        header = decode_request_header(frame)
    except DecodeError as error:
        raise ProtocolViolation(f"the request header does not decode: {error}") from error
    handler = handlers.get(header.api_key)
    if handler is None or not handler.version_min <= header.api_version <= handler.version_max:
        return _unsupported(broker, header)
    version = header.api_version
    try:
        request = decode_request(
            handler.api,
            version,
            frame,
            header.body_offset,
            budget=broker.config.request_elements_max,
        )
    except DecodeError as error:
        raise ProtocolViolation(
            f"a {handler.api.name} v{version} request does not decode: {error}"
        ) from error
    broker.stats.requested(header.api_key)
    call = Call(
        api_version=version,
        correlation_id=header.correlation_id,
        client_id=header.client_id,
        session=session,
    )
    response = handler.serve(broker, request, call)
    if response is None:
        return Answer()
    if not isinstance(response, Deferred):
        return Answer(_encode(handler, call, response))
    return Answer(
        later=response.map(lambda message: _encode(handler, call, message)), mutes=handler.mutes
    )


def _encode(handler: Handler, call: Call, response: Response) -> Frames:
    parts: list[Buffer] = encode_response(
        handler.api, call.api_version, call.correlation_id, response
    )
    return parts


def _unsupported(broker: "Broker", header: RequestHeader) -> Answer:
    if header.api_key != API_VERSIONS:
        known = API_BY_KEY.get(header.api_key)
        name = known.name if known is not None else f"API key {header.api_key}"
        raise ProtocolViolation(f"{name} version {header.api_version} is not served")
    response = broker.api_listing(ErrorCode.UNSUPPORTED_VERSION)
    return Answer(encode_response(API_BY_KEY[API_VERSIONS], 0, header.correlation_id, response))
