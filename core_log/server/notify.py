"""How parts of a node report what they did of their own accord; the process writes it down."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

Notify: TypeAlias = Callable[[str, bool, Mapping[str, object]], None]
"""Called with the event's name, whether a person must look at it, and its facts."""
