"""Names of Avro's types: a simple name in a namespace, and which letters may stand in them.

After Java's library, not the specification: letters and digits of any script pass, because
registries are full of such schemas. (Source: ``Schema.Name``, ``NameValidator.UTF_VALIDATOR``.)
"""

from dataclasses import dataclass
from typing import Final

_TYPE_WORDS: Final = frozenset(
    {
        *("record", "enum", "array", "map", "union", "fixed"),
        *("string", "bytes", "int", "long", "float", "double", "boolean", "null"),
    }
)
"""A type called like one of these is always written with its namespace."""


class BadName(Exception):
    """No name; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Name:
    """*simple* in *space*; None is no namespace."""

    simple: str
    space: str | None

    @property
    def full(self) -> str:
        """Namespace and name."""
        return self.simple if self.space is None else f"{self.space}.{self.simple}"

    def seen_from(self, space: str | None) -> str:
        """What a text in that namespace calls it."""
        is_near = self.space is not None and self.space == space
        return self.simple if is_near and self.simple not in _TYPE_WORDS else self.full


def parsed(text: str, space: str | None) -> Name:
    """The name that *text* means in *space*: dots in it name another namespace, ".X" none at all.

    Raises BadName.
    """
    before, dot, simple = text.rpartition(".")
    return Name(checked(simple), (before if dot else space) or None)


def checked(simple: str) -> str:
    """The name itself. Raises BadName when it is not one letter or "_", then digits also."""
    if not simple:
        raise BadName("Empty name")
    if not _is_letter(simple[0]):
        raise BadName(f"Illegal initial character: {simple}")
    if not all(_is_letter(char) or _is_digit(char) for char in simple):
        raise BadName(f"Illegal character in: {simple}")
    return simple


def check_space(name: Name) -> None:
    """Raises BadName when a part of the namespace is no name."""
    if name.space is None:
        return
    for part in name.space.split("."):
        try:
            checked(part)
        except BadName as error:
            raise BadName(f'Namespace part "{part}" is invalid: {error}') from error


def _is_letter(char: str) -> bool:
    # Java looks at UTF-16 units, of which a character beyond U+FFFF has two that are no letters.
    return char == "_" or (char.isalpha() and char <= "\uffff")


def _is_digit(char: str) -> bool:
    return char.isdecimal() and char <= "\uffff"
