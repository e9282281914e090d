"""The state that records add up to."""

from tests.schemas.registry import numbers, ref

from headwater.schemas.index import Note
from headwater.schemas.model import Definition
from headwater.schemas.records import (
    ClearSubjectRecord,
    ConfigRecord,
    ContextRecord,
    DeleteSubjectRecord,
    ModeRecord,
    NoopRecord,
    Record,
    SchemaRecord,
    StoredSchema,
    encode,
)
from headwater.schemas.settings import Config, Mode
from headwater.schemas.state import RegistryState


def state_of(*records: Record) -> RegistryState:
    state = RegistryState()
    for record in records:
        assert state.replay(record) is None
        state.check()
    return state


def schema(
    subject: str, version: int, schema_id: int, text: str = "x", *, deleted: bool = False
) -> SchemaRecord:
    definition = Definition(text=text)
    stored = StoredSchema(id=schema_id, definition=definition, deleted=deleted)
    return SchemaRecord(subject, version, stored)


def test_versions_ascend_in_whatever_order_they_come() -> None:
    """As an import may bring them."""
    state = state_of(schema("s", 3, 3, "c"), schema("s", 1, 1, "a"), schema("s", 2, 2, "b"))
    assert numbers(state, "s") == [1, 2, 3]
    found = state.schemas.version("s", 2)
    assert found is not None
    assert found.id == 2
    assert state.schemas.version("s", 4) is state.schemas.version("t", 1) is None


def test_the_latest_version_is_the_highest_live_one() -> None:
    state = state_of(schema("s", 1, 1, "a"), schema("s", 2, 2, "b", deleted=True))
    latest = state.schemas.latest("s")
    assert latest is not None
    assert latest.version == 1
    assert state.schemas.latest("t") is None


def test_ids_and_guids_are_found_per_context() -> None:
    state = state_of(schema("s", 1, 1), schema("t", 1, 1), schema(":.c:s", 1, 9))
    assert [one.subject for one in state.schemas.with_id(".", 1)] == ["s", "t"]
    (other,) = state.schemas.with_id(".c", 9)
    assert state.schemas.with_guid(".", other.guid) == state.schemas.with_id(".", 1)
    assert state.schemas.with_id(".c", 1) == state.schemas.with_id(".d", 1) == ()
    assert (state.schemas.id_max("."), state.schemas.id_max(".c")) == (1, 9)
    assert state.contexts() == [".", ".c"]


def test_versions_of_the_same_content_share_it() -> None:
    state = state_of(schema("s", 1, 1), schema("t", 1, 1))
    (one, other) = state.schemas.with_id(".", 1)
    assert one.definition is other.definition


def test_an_id_has_one_text() -> None:
    """Two writers that raced: the first one's record counts, and the log tells of the other."""
    state = state_of(schema("s", 1, 1, "a"))
    note = state.replay(schema("t", 1, 1, "b"))
    assert note == Note("schema_id_taken", {"subject": "t", "version": 1, "id": 1, "by": "s"})
    assert numbers(state, "t") == []
    assert state.replay(schema(":.c:t", 1, 1, "b")) is None, "another context, another id"


def test_a_tombstone_takes_a_version_and_its_id_away() -> None:
    state = state_of(schema("s", 1, 1), SchemaRecord("s", 1, None), SchemaRecord("s", 7, None))
    assert state == state_of(NoopRecord({".": 1}))
    assert list(state.schemas.subject_names()) == []
    assert state.replay(schema("t", 1, 1, "b")) is None, "the id is free for a text again"


def test_a_version_may_be_overwritten() -> None:
    """As an import does; the old id is gone unless it is used elsewhere."""
    state = state_of(schema("s", 1, 1, "a"), schema("s", 1, 2, "b"))
    assert state.schemas.with_id(".", 1) == ()
    assert [one.version for one in state.schemas.with_id(".", 2)] == [1]


def test_a_soft_delete_keeps_the_time_of_the_registration() -> None:
    state = RegistryState()
    state.replay(schema("s", 1, 1), timestamp_ms=5)
    state.replay(schema("s", 1, 1, deleted=True), timestamp_ms=9)
    (one,) = state.schemas.versions("s")
    assert (one.deleted, one.timestamp_ms) == (True, 5)
    assert state == state_of(schema("s", 1, 1, deleted=True)), "times do not make states differ"


def test_a_subject_is_deleted_up_to_a_version() -> None:
    records = [schema("s", version, version, f"t{version}") for version in (1, 2, 3)]
    state = state_of(*records, DeleteSubjectRecord("s", 2))
    assert numbers(state, "s") == [-1, -2, 3]
    assert not state.schemas.has_subjects("t")
    assert state.schemas.has_subjects("s")


def test_clearing_takes_soft_deleted_versions_of_a_scope_away() -> None:
    records: list[Record] = []
    for schema_id, subject in enumerate(["s", "t", ":.c:s"], 1):
        records += [schema(subject, 1, schema_id, subject), DeleteSubjectRecord(subject, 1)]
    records.append(schema("u", 1, 4, "u"))
    assert set(state_of(*records).schemas.subject_names()) == {"s", "t", ":.c:s", "u"}

    def left(scope: str | None) -> set[str]:
        return set(state_of(*records, ClearSubjectRecord(scope)).schemas.subject_names())

    assert left("s") == {"t", ":.c:s", "u"}
    assert left(":.c:") == {"s", "t", "u"}
    assert left(None) == {"u"}


def test_only_live_versions_hold_what_they_reference() -> None:
    definition = Definition(text="y", references=(ref("r", "s"),))
    live = StoredSchema(id=2, definition=definition)
    gone = StoredSchema(id=2, definition=definition, deleted=True)
    held = state_of(schema("s", 1, 1), SchemaRecord("t", 1, live))
    assert [one.subject for one in held.schemas.referencing("s", 1)] == ["t"]
    assert held.schemas.referencing("s", 2) == ()
    freed = state_of(schema("s", 1, 1), SchemaRecord("t", 1, live), SchemaRecord("t", 1, gone))
    assert freed.schemas.referencing("s", 1) == ()


def test_a_reference_means_its_own_context() -> None:
    stored = StoredSchema(id=1, definition=Definition(text="y", references=(ref("r", "s"),)))
    state = state_of(SchemaRecord(":.c:t", 1, stored))
    assert len(state.schemas.referencing(":.c:s", 1)) == 1
    assert state.schemas.referencing("s", 1) == ()


def test_contexts_are_those_declared_and_those_used() -> None:
    """Karapace declares none."""
    state = state_of(ContextRecord(".b"), ContextRecord(".a"), schema(":.z:s", 1, 1))
    assert state.contexts() == [".", ".a", ".b", ".z"]
    assert state.is_declared(".a")
    assert not state.is_declared(".z")
    state.replay(ContextRecord(".a", exists=False))
    assert state.contexts() == [".", ".b", ".z"]


def test_marks_keep_ids_from_coming_back() -> None:
    state = state_of(schema("s", 1, 3), NoopRecord({".": 7, ".c": 2}), NoopRecord({".": 5}))
    assert (state.schemas.id_max("."), state.schemas.id_max(".c")) == (7, 2)


def test_the_state_tells_the_records_that_rebuild_it() -> None:
    state = state_of(
        schema("s", 1, 1, "a"),
        schema("s", 2, 2, "b", deleted=True),
        ConfigRecord("s", Config(normalize=True)),
        ModeRecord(None, Mode.IMPORT),
        ContextRecord(".c"),
        schema("t", 1, 9, "c"),
        SchemaRecord("t", 1, None),
    )
    again = state_of(*state.records())
    assert again == state
    assert again.schemas.id_max(".") == 9
    assert again != RegistryState()


def test_unreadable_records_are_told_and_left_out() -> None:
    state = RegistryState()
    note = state.replay_encoded(b"junk", b"{}")
    assert note is not None
    assert (note.event, note.facts["key"]) == ("record_unreadable", "junk")
    assert state == RegistryState()


def test_tombstones_go_to_every_spelling_of_a_key() -> None:
    """Compaction compares bytes: a value under another spelling would come back."""
    karapace = b'{"subject": "s", "version": 1, "magic": 1, "keytype": "SCHEMA"}'
    state = RegistryState()
    _, value = encode(schema("s", 1, 1))
    for _ in range(2):
        state.replay_encoded(karapace, value)
    ours, _ = encode(SchemaRecord("s", 1, None))
    assert state.encoded([SchemaRecord("s", 1, None)]) == [(ours, None), (karapace, None)]
    assert state.encoded([schema("s", 1, 1)]) == [encode(schema("s", 1, 1))]
    assert state.encoded([SchemaRecord("s", 2, None)]) == [encode(SchemaRecord("s", 2, None))]
    state.replay_encoded(karapace, None)
    assert state.encoded([SchemaRecord("s", 1, None)]) == [(ours, None)], "it holds no value now"


def test_the_repr_counts() -> None:
    state = state_of(schema("s", 1, 1, "a"), schema("s", 2, 2, "b"))
    assert repr(state) == "<RegistryState [<SchemaIndex [1 subjects, 2 versions]>]>"
