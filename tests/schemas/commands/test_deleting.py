"""Soft and permanent deletes of subjects, versions and contexts."""

import pytest
from tests.schemas.registry import Registry, numbers, ref, refusal

from headwater.schemas import commands
from headwater.schemas.errors import (
    ContextNotEmpty,
    InvalidVersion,
    OperationNotPermitted,
    ReferenceExists,
    SubjectNotFound,
    SubjectNotSoftDeleted,
    SubjectSoftDeleted,
    VersionNotFound,
    VersionNotSoftDeleted,
    VersionSoftDeleted,
)
from headwater.schemas.records import DeleteSubjectRecord, NoopRecord


@pytest.fixture
def registry() -> Registry:
    """Subject s with versions 1 and 2."""
    registry = Registry()
    registry.register("s", "a")
    registry.register("s", "a b?")
    return registry


def test_a_subject_is_deleted_softly_then_for_good(registry: Registry) -> None:
    assert registry.do(commands.delete_subject, "s") == [1, 2]
    assert numbers(registry.state, "s") == [-1, -2]
    assert len(registry.state.schemas.with_id(".", 1)) == 1, "its data can still be read"
    assert registry.do(commands.delete_subject, "s", permanent=True) == [1, 2]
    assert numbers(registry.state, "s") == []
    assert registry.replayed() == registry.compacted() == registry.state


def test_a_soft_delete_answers_what_was_live_and_covers_all(registry: Registry) -> None:
    """Its record takes the place of an earlier one, so it must not say less."""
    registry.delete("s", "2")
    outcome = commands.delete_subject(registry.state, "s")
    assert outcome.answer == [1]
    assert outcome.records == (DeleteSubjectRecord("s", 2),)


def test_what_was_deleted_stays_deleted_when_less_is_deleted_later() -> None:
    """Found by random histories: versions 2, then 1 by an import, each deleted with its subject."""
    registry = Registry()
    registry.do(commands.set_mode, "s", "IMPORT")
    for version in (2, 1):
        registry.register("s", "a", id=version, version=version)
        registry.delete("s")
    assert registry.compacted() == registry.state


def test_a_subject_is_deleted_in_the_right_order(registry: Registry) -> None:
    with refusal(SubjectNotFound, "Subject 't' not found."):
        registry.delete("t")
    with refusal(
        SubjectNotSoftDeleted,
        "Subject 's' was not deleted first before being permanently deleted",
    ):
        registry.delete("s", permanent=True)
    registry.delete("s", "1")
    with pytest.raises(SubjectNotSoftDeleted):
        registry.delete("s", permanent=True)
    registry.delete("s")
    with refusal(
        SubjectSoftDeleted, "Subject 's' was soft deleted.Set permanent=true to delete permanently"
    ):
        registry.delete("s")


def test_a_version_is_deleted_softly_then_for_good(registry: Registry) -> None:
    assert registry.do(commands.delete_version, "s", "latest") == 2
    assert numbers(registry.state, "s") == [1, -2]
    assert registry.do(commands.delete_version, "s", "2", permanent=True) == 2
    assert numbers(registry.state, "s") == [1]
    assert registry.replayed() == registry.compacted() == registry.state


def test_a_version_is_deleted_in_the_right_order(registry: Registry) -> None:
    with pytest.raises(InvalidVersion):
        registry.delete("s", "0")
    with refusal(SubjectNotFound, "Subject 't' not found."):
        registry.delete("t", "1")
    with refusal(VersionNotFound, "Version 3 not found."):
        registry.delete("s", "3")
    with refusal(
        VersionNotSoftDeleted,
        "Subject 's' Version 1 was not deleted first before being permanently deleted",
    ):
        registry.delete("s", "1", permanent=True)
    registry.delete("s", "1")
    with refusal(
        VersionSoftDeleted,
        "Subject 's' Version 1 was soft deleted.Set permanent=true to delete permanently",
    ):
        registry.delete("s", "1")
    registry.delete("s", "2")
    with refusal(VersionNotFound, "Version -1 not found."):
        registry.delete("s", "latest")


def test_what_is_referenced_stays(registry: Registry) -> None:
    registry.register("t", "z @s", references=(ref("s", "s", 2),))
    message = (
        "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=s,version=2}"
    )
    for version in (None, "2", "latest"):
        with refusal(ReferenceExists, message):
            registry.delete("s", version)
    registry.delete("s", "1")
    registry.delete("t")
    registry.delete("s")
    assert numbers(registry.state, "s") == [-1, -2]


def test_a_soft_deleted_version_may_be_referenced_by_an_import(registry: Registry) -> None:
    """And is kept then, too."""
    registry.delete("s")
    registry.do(commands.set_mode, "t", "IMPORT")
    registry.register("t", "z @s", id=9, references=(ref("s", "s"),))
    for version in (None, "1"):
        with pytest.raises(ReferenceExists):
            registry.delete("s", version, permanent=True)


def test_read_only_subjects_keep_everything(registry: Registry) -> None:
    registry.do(commands.set_mode, "s", "READONLY")
    for version in (None, "1"):
        with refusal(OperationNotPermitted, "Subject s in context  is in read-only mode"):
            registry.delete("s", version)
    with pytest.raises(SubjectNotFound):
        registry.delete("t")
    with pytest.raises(VersionNotFound):
        registry.delete("s", "9")


@pytest.mark.parametrize("by_version", [True, False])
def test_settings_go_with_the_last_version(registry: Registry, *, by_version: bool) -> None:
    registry.configure("s", compatibility="NONE")
    registry.configure("other", compatibility="NONE")
    registry.do(commands.set_mode, "s", "READWRITE")
    registry.delete("s")
    assert registry.state.settings.config("s") is not None
    if by_version:
        registry.delete("s", "2", permanent=True)
        assert registry.state.settings.config("s") is not None
        registry.delete("s", "1", permanent=True)
    else:
        registry.delete("s", permanent=True)
    assert registry.state.settings.config("s") is None
    assert registry.state.settings.mode("s") is None
    assert registry.state.settings.config("other") is not None


def test_the_highest_id_is_marked_when_its_last_version_goes(registry: Registry) -> None:
    """Only then: other deletes do not need it."""
    registry.register(":.c:s", "a")
    registry.register("t", "a b?")
    registry.delete("s")
    first = commands.delete_version(registry.state, "s", "1", permanent=True)
    used = commands.delete_version(registry.state, "s", "2", permanent=True)
    for outcome in (first, used):
        assert not [record for record in outcome.records if isinstance(record, NoopRecord)]
    registry.delete("s", permanent=True)
    registry.delete("t")
    last = commands.delete_subject(registry.state, "t", permanent=True)
    assert last.records[-1] == NoopRecord({".": 2, ".c": 1})


def test_a_context_that_is_empty_may_go() -> None:
    registry = Registry()
    registry.register(":.c:s", "a")
    registry.delete(":.c:s")
    for spelling in (".c", ":.c:"):
        with refusal(ContextNotEmpty, f"The specified context '{spelling}' is not empty."):
            registry.do(commands.delete_context, spelling)
    registry.delete(":.c:s", permanent=True)
    assert registry.state.contexts() == [".", ".c"]
    registry.do(commands.delete_context, ".c")
    assert registry.state.contexts() == ["."]
    assert commands.delete_context(registry.state, ".c").records == ()
    assert commands.delete_context(registry.state, ".").records == ()
    assert registry.compacted() == registry.state
