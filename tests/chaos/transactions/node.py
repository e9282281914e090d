"""The broker under fire, which sends its clients to a proxy."""

from pathlib import Path
from typing import Final

from tools.kafka.server import KafkaServer

from headwater.core_log.testing.process import BrokerProcess

from ...interop.target import SETTINGS, Target

QUICK_RESTART: Final = {
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "300",
}


def node(kind: str, directory: Path, *, port: int, advertised: str) -> Target:
    """*kind* is ``headwater`` or ``kafka``."""
    match kind:
        case "headwater":
            return BrokerProcess(directory, settings=SETTINGS, port=port, advertised=advertised)
        case "kafka":
            told = {"advertised.listeners": f"PLAINTEXT://{advertised}"}
            overrides = {**SETTINGS, **QUICK_RESTART, **told}
            return KafkaServer(directory, overrides=overrides, port=port)
        case other:
            raise ValueError(f"{other!r} is no target: headwater or kafka")
