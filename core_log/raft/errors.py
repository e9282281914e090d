"""What can be wrong with a metadata log that a node is given."""

from typing import Final


class MetadataLogRefused(Exception):
    """The metadata log is not one this node may use; nothing in it was changed."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path: Final = path
        self.reason: Final = reason

    def __str__(self) -> str:
        return f"metadata log {self.path} cannot be used: {self.reason}"


class MetadataLogDamaged(MetadataLogRefused):
    """The metadata log is not whole; its files stay untouched."""

    def __str__(self) -> str:
        return (
            f"metadata log {self.path} is damaged: {self.reason}; restore the folder from a "
            "backup, nothing in it was changed"
        )
