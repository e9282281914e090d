"""Takes over what lies in the data directories: the logs, the metadata, the node's registration."""

from collections.abc import Callable, Sequence
from typing import Final

from ..controller.controller import Controller
from ..controller.image import EndpointImage
from ..controller.log_config import METADATA_LOG_CONFIG
from ..controller.nodes import own_registration
from ..kernel.ids import ID_BYTES
from ..protocol.messages.broker_registration import BrokerRegistrationRequest
from ..raft.metadata_log import METADATA_TOPIC, METADATA_TOPIC_ID, MetadataLog
from ..storage.config import LogConfig
from ..storage.directory import LogDirectory
from ..storage.log import PartitionLog
from .host import Host, Specification

_SECURITY_PROTOCOLS: Final = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}


def open_directories(host: Host, spec: Specification) -> list[LogDirectory]:
    """Take over every data directory. Raises LogDirectoryRefused, LogDirectoryFailed."""
    directories: list[LogDirectory] = []
    cluster_id = spec.cluster_id
    try:
        for path in spec.data_dirs:
            directory = LogDirectory.open(
                host.fs,
                path,
                node_id=spec.config.node_id,
                cluster_id=cluster_id,
                clock=host.clock,
                rng=host.rng,
                open_files_max=spec.open_files_max,
                on_failure=host.failed,
            )
            directories.append(directory)
            cluster_id = directory.cluster_id
    except BaseException:
        for directory in directories:
            directory.close(clean=False)
        raise
    return directories


def open_controller(
    host: Host, spec: Specification, directories: Sequence[LogDirectory]
) -> Controller:
    """The controller over the metadata log of the first directory, this node registered with it.

    Raises LogDirectoryFailed, MetadataLogRefused, MetadataLogDamaged.
    """
    directory = directories[0]
    log, notes = directory.open_log(METADATA_TOPIC, 0, METADATA_TOPIC_ID, METADATA_LOG_CONFIG)
    for entry in notes:
        host.tell(entry)
    metadata_log = MetadataLog.open(
        host.fs,
        log,
        node_id=spec.config.node_id,
        directory_id=directory.directory_id,
        now_ms=host.clock.now_ms(),
    )
    controller = Controller(metadata_log, cluster_id=directory.cluster_id)
    for entry in controller.notes:
        host.tell(entry)
    controller.start(
        _registration(host, spec, directories),
        was_clean=all(directory.was_clean for directory in directories),
        now_ms=host.clock.now_ms(),
    )
    return controller


def load_logs(
    host: Host, directories: Sequence[LogDirectory], config_for: Callable[[str], LogConfig]
) -> dict[tuple[str, int], PartitionLog]:
    """Every partition log of these directories, recovered; *config_for* gives a topic's settings.

    Raises LogDirectoryFailed.
    """
    logs: dict[tuple[str, int], PartitionLog] = {}
    configs: dict[str, LogConfig] = {}

    def cached(topic: str, partition: int) -> LogConfig:
        del partition
        if topic not in configs:
            configs[topic] = config_for(topic)
        return configs[topic]

    for directory in directories:
        found, notes = directory.load(cached)
        for entry in notes:
            host.tell(entry)
        logs.update({(log.topic, log.partition): log for log in found})
    return logs


def _registration(
    host: Host, spec: Specification, directories: Sequence[LogDirectory]
) -> BrokerRegistrationRequest:
    return own_registration(
        broker_id=spec.config.node_id,
        cluster_id=directories[0].cluster_id,
        incarnation_id=host.rng.randbytes(ID_BYTES),
        endpoints=[
            EndpointImage(
                listener=endpoint.listener,
                host=endpoint.host,
                port=endpoint.port,
                security_protocol=_SECURITY_PROTOCOLS[endpoint.security_protocol],
            )
            for endpoint in spec.config.advertised
        ],
        rack=spec.config.rack,
        log_dirs=[directory.directory_id for directory in directories],
    )
