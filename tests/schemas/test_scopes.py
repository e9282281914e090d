"""Whose config and mode hold."""

import pytest

from headwater.schemas.scopes import Defaults, SettingsTree
from headwater.schemas.settings import CompatibilityLevel, Config, Mode

L = CompatibilityLevel


@pytest.fixture
def tree() -> SettingsTree:
    return SettingsTree(Defaults())


def level(tree: SettingsTree, scope: str | None) -> CompatibilityLevel | None:
    return tree.config_in_scope(scope).compatibility_level


def test_without_settings_the_defaults_hold(tree: SettingsTree) -> None:
    assert level(tree, None) is level(tree, "s") is level(tree, ":.c:s") is L.BACKWARD
    assert tree.mode_in_scope("s") is Mode.READWRITE
    assert tree.config("s") is tree.config(None) is None
    assert tree.mode("s") is None
    assert tree.mode(None) is Mode.READWRITE


def test_the_nearest_scope_holds(tree: SettingsTree) -> None:
    """A context's subjects do not inherit from the default context, but from the global one."""
    tree.set_config(None, Config(compatibility_level=L.FULL))
    assert (level(tree, "s"), level(tree, ":.c:s")) == (L.FULL, L.BACKWARD)
    tree.set_config(":.__GLOBAL:", Config(compatibility_level=L.FORWARD))
    assert (level(tree, "s"), level(tree, ":.c:s")) == (L.FULL, L.FORWARD)
    tree.set_config(":.c:", Config(compatibility_level=L.NONE))
    assert (level(tree, ":.c:s"), level(tree, ":.c:"), level(tree, ":.d:s")) == (
        L.NONE,
        L.NONE,
        L.FORWARD,
    )
    tree.set_config(":.c:s", Config(compatibility_level=L.FULL_TRANSITIVE))
    assert level(tree, ":.c:s") is L.FULL_TRANSITIVE
    tree.set_config(":.c:s", None)
    assert level(tree, ":.c:s") is L.NONE


def test_configs_are_not_merged_but_the_level_is_always_there(tree: SettingsTree) -> None:
    tree.set_config(None, Config(compatibility_level=L.FULL, normalize=True))
    tree.set_config("s", Config(compatibility_group="g"))
    assert tree.config_in_scope("s") == Config(
        compatibility_group="g", compatibility_level=L.BACKWARD
    )


def test_modes_are_inherited_too(tree: SettingsTree) -> None:
    tree.set_mode(None, Mode.IMPORT)
    tree.set_mode(":.c:", Mode.READONLY)
    assert tree.mode_in_scope("s") is Mode.IMPORT
    assert tree.mode_in_scope(":.c:s") is Mode.READONLY
    assert tree.mode_in_scope(":.d:s") is Mode.READWRITE
    tree.set_mode("s", Mode.READWRITE)
    assert tree.mode_in_scope("s") is Mode.READWRITE
    tree.set_mode("s", None)
    assert tree.mode_in_scope("s") is Mode.IMPORT


def test_the_global_override_beats_all(tree: SettingsTree) -> None:
    tree.set_mode("s", Mode.READWRITE)
    tree.set_mode(None, Mode.READONLY_OVERRIDE)
    assert tree.mode_in_scope("s") is Mode.READONLY_OVERRIDE
    assert tree.mode("t") is Mode.READONLY_OVERRIDE
    assert tree.mode_in_scope(":.c:s") is Mode.READONLY_OVERRIDE


def test_equal_settings_make_equal_trees(tree: SettingsTree) -> None:
    other = SettingsTree(Defaults())
    tree.set_mode("s", Mode.IMPORT)
    assert tree != other
    other.set_mode("s", Mode.IMPORT)
    assert tree == other
    assert tree != "tree"
