"""Config and mode: what may be set, where, and what goes with it."""

from typing import Any

import msgspec
import pytest
from tests.schemas.registry import Registry, numbers, ref, refusal

from headwater.schemas import commands
from headwater.schemas.errors import (
    InvalidCompatibilityLevel,
    InvalidMode,
    InvalidRuleSet,
    InvalidSubject,
    OperationNotPermitted,
    ReferenceExists,
    SubjectNotFound,
)
from headwater.schemas.model import Metadata, Rule, RuleSet
from headwater.schemas.records import ClearSubjectRecord, ModeRecord, NoopRecord, SchemaRecord
from headwater.schemas.settings import (
    CompatibilityLevel,
    CompatibilityPolicy,
    Config,
    ConfigChange,
    Mode,
)

L = CompatibilityLevel


def change(registry: Registry, scope: str | None, **values: Any) -> Config:
    return registry.do(commands.change_config, scope, ConfigChange(**values))


def test_a_change_keeps_what_it_leaves_out() -> None:
    registry = Registry()
    assert change(registry, "s", compatibility="full") == Config(compatibility_level=L.FULL)
    answer = change(registry, "s", normalize=True, compatibility_policy="lenient")
    assert answer == Config(
        compatibility_level=L.FULL,
        normalize=True,
        compatibility_policy=CompatibilityPolicy.LENIENT,
    )
    assert change(registry, "s", compatibility=None) == Config(
        normalize=True, compatibility_policy=CompatibilityPolicy.LENIENT
    )
    assert registry.replayed() == registry.compacted() == registry.state


def test_a_change_is_read_from_json() -> None:
    body = b'{"compatibility":"NONE","alias":null,"defaultMetadata":{"properties":{"a":"b"}},"x":1}'
    assert msgspec.json.decode(body, type=ConfigChange) == ConfigChange(
        compatibility="NONE", alias=None, default_metadata=Metadata(properties={"a": "b"})
    )


def test_levels_and_policies_are_checked() -> None:
    registry = Registry()
    with refusal(
        InvalidCompatibilityLevel,
        "Invalid compatibility level. Valid values are none, backward, forward, full, "
        "backward_transitive, forward_transitive, and full_transitive",
    ):
        change(registry, "s", compatibility="some")
    with refusal(
        InvalidCompatibilityLevel,
        "Invalid compatibility policy. Valid values are strict and lenient",
    ):
        change(registry, "s", compatibility_policy="some")
    with pytest.raises(InvalidCompatibilityLevel):
        change(registry, "s", compatibility="")


def test_rules_and_metadata_of_configs_are_checked_and_sorted() -> None:
    registry = Registry()
    with refusal(InvalidRuleSet, "Missing rule type"):
        change(registry, "s", override_rule_set=RuleSet(domain_rules=(Rule(name="r"),)))
    config = change(registry, "s", default_metadata=Metadata(properties={"b": "1", "a": "2"}))
    assert config.default_metadata is not None
    assert list(config.default_metadata.properties or ()) == ["a", "b"]


@pytest.mark.parametrize("scope", ["a\x01", "__GLOBAL", ":.__GLOBAL:s"])
def test_some_scopes_are_refused(scope: str) -> None:
    with refusal(InvalidSubject, f"The specified subject '{scope}' is not a valid."):
        change(Registry(), scope, compatibility="NONE")
    with refusal(InvalidSubject, f"The specified subject '{scope}' is not a valid."):
        Registry().do(commands.set_mode, scope, "IMPORT")


def test_the_default_context_is_everything_without_a_context() -> None:
    registry = Registry()
    change(registry, ":.:", compatibility="NONE")
    registry.do(commands.set_mode, ":.:", "READWRITE")
    assert registry.state.settings.configs().keys() == {None}
    assert registry.state.settings.modes().keys() == {None}
    change(registry, ":.c", compatibility="FULL")
    assert registry.state.settings.config_in_scope(":.c:s").compatibility_level is L.FULL


def test_a_deleted_config_is_inherited_again() -> None:
    registry = Registry()
    change(registry, None, compatibility="FULL")
    change(registry, "s", compatibility="NONE")
    deleted = registry.do(commands.delete_config, "s")
    assert deleted.compatibility_level is L.NONE
    assert registry.state.settings.config_in_scope("s").compatibility_level is L.FULL
    with refusal(SubjectNotFound, "Subject 's' not found."):
        registry.do(commands.delete_config, "s")
    assert registry.do(commands.delete_config, None).compatibility_level is L.FULL
    assert registry.do(commands.delete_config, None).compatibility_level is L.BACKWARD
    assert registry.state.settings.configs() == {}


def test_configs_inside_are_deleted_on_demand() -> None:
    registry = Registry()
    scopes = [None, "s", ":.c:", ":.c:s", ":.d:s"]

    def left(scope: str | None) -> set[str | None]:
        for other in [*scopes, ":.__GLOBAL:"]:
            change(registry, other, compatibility="NONE")
        registry.do(commands.delete_config, scope, recursive=True)
        return set(registry.state.settings.configs()) - {":.__GLOBAL:"}

    assert left(None) == {":.c:", ":.c:s", ":.d:s"}
    assert left(":.c:") == {None, "s", ":.d:s"}
    assert left("s") == {None, ":.c:", ":.c:s", ":.d:s"}
    assert left(":.__GLOBAL:") == set()


def test_read_only_configs_stay() -> None:
    registry = Registry()
    change(registry, "s", compatibility="NONE")
    registry.do(commands.set_mode, "s", "READONLY")
    registry.do(commands.set_mode, None, "READONLY")
    with refusal(OperationNotPermitted, "Subject s in context  is in read-only mode"):
        change(registry, "s", compatibility="FULL")
    with refusal(OperationNotPermitted, "Subject s in context  is in read-only mode"):
        registry.do(commands.delete_config, "s")
    with refusal(OperationNotPermitted, "Subject null in context  is in read-only mode"):
        change(registry, None, compatibility="FULL")
    with pytest.raises(SubjectNotFound):
        registry.do(commands.delete_config, "t")


def test_modes_are_set_and_inherited_again() -> None:
    registry = Registry()
    assert registry.do(commands.set_mode, "s", "readonly") is Mode.READONLY
    assert registry.do(commands.delete_mode, "s") is Mode.READONLY
    assert registry.state.settings.modes() == {}
    with refusal(SubjectNotFound, "Subject 's' not found."):
        registry.do(commands.delete_mode, "s")
    assert registry.do(commands.delete_mode, None) is Mode.READWRITE
    registry.do(commands.set_mode, "s", "READONLY")
    assert registry.do(commands.set_mode, "s", None) is None
    assert registry.state.settings.mode_in_scope("s") is Mode.READWRITE
    assert registry.replayed() == registry.compacted() == registry.state


def test_modes_are_checked() -> None:
    registry = Registry()
    message = "Invalid mode. Valid values are READWRITE, READONLY, and IMPORT."
    with refusal(InvalidMode, message):
        registry.do(commands.set_mode, None, "SLOW")
    with refusal(InvalidMode, "Forward mode only supported on global level"):
        registry.do(commands.set_mode, "s", "FORWARD")
    assert registry.do(commands.set_mode, None, "FORWARD") is Mode.FORWARD


def test_a_server_may_keep_its_modes() -> None:
    registry = Registry(modes_may_change=False)
    with refusal(OperationNotPermitted, "Mode changes are not allowed"):
        registry.do(commands.set_mode, None, "READONLY")
    with refusal(OperationNotPermitted, "Mode changes are not allowed"):
        registry.do(commands.delete_mode, None)


def test_modes_inside_are_deleted_on_demand() -> None:
    registry = Registry()
    for scope in ("s", ":.c:s", ":.c:t"):
        registry.do(commands.set_mode, scope, "READONLY")
    registry.do(commands.set_mode, ":.c:", "READWRITE", recursive=True)
    assert registry.state.settings.modes() == {
        "s": Mode.READONLY,
        ":.c:": Mode.READWRITE,
    }
    registry.do(commands.delete_mode, None, recursive=True)
    assert registry.state.settings.modes().keys() == {":.c:"}


def test_an_import_needs_room() -> None:
    registry = Registry()
    registry.register("s", "a")
    registry.register(":.c:s", "a")
    for scope in ("s", None, ":.c:"):
        with refusal(OperationNotPermitted, "Cannot import since found existing subjects"):
            registry.do(commands.set_mode, scope, "IMPORT")
    registry.do(commands.set_mode, "t", "IMPORT")
    registry.do(commands.set_mode, "s", "IMPORT", force=True)
    registry.do(commands.set_mode, "s", "IMPORT")
    assert registry.state.settings.mode_in_scope("s") is Mode.IMPORT
    assert numbers(registry.state, "s") == [1]


def test_an_import_clears_what_was_soft_deleted() -> None:
    registry = Registry()
    registry.register("s", "a")
    registry.register(":.c:s", "a")
    registry.delete("s")
    registry.delete(":.c:s")
    outcome = commands.set_mode(registry.state, ":.c:", "IMPORT")
    assert outcome.records == (
        SchemaRecord(":.c:s", 1, None),
        NoopRecord({".": 1, ".c": 1}),
        ClearSubjectRecord(":.c:"),
        ModeRecord(":.c:", Mode.IMPORT),
    )
    registry.do(commands.set_mode, ":.c:", "IMPORT")
    assert numbers(registry.state, ":.c:s") == []
    assert numbers(registry.state, "s") == [-1]
    assert registry.replayed() == registry.compacted() == registry.state


def test_an_import_does_not_clear_what_is_referenced() -> None:
    registry = Registry()
    registry.register("r", "x")
    registry.delete("r")
    registry.do(commands.set_mode, "s", "IMPORT")
    registry.register("s", "a @r", id=5, references=(ref("r", "r"),))
    with pytest.raises(ReferenceExists):
        registry.do(commands.set_mode, "r", "IMPORT")
    registry.do(commands.set_mode, "r", "IMPORT", force=True)
