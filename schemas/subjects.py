"""Names of subjects and the contexts in which they live.

``:.ctx:name`` is subject *name* of context ``.ctx``; a bare *name* belongs to the default context
``.``. Ids, settings and references belong to a context. After Confluent's ``QualifiedSubject``.
"""

from typing import Final, NamedTuple

DEFAULT_CONTEXT: Final = "."
GLOBAL_CONTEXT: Final = ".__GLOBAL"
"""Its config and mode hold for every context that has none of its own; it has no subjects."""
WILDCARD: Final = ":*:"
"""As a prefix: subjects of every context."""

_DELIMITER: Final = ":"
_PREFIX: Final = ":."
_RESERVED: Final = frozenset({"__GLOBAL", "__EMPTY"})


class Qualified(NamedTuple):
    """A subject's name in two parts; an empty *subject* means the context itself."""

    context: str
    subject: str


def parsed(name: str) -> Qualified:
    """*name* in its parts; ``:.ctx`` and ``:.ctx:`` name a context."""
    if not name.startswith(_PREFIX):
        return Qualified(DEFAULT_CONTEXT, name)
    context, _, subject = name[1:].partition(_DELIMITER)
    return Qualified(context, subject)


def qualified(context: str, subject: str) -> str:
    """The one spelling of a name: bare in the default context."""
    if context == DEFAULT_CONTEXT:
        return subject
    return f"{_DELIMITER}{context}{_DELIMITER}{subject}"


def normalized(name: str) -> str:
    """*name* in its one spelling: ``:.:a`` is ``a``, and ``*`` is the default context."""
    return "" if name == "*" else qualified(*parsed(name))


def context_of(name: str) -> str:
    """The context to which *name* belongs."""
    return parsed(name).context if name.startswith(_PREFIX) else DEFAULT_CONTEXT


def context_name(context: str) -> str:
    """The context as a subject's prefix, as messages print it: "" for the default one."""
    return qualified(context, "")


def beside(parent: str, name: str) -> str:
    """What *name* means when said by subject *parent*: a bare name stays in parent's context."""
    if name.startswith(_DELIMITER):
        return normalized(name)
    return qualified(context_of(parent), name)


def is_context(name: str) -> bool:
    """Does normalized *name* mean a whole context rather than a subject?"""
    return name == "" or (name.startswith(_PREFIX) and parsed(name).subject == "")


def is_default_context(name: str) -> bool:
    """Does *name* mean the default context: ``:.:`` and the like?"""
    return name.startswith(_PREFIX) and parsed(name) == Qualified(DEFAULT_CONTEXT, "")


def is_valid(name: str, *, has_settings: bool = False) -> bool:
    """May *name* be written to: no control characters, no reserved name?

    The global context has settings only; *has_settings* says that it is they that are written.
    """
    if any(ord(char) < 0x20 or 0x7F <= ord(char) <= 0x9F for char in name):
        return False
    context, subject = parsed(name)
    if subject in _RESERVED:
        return False
    return context != GLOBAL_CONTEXT or (has_settings and subject == "")
