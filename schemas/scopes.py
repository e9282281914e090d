"""Config and mode by scope: of a subject, its context, or the whole registry.

The scope None is the default context, ``:.ctx:`` another one, ``:.__GLOBAL:`` all of them. A
subject's settings are those of the nearest scope that has any, whole: they are not merged.
"""

from collections.abc import Iterator, Mapping
from typing import TypeVar

import msgspec

from . import subjects
from .settings import CompatibilityLevel, Config, Mode


class Defaults(msgspec.Struct, frozen=True, kw_only=True):
    """What holds where no config and no mode is set: the server's settings."""

    compatibility_level: CompatibilityLevel = CompatibilityLevel.BACKWARD
    mode: Mode = Mode.READWRITE
    normalize: bool = False
    validate_fields: bool = False
    modes_may_change: bool = True


class SettingsTree:
    """What is set where, and what therefore holds."""

    def __init__(self, defaults: Defaults) -> None:
        self.defaults = defaults
        self._configs: dict[str | None, Config] = {}
        self._modes: dict[str | None, Mode] = {}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SettingsTree):
            return NotImplemented
        return (self._configs, self._modes) == (other._configs, other._modes)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def config(self, scope: str | None) -> Config | None:
        """What is set for exactly this scope; None is the default context."""
        return self._configs.get(scope)

    def config_in_scope(self, scope: str | None) -> Config:
        """What holds for the scope: the nearest config, whole, with the default level if unset."""
        for outer in _outwards(scope):
            config = self._configs.get(outer)
            if config is not None:
                break
        else:
            config = Config()
        if config.compatibility_level is not None:
            return config
        level = self.defaults.compatibility_level
        return msgspec.structs.replace(config, compatibility_level=level)

    def mode(self, scope: str | None) -> Mode | None:
        """The mode of exactly this scope, unless the global one overrides all."""
        if self._overridden():
            return Mode.READONLY_OVERRIDE
        return self._modes.get(scope, self.defaults.mode if scope is None else None)

    def mode_in_scope(self, scope: str | None) -> Mode:
        """What holds for the scope."""
        if self._overridden():
            return Mode.READONLY_OVERRIDE
        found = (self._modes[outer] for outer in _outwards(scope) if outer in self._modes)
        return next(found, self.defaults.mode)

    def configs(self) -> Mapping[str | None, Config]:
        """All configs by scope."""
        return self._configs

    def modes(self) -> Mapping[str | None, Mode]:
        """All modes by scope."""
        return self._modes

    def set_config(self, scope: str | None, config: Config | None) -> None:
        """From now on that, or (None) what is inherited."""
        _set(self._configs, scope, config)

    def set_mode(self, scope: str | None, mode: Mode | None) -> None:
        """From now on that, or (None) what is inherited."""
        _set(self._modes, scope, mode)

    def _overridden(self) -> bool:
        found = (self._modes[scope] for scope in _outwards(None) if scope in self._modes)
        return next(found, self.defaults.mode) is Mode.READONLY_OVERRIDE


_V = TypeVar("_V")


def _outwards(scope: str | None) -> Iterator[str | None]:
    """Whose settings hold for a scope, the nearest first."""
    if scope is not None and not subjects.is_context(scope):
        yield scope
    context = subjects.DEFAULT_CONTEXT if scope is None else subjects.context_of(scope)
    yield None if context == subjects.DEFAULT_CONTEXT else subjects.context_name(context)
    yield subjects.context_name(subjects.GLOBAL_CONTEXT)


def _set(mapping: dict[str | None, _V], key: str | None, value: _V | None) -> None:
    if value is None:
        mapping.pop(key, None)
    else:
        mapping[key] = value
