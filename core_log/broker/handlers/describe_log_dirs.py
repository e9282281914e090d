"""DescribeLogDirs (key 35), versions 1-5: what lies in the data directories, and how big it is."""

from collections.abc import Iterable

from ...kernel.errors import ErrorCode
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from ...storage.directory import LogDirectory
from ...storage.errors import LogDirectoryFailed
from ..broker import Broker
from ..call import Call
from ..describe import holds
from ..handler import Handler
from ..partitions import Hosted


def serve(broker: Broker, request: DescribeLogDirsRequest, call: Call) -> DescribeLogDirsResponse:
    """Every directory with the asked-for partitions in it; null asks for all."""
    del call
    wanted = (
        None
        if request.topics is None
        else {(topic.topic, index) for topic in request.topics for index in topic.partitions}
    )
    hosted = [
        entry
        for entry in broker.partitions
        if wanted is None or (entry.topic, entry.index) in wanted
    ]
    results = []
    for directory in broker.directories:
        inside = [entry for entry in hosted if holds(directory, entry.log)]
        results.append(_describe(directory, inside))
    return DescribeLogDirsResponse(error_code=ErrorCode.NONE, results=results)


def _describe(directory: LogDirectory, inside: Iterable[Hosted]) -> DescribeLogDirsResult:
    try:
        usable_bytes = None if directory.offline_reason is not None else directory.free_bytes()
    except LogDirectoryFailed:
        usable_bytes = None
    if usable_bytes is None:
        return DescribeLogDirsResult(
            error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir=directory.path, topics=[]
        )
    return DescribeLogDirsResult(
        error_code=ErrorCode.NONE,
        log_dir=directory.path,
        topics=_topics(inside),
        usable_bytes=usable_bytes,
    )


def _topics(entries: Iterable[Hosted]) -> list[DescribeLogDirsTopic]:
    topics: dict[str, DescribeLogDirsTopic] = {}
    for entry in entries:
        topic = topics.setdefault(
            entry.topic, DescribeLogDirsTopic(name=entry.topic, partitions=[])
        )
        topic.partitions.append(
            DescribeLogDirsPartition(
                partition_index=entry.index,
                partition_size=entry.log.size_bytes,
                offset_lag=max(0, entry.high_watermark - entry.log.log_end_offset),
                is_future_key=False,
            )
        )
    return list(topics.values())


HANDLER = Handler(api=API_BY_KEY[35], version_min=1, version_max=5, serve=serve)
