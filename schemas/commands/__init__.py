"""What clients ask the registry to change: (state, request) to records and an answer, or a refusal.

Nothing here changes the state. The host appends the records in order, as one transaction, waits
until they have come back by replay, and only then gives the answer.
"""

from .amending import AmendRequest, amend
from .checking import CheckRequest, check_against_subject, check_against_version
from .deleting import delete_context, delete_subject, delete_version
from .looking_up import LookupRequest, find_registered, look_up
from .outcome import Outcome
from .registering import Registered, RegisterRequest, register
from .setting import change_config, delete_config, delete_mode, set_mode

__all__ = [
    "AmendRequest",
    "CheckRequest",
    "LookupRequest",
    "Outcome",
    "RegisterRequest",
    "Registered",
    "amend",
    "change_config",
    "check_against_subject",
    "check_against_version",
    "delete_config",
    "delete_context",
    "delete_mode",
    "delete_subject",
    "delete_version",
    "find_registered",
    "look_up",
    "register",
    "set_mode",
]
