"""CreatePartitions (key 37), versions 0-3: a topic grows."""

from ...controller.topics import create_partitions
from ...kernel.errors import ApiError
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(
    broker: Broker, request: CreatePartitionsRequest, call: Call
) -> Deferred[CreatePartitionsResponse]:
    """One result for each topic."""
    del call
    return broker.submit(lambda image: create_partitions(image, request, broker.rng)).map(
        lambda result: _refusal(request, result) if isinstance(result, ApiError) else result
    )


def _refusal(request: CreatePartitionsRequest, error: ApiError) -> CreatePartitionsResponse:
    return CreatePartitionsResponse(
        results=[
            CreatePartitionsTopicResult(
                name=topic.name, error_code=error.code, error_message=error.message
            )
            for topic in request.topics
        ]
    )


HANDLER = Handler(api=API_BY_KEY[37], version_min=0, version_max=3, serve=serve)
