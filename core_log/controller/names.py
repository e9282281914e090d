"""Which names a topic may have. Names become folder names, so nothing unchecked passes here."""

import re
from typing import Final

from ..kernel.errors import ApiError, ErrorCode

TOPIC_NAME_LENGTH_MAX: Final = 249
"""255, the longest file name, less a dash, the partition and ``-delete`` of a folder in removal."""
METADATA_TOPIC: Final = "__cluster_metadata"
INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state"})
"""Topics that clients see marked as internal."""

_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]+")


def topic_name_error(name: str) -> ApiError | None:
    """INVALID_TOPIC_EXCEPTION with Kafka's reason, None for a legal name."""
    problem = _problem(name)
    if problem is None:
        return None
    return ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")


def _problem(name: str) -> str | None:
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > TOPIC_NAME_LENGTH_MAX:
        return (
            f"the length of '{name}' is longer than the max allowed length {TOPIC_NAME_LENGTH_MAX}"
        )
    if not _LEGAL.fullmatch(name):
        return (
            f"'{name}' contains one or more characters other than ASCII alphanumerics, "
            "'.', '_' and '-'"
        )
    return None
