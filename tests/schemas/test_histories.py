"""Random histories against a registry that a child could write: a dict of dicts.

After each step a second process that reads the topic, and a third that reads it compacted, know
what the first one knows.
"""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.schemas.registry import Registry, numbers

from headwater.schemas import commands, subjects
from headwater.schemas.errors import (
    IncompatibleSchema,
    OperationNotPermitted,
    RegistryError,
    SubjectNotFound,
    SubjectNotSoftDeleted,
    SubjectSoftDeleted,
    VersionNotFound,
    VersionNotSoftDeleted,
    VersionSoftDeleted,
)

names = st.sampled_from(["s", "t", ":.c:s"])
texts = st.sampled_from(["a", "b", "a b"])
versions = st.integers(1, 4)


class Model:
    """subject -> version -> [text, id, is it deleted]; and what each context has given."""

    def __init__(self) -> None:
        self.subjects: dict[str, dict[int, tuple[str, int, bool]]] = {}
        self.id_max: dict[str, int] = {}

    def all_of(self, subject: str) -> dict[int, tuple[str, int, bool]]:
        return self.subjects.setdefault(subject, {})

    def live(self, subject: str) -> list[int]:
        return [v for v, (_, _, deleted) in self.all_of(subject).items() if not deleted]

    def ids(self, context: str) -> dict[int, str]:
        return {
            schema_id: text
            for subject, held in self.subjects.items()
            if subjects.context_of(subject) == context
            for text, schema_id, _ in held.values()
        }

    def register(self, subject: str, text: str, given: int | None = None) -> tuple[int, int]:
        """Version and id, however often it is asked."""
        context = subjects.context_of(subject)
        held = self.all_of(subject)
        for version in sorted(self.live(subject), reverse=True):
            if held[version][0] == text and given in {None, held[version][1]}:
                return version, held[version][1]
        if given is not None and self.ids(context).get(given, text) != text:
            raise OperationNotPermitted
        alike = sorted(i for i, known in self.ids(context).items() if known == text)
        schema_id = given
        if schema_id is None:
            schema_id = alike[0] if alike else self.id_max.get(context, 0) + 1
        version = max(held, default=0) + 1
        for old in [v for v, (_, i, deleted) in held.items() if deleted and i == schema_id]:
            del held[old]
        held[version] = (text, schema_id, False)
        self.id_max[context] = max(schema_id, self.id_max.get(context, 0))
        return version, schema_id

    def delete_subject(self, subject: str, *, permanent: bool) -> None:
        held = self.all_of(subject)
        if not held:
            raise SubjectNotFound(subject)
        if not permanent and not self.live(subject):
            raise SubjectSoftDeleted(subject)
        if permanent and self.live(subject):
            raise SubjectNotSoftDeleted(subject)
        for version, (text, schema_id, _) in list(held.items()):
            held[version] = (text, schema_id, True)
        if permanent:
            held.clear()

    def delete_version(self, subject: str, version: int, *, permanent: bool) -> None:
        held = self.all_of(subject)
        if version not in held:
            raise VersionNotFound(version) if held else SubjectNotFound(subject)
        text, schema_id, deleted = held[version]
        if deleted and not permanent:
            raise VersionSoftDeleted(subject, version)
        if not deleted and permanent:
            raise VersionNotSoftDeleted(subject, version)
        held[version] = (text, schema_id, True)
        if permanent:
            del held[version]

    def shown(self, subject: str) -> list[int]:
        held = self.all_of(subject)
        return [-v if held[v][2] else v for v in sorted(held)]


class Histories(RuleBasedStateMachine):
    """Levels do not matter here: everything is compatible."""

    @initialize()
    def begin(self) -> None:
        self.registry = Registry(compatibility_level="NONE")
        self.model = Model()

    @rule(subject=names, text=texts)
    def register(self, subject: str, text: str) -> None:
        expected = self.model.register(subject, text)
        found = self.registry.register(subject, text)
        assert (found.version, found.id) == expected

    @rule(subject=names, text=texts, given=st.integers(0, 6))
    def import_one(self, subject: str, text: str, given: int) -> None:
        """The mode is there for this moment only."""
        self.registry.do(commands.set_mode, subject, "IMPORT", force=True)
        try:
            expected = self.model.register(subject, text, given)
        except OperationNotPermitted:
            with pytest.raises(OperationNotPermitted):
                self.registry.register(subject, text, id=given)
        else:
            found = self.registry.register(subject, text, id=given)
            assert (found.version, found.id) == expected
        self.registry.do(commands.delete_mode, subject)

    @rule(subject=names, text=texts, given=st.integers(0, 6), version=versions)
    def overwrite(self, subject: str, text: str, given: int, version: int) -> None:
        """An import may say which version it is, even one that there is."""
        context = subjects.context_of(subject)
        if self.model.ids(context).get(given, text) != text or self.model.live(subject):
            return
        self.registry.do(commands.set_mode, subject, "IMPORT", force=True)
        self.registry.register(subject, text, id=given, version=version)
        self.registry.do(commands.delete_mode, subject)
        held = self.model.all_of(subject)
        for old in [v for v, (_, i, _) in held.items() if i == given and v < version]:
            del held[old]
        held[version] = (text, given, False)
        self.model.id_max[context] = max(given, self.model.id_max.get(context, 0))

    @rule(subject=names, permanent=st.booleans())
    def delete_subject(self, subject: str, *, permanent: bool) -> None:
        try:
            self.model.delete_subject(subject, permanent=permanent)
        except RegistryError as error:
            with pytest.raises(type(error)):
                self.registry.delete(subject, permanent=permanent)
        else:
            self.registry.delete(subject, permanent=permanent)

    @rule(subject=names, version=versions, permanent=st.booleans())
    def delete_version(self, subject: str, version: int, *, permanent: bool) -> None:
        try:
            self.model.delete_version(subject, version, permanent=permanent)
        except RegistryError as error:
            with pytest.raises(type(error)):
                self.registry.delete(subject, str(version), permanent=permanent)
        else:
            self.registry.delete(subject, str(version), permanent=permanent)

    @precondition(lambda self: self.registry.topic)
    @rule()
    def restart(self) -> None:
        """On the compacted topic."""
        self.registry.state = self.registry.compacted()

    @invariant()
    def all_know_the_same(self) -> None:
        state = self.registry.state
        for subject in ("s", "t", ":.c:s"):
            assert numbers(state, subject) == self.model.shown(subject)
            for one in state.schemas.versions(subject):
                text, schema_id, _ = self.model.all_of(subject)[one.version]
                assert (one.definition.text, one.id) == (text, schema_id)
        for context, highest in self.model.id_max.items():
            assert state.schemas.id_max(context) == highest
        assert self.registry.replayed() == state
        assert self.registry.compacted() == state


Histories.TestCase.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
TestHistories = pytest.mark.slow(Histories.TestCase)


def test_incompatible_schemas_leave_no_trace() -> None:
    registry = Registry()
    registry.register("s", "a")
    before = list(registry.topic)
    with pytest.raises(IncompatibleSchema):
        registry.register("s", "b")
    assert registry.topic == before
    assert registry.register("t", "c").id == 2
