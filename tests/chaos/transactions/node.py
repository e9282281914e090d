"""The broker under fire, which sends its clients to a proxy."""

from pathlib import Path
from typing import Final

from tools.kafka.server import KafkaServer

from headwater.core_log.testing.process import BrokerProcess

from ...interop.target import SETTINGS, Target

TRANSACTION_SETTINGS: Final = {
    "transaction.state.log.num.partitions": "4",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",  # 10 s by default
}
QUICK_RESTART: Final = {
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "300",
}


def node(kind: str, directory: Path, *, port: int, advertised: str) -> Target:
    """*kind* is ``headwater`` or ``kafka``."""
    settings = {**SETTINGS, **TRANSACTION_SETTINGS}
    match kind:
        case "headwater":
            return BrokerProcess(directory, settings=settings, port=port, advertised=advertised)
        case "kafka":
            told = {"advertised.listeners": f"PLAINTEXT://{advertised}"}
            overrides = {**settings, **QUICK_RESTART, **told}
            return KafkaServer(directory, overrides=overrides, port=port)
        case other:
            raise ValueError(f"{other!r} is no target: headwater or kafka")
