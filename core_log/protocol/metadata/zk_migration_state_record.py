"""How far a move away from ZooKeeper has come (KIP-866). Kafka 4 writes only *none* and *post*."""

from typing import Annotated

from ..schema import Message, int8, versions


class ZkMigrationStateRecord(Message, kw_only=True):
    API_KEY = 21
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    zk_migration_state: Annotated[int, int8("0+")] = 0
