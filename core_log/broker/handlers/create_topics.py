"""CreateTopics (key 19), versions 2-7."""

from ...controller.topics import create_topics
from ...kernel.errors import ApiError
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(
    broker: Broker, request: CreateTopicsRequest, call: Call
) -> Deferred[CreateTopicsResponse]:
    """One result for each topic, once the new ones are committed and hosted."""
    del call
    return broker.submit(
        lambda image: create_topics(image, request, broker.controller_config, broker.rng)
    ).map(lambda result: _refusal(request, result) if isinstance(result, ApiError) else result)


def _refusal(request: CreateTopicsRequest, error: ApiError) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        topics=[
            CreatableTopicResult(
                name=topic.name, error_code=error.code, error_message=error.message
            )
            for topic in request.topics
        ]
    )


HANDLER = Handler(api=API_BY_KEY[19], version_min=2, version_max=7, serve=serve)
