"""Whether a name matches a ``patternProperties`` pattern, within bounds.

Patterns come from strangers; Python's ``re`` may take years over one. The library that validates
data matches in bounded time, and so both understand a pattern alike.
"""

from functools import lru_cache
from typing import Final

import jsonschema_rs

BOUNDED: Final = jsonschema_rs.FancyRegexOptions(
    backtrack_limit=10_000, size_limit=1_000_000, dfa_size_limit=1_000_000
)


@lru_cache(maxsize=10_000)
def matches(pattern: str, name: str) -> bool:
    """Does *pattern*, an ECMA regular expression, occur in *name*?

    False for what is no pattern or takes too long: the name is not covered then.
    """
    compiled = _compiled(pattern)
    return compiled is not None and compiled.is_valid(name)


@lru_cache(maxsize=1_000)
def _compiled(pattern: str) -> "jsonschema_rs.Validator | None":
    try:
        return jsonschema_rs.Draft7Validator({"pattern": pattern}, pattern_options=BOUNDED)
    except (jsonschema_rs.ValidationError, ValueError):
        return None
