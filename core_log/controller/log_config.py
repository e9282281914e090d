"""How the metadata log's segments behave: kept until a snapshot stands for them, never expired."""

from typing import Final

from ..storage.config import LogConfig

METADATA_LOG_CONFIG: Final = LogConfig(
    retention_ms=None, retention_bytes=None, cleanup_delete=False, flush_messages=1
)
