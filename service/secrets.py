"""Secrets: values that are never printed, and references to where they are kept.

A setting may say ``${env:NAME}`` or ``${file:/run/secrets/name}`` instead of a value; ``$${`` is a
plain ``${``. Files are read only below roots that the process names, links followed first, so that
a settings file cannot be made to read ``/etc/shadow``. Reading happens when settings are loaded,
through the readers handed in; this module itself reads nothing but such files.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

REDACTED: Final = "[secret]"
SECRET_BYTES_MAX: Final = 64 * 1024
"""Certificate chains with their key stay far below; a device or log given by mistake does not."""

_REFERENCE: Final = re.compile(r"\$\$\{|\$\{([^}]*)\}")


class ReferenceInvalid(ValueError):
    """A reference that leads nowhere or may not be followed; the message never holds a secret."""


@final
class Secret:
    """A value that prints as ``[secret]`` everywhere; only ``reveal`` gives it out."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself, for the one call that needs it."""
        return self._value

    def __repr__(self) -> str:
        return REDACTED

    __str__ = __repr__

    def __format__(self, _spec: str) -> str:
        return REDACTED

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __reduce__(self) -> str:
        raise TypeError("a secret is not pickled or copied into another process")


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSource:
    """Where references may lead: variables of *environment*, files below *roots*."""

    environment: Mapping[str, str]
    roots: tuple[Path, ...] = ()

    def resolve(self, text: str) -> str:
        """*text* with every reference replaced. Raises ReferenceInvalid."""
        return _REFERENCE.sub(self._replacement, text)

    def _replacement(self, match: re.Match[str]) -> str:
        if match[0] == "$${":
            return "${"
        scheme, _, name = match[1].partition(":")
        if scheme == "env":
            return self._variable(name)
        if scheme == "file":
            return self._file(name)
        known = "${env:NAME} or ${file:/path}"
        raise ReferenceInvalid(f"unknown reference {match[0]!r}; write {known}, or $${{ for ${{")

    def _variable(self, name: str) -> str:
        value = self.environment.get(name)
        if value is None:
            raise ReferenceInvalid(f"variable {name!r} of the reference is not set")
        return value

    def _file(self, name: str) -> str:
        path = Path(name)
        try:
            target = path.resolve(strict=True)
            if not any(target.is_relative_to(root.resolve()) for root in self.roots):
                raise ReferenceInvalid(f"{name} lies outside the allowed roots: {self._roots()}")
            return _content(target)
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
            raise ReferenceInvalid(f"secret file {name} cannot be read: {error}") from error

    def _roots(self) -> str:
        return ", ".join(str(root) for root in self.roots) or "none are set"


def has_reference(text: str) -> bool:
    """Whether resolving *text* would change it."""
    return _REFERENCE.search(text) is not None


def _content(path: Path) -> str:
    if not path.is_file():
        raise ReferenceInvalid(f"secret file {path} is not a plain file")
    with path.open("rb") as file:
        content = file.read(SECRET_BYTES_MAX + 1)
    if len(content) > SECRET_BYTES_MAX:
        raise ReferenceInvalid(f"secret file {path} is larger than {SECRET_BYTES_MAX} bytes")
    try:
        # Editors end files with a newline that belongs to no password.
        return content.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise ReferenceInvalid(f"secret file {path} is not UTF-8 text") from None
