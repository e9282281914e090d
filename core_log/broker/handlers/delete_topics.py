"""DeleteTopics (key 20), versions 1-6: by name, from version 6 also by id."""

from ...controller.topics import delete_topics
from ...kernel.errors import ApiError
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(
    broker: Broker, request: DeleteTopicsRequest, call: Call
) -> Deferred[DeleteTopicsResponse]:
    """One result for each topic, once the deletion is committed."""
    del call
    return broker.submit(lambda image: delete_topics(image, request, broker.controller_config)).map(
        lambda result: _refusal(request, result) if isinstance(result, ApiError) else result
    )


def _refusal(request: DeleteTopicsRequest, error: ApiError) -> DeleteTopicsResponse:
    return DeleteTopicsResponse(
        responses=[
            DeletableTopicResult(
                name=topic.name,
                topic_id=topic.topic_id,
                error_code=error.code,
                error_message=error.message,
            )
            for topic in [
                *request.topics,
                *(DeleteTopicState(name=name) for name in request.topic_names),
            ]
        ]
    )


HANDLER = Handler(api=API_BY_KEY[20], version_min=1, version_max=6, serve=serve)
