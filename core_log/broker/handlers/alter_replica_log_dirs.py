"""AlterReplicaLogDirs (key 34), versions 1-2: moves between data directories.

A partition that already lies in the named directory is fine as it is. A directory this node does
not have answers LOG_DIR_NOT_FOUND. Deviation from Kafka: a move to another directory of this node
is refused with UNSUPPORTED_VERSION, because it needs a replica that is copied within the node.
"""

from ...kernel.errors import ErrorCode
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from ..broker import Broker
from ..call import Call
from ..describe import holds
from ..handler import Handler


def serve(
    broker: Broker, request: AlterReplicaLogDirsRequest, call: Call
) -> AlterReplicaLogDirsResponse:
    """One error code for each partition asked to move."""
    del call
    results: dict[str, AlterReplicaLogDirTopicResult] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            result = results.setdefault(
                topic.name, AlterReplicaLogDirTopicResult(topic_name=topic.name, partitions=[])
            )
            result.partitions.extend(
                AlterReplicaLogDirPartitionResult(
                    partition_index=index,
                    error_code=_error_code(broker, directory.path, topic.name, index),
                )
                for index in topic.partitions
            )
    return AlterReplicaLogDirsResponse(results=list(results.values()))


def _error_code(broker: Broker, path: str, topic: str, index: int) -> ErrorCode:
    directory = next((entry for entry in broker.directories if entry.path == path), None)
    if directory is None:
        return ErrorCode.LOG_DIR_NOT_FOUND
    if directory.offline_reason is not None:
        return ErrorCode.KAFKA_STORAGE_ERROR
    hosted = broker.partitions.by_name(topic, index)
    if hosted is None:
        return ErrorCode.REPLICA_NOT_AVAILABLE
    return ErrorCode.NONE if holds(directory, hosted.log) else ErrorCode.UNSUPPORTED_VERSION


HANDLER = Handler(api=API_BY_KEY[34], version_min=1, version_max=2, serve=serve)
