"""Registration: what is there already, what is written, what is refused, and in which order."""

from typing import Any

import pytest
from tests.schemas.fake_format import fake_parser
from tests.schemas.registry import JSON, PROTOBUF, Registry, numbers, ref, refusal

from headwater.schemas import commands
from headwater.schemas.commands import RegisterRequest
from headwater.schemas.errors import (
    IncompatibleSchema,
    InvalidRuleSet,
    InvalidSchemaRefused,
    InvalidSubject,
    OperationNotPermitted,
    RegistryError,
    SchemaTooLarge,
    StoreFailed,
)
from headwater.schemas.model import VERSION_MAX, Metadata, Rule, RuleSet
from headwater.schemas.records import (
    ContextRecord,
    NoopRecord,
    SchemaRecord,
)
from headwater.schemas.settings import Mode


def properties(**values: str) -> Metadata:
    return Metadata(properties={key.replace("__", ":"): value for key, value in values.items()})


def told(registry: Registry, subject: str, version: int) -> dict[str, str]:
    found = registry.state.schemas.version(subject, version)
    assert found is not None
    metadata = found.definition.metadata
    return dict((metadata.properties if metadata else None) or {})


def mode(registry: Registry, scope: str | None, name: str, *, force: bool = False) -> None:
    registry.do(commands.set_mode, scope, name, force=force)


# Ids and versions count up.


def test_the_first_schema_has_id_and_version_1() -> None:
    registry = Registry()
    version = registry.register("s", " a   b ")
    assert (version.id, version.version, version.definition.text) == (1, 1, "a b")
    assert registry.replayed() == registry.state


def test_versions_count_per_subject_and_ids_per_content() -> None:
    registry = Registry()
    assert registry.register("s", "a").id == 1
    assert registry.register("s", "a b?").id == 2
    same = registry.register("t", "a b?")
    assert (same.id, same.version) == (2, 1)
    assert registry.register("t", "a").id == 1
    assert registry.register("t", "a c?").id == 3


def test_registering_again_writes_nothing() -> None:
    registry = Registry()
    first = registry.register("s", "a")
    registry.register("s", "a b?")
    outcome = commands.register(registry.state, registry.parser, "s", RegisterRequest(text="a"))
    assert outcome.records == ()
    assert (outcome.answer.version, outcome.answer.is_new) == (first, False)


def test_the_same_text_of_another_format_is_another_schema() -> None:
    registry = Registry(compatibility_level="NONE")
    ids = [registry.register("s", "a", format=name).id for name in (JSON, PROTOBUF)]
    assert ids == [1, 2]
    assert registry.register("s", "a", format=JSON).version == 1


def test_any_process_may_find_what_is_there() -> None:
    """Before it takes a registration to the one that writes."""
    registry = Registry()
    first = registry.register("s", "a")

    def found(text: str, subject: str = "s", **given: int) -> object:
        asked = RegisterRequest(text=text)
        return commands.find_registered(registry.state, registry.parser, subject, asked, **given)

    assert found("a") == found("a", ":.:s") == found("a", schema_id=1, version=1) == first
    assert found("b") is found("a", "t") is found("a", schema_id=2) is found("") is None
    assert found("a", version=1) is None, "a version alone asks for a registration"


def test_each_context_gives_its_own_ids() -> None:
    registry = Registry()
    registry.register("s", "a")
    registry.register("s", "a b?")
    outcome = commands.register(
        registry.state, registry.parser, ":.c:s", RegisterRequest(text="a b?")
    )
    assert outcome.answer.version.id == 1
    assert isinstance(outcome.records[0], ContextRecord)
    registry.register(":.c:s", "a b?")
    assert registry.state.contexts() == [".", ".c"]
    again = commands.register(registry.state, registry.parser, ":.c:t", RegisterRequest(text="z"))
    assert not any(isinstance(record, ContextRecord) for record in again.records)


def test_soft_deleted_versions_keep_their_numbers() -> None:
    registry = Registry()
    registry.register("s", "a")
    registry.register("s", "a b?")
    registry.delete("s")
    assert registry.register("s", "z").version == 3


def test_a_schema_that_was_soft_deleted_comes_back_as_a_new_version() -> None:
    """With its old id; the soft-deleted version of this id is gone for good, as at Confluent's."""
    registry = Registry()
    registry.register("s", "a")
    registry.register("s", "a b?")
    registry.delete("s")
    back = registry.register("s", "a")
    assert (back.id, back.version) == (1, 3)
    assert numbers(registry.state, "s") == [-2, 3]
    assert registry.replayed() == registry.compacted() == registry.state


def test_ids_are_not_given_twice() -> None:
    """Not even when a registry starts from a topic that has forgotten the schema."""
    registry = Registry()
    registry.register("s", "a")
    assert registry.register("t", "b").id == 2
    registry.delete("t")
    registry.delete("t", permanent=True)
    registry.state = registry.compacted()
    assert registry.register("t", "c").id == 3


def test_there_is_an_end_to_ids_and_versions() -> None:
    registry = Registry()
    mode(registry, "s", "IMPORT")
    registry.register("s", "a", id=VERSION_MAX, version=VERSION_MAX)
    mode(registry, "s", "READWRITE")
    with refusal(StoreFailed, "Subject s has no versions left"):
        registry.register("s", "a b?")
    with refusal(StoreFailed, "Context . has no ids left"):
        registry.register("t", "b")


# What a request may ask for.


@pytest.mark.parametrize("subject", ["a\x01b", "__GLOBAL", ":.__GLOBAL:s"])
def test_some_subjects_are_refused(subject: str) -> None:
    with refusal(InvalidSubject, f"The specified subject '{subject}' is not a valid."):
        Registry().register(subject, "a")


def test_a_subject_has_one_spelling() -> None:
    registry = Registry()
    assert registry.register(":.:s", "a").subject == "s"


@pytest.mark.parametrize("text", ["bad!", "old!"])
def test_bad_schemas_are_refused(text: str) -> None:
    """``old!`` is bad in new schemas only."""
    with refusal(
        InvalidSchemaRefused,
        "Invalid schema of type AVRO, details: a field is bad (at its end)",
    ):
        Registry().register("s", text)


def test_an_import_may_bring_what_a_new_schema_may_not() -> None:
    registry = Registry()
    mode(registry, "s", "IMPORT")
    assert registry.register("s", "old!", id=4).id == 4


def test_empty_text_means_that_of_the_latest_version() -> None:
    """So a client can give it new metadata."""
    registry = Registry()
    with refusal(InvalidSchemaRefused, "Empty schema"):
        registry.register("s", " ")
    registry.register("s", "a", format=JSON)
    version = registry.register("s", "", metadata=properties(owner="x"))
    assert (version.version, version.id, version.definition.text) == (2, 2, "a")
    assert version.definition.format is JSON
    assert registry.register("s", "").version == 2, "nothing new"


def test_large_schemas_are_refused() -> None:
    registry = Registry()
    registry.parser = fake_parser(text_bytes_max=3)
    registry.register("s", "a b")
    with refusal(SchemaTooLarge, "Register operation failed because schema is too large"):
        registry.register("t", "a bc")


@pytest.mark.parametrize("asked", ["request", "config", "server"])
def test_normalizing_is_asked_for_in_three_places(asked: str) -> None:
    registry = Registry(normalize=asked == "server")
    if asked == "config":
        registry.configure("s", normalize=True)
    first = registry.register("s", "b? a?", normalize=asked == "request")
    assert first.definition.text == "a? b?"
    again = registry.register("s", "a?    b?", normalize=asked == "request")
    assert again.version == 1


def test_a_config_can_switch_the_servers_normalizing_off() -> None:
    registry = Registry(normalize=True)
    registry.configure("s", normalize=False)
    assert registry.register("s", "b? a?").definition.text == "b? a?"


def test_references_are_stored_and_resolved() -> None:
    registry = Registry()
    registry.register("r", "x y")
    version = registry.register("s", "a @r", references=(ref("r", "r", -1),))
    assert version.definition.references == (ref("r", "r", 1),)
    with pytest.raises(InvalidSchemaRefused, match='reference found for subject "q" and version 1'):
        registry.register("s", "a @q", references=(ref("q", "q"),))


def test_an_inlined_schema_is_answered_by_the_one_with_references() -> None:
    registry = Registry()
    registry.register("r", "x y")
    held = registry.register("s", "a @r", references=(ref("r", "r"),))
    assert registry.register("s", "a x y") == held
    assert registry.register("t", "a x y").version == 1, "but in its own subject only"


def test_a_schema_with_other_references_is_another_schema() -> None:
    """Even if its text needs none of them."""
    registry = Registry()
    registry.register("r", "x y")
    registry.register("s", "a @r", references=(ref("r", "r"),))
    assert registry.register("s", "a x y", references=(ref("q", "r"),)).version == 2


def test_a_version_must_be_the_next_one() -> None:
    registry = Registry()
    with refusal(InvalidSchemaRefused, "Version is not one more than previous version"):
        registry.register("s", "a", version=2)
    assert registry.register("s", "a", version=1).version == 1
    assert registry.register("s", "a b?", version=2).version == 2


def test_an_explicit_version_is_told_in_the_metadata() -> None:
    registry = Registry()
    registry.register("s", "a", version=1)
    assert told(registry, "s", 1) == {"confluent:version": "1"}
    registry.register("s", "a b?")
    assert told(registry, "s", 2) == {"confluent:version": "2"}, "and from then on"


def test_the_next_version_may_be_asked_for() -> None:
    registry = Registry()
    registry.register("s", "a", version=-1)
    assert told(registry, "s", 1) == {"confluent:version": "1"}
    assert registry.register("s", "a", version=-1).version == 1, "the latest is the same"
    assert registry.register("s", "a").version == 1, "without the property as well"
    registry.register("s", "a b?", version=-1)
    assert registry.register("s", "a", version=-1).version == 3, "an older one is not the latest"


def test_a_rule_set_is_checked_first() -> None:
    rules = RuleSet(domain_rules=(Rule(name="r"),))
    with refusal(InvalidRuleSet, "Missing rule type"):
        Registry().register("\x01", "bad!", rule_set=rules)


# What the mode lets through.


@pytest.mark.parametrize("name", ["READONLY", "READONLY_OVERRIDE"])
def test_a_read_only_subject_takes_nothing_new(name: str) -> None:
    registry = Registry()
    registry.register("s", "a")
    mode(registry, "s", name)
    assert registry.register("s", "a").version == 1, "what is there may be registered again"
    with refusal(OperationNotPermitted, "Subject s in context  is in read-only mode"):
        registry.register("s", "a b?")
    with refusal(
        InvalidSchemaRefused, "Invalid schema of type AVRO, details: a field is bad (at its end)"
    ):
        registry.register("s", "bad!")


def test_ids_need_the_import_mode() -> None:
    registry = Registry()
    registry.register(":.c:s", "a")
    with refusal(OperationNotPermitted, "Subject :.c:s in context :.c: is not in import mode"):
        registry.register(":.c:s", "a b?", id=7)
    assert registry.register(":.c:s", "a", id=1).version == 1, "unless they are the schema's"


def test_the_import_mode_needs_ids() -> None:
    registry = Registry()
    mode(registry, None, "IMPORT")
    with refusal(OperationNotPermitted, "Subject s in context  is not in read-write mode"):
        registry.register("s", "a")


@pytest.mark.parametrize("name", ["IMPORT", "FORWARD"])
def test_an_import_keeps_ids_and_versions_and_asks_nothing(name: str) -> None:
    registry = Registry()
    mode(registry, None, name)
    assert registry.register("s", "a", id=20, version=5).version == 5
    assert registry.register("s", "z", id=0, version=2).id == 0, "0 is an id"
    assert registry.register("s", "y", id=21).version == 6
    assert numbers(registry.state, "s") == [2, 5, 6]
    assert registry.register("s", "q", id=22, version=2).version == 2, "overwritten"
    assert numbers(registry.state, "s") == [2, 5, 6]
    mode(registry, None, "READWRITE")
    assert registry.register("t", "n").id == 23
    assert registry.replayed() == registry.state


def test_an_overwritten_id_is_not_given_again() -> None:
    """Found by random histories: nothing in the compacted topic would show it."""
    registry = Registry()
    mode(registry, "s", "IMPORT")
    registry.register("s", "a", id=9, version=1)
    registry.register("s", "b", id=3, version=1)
    registry.state = registry.compacted()
    assert registry.register("t", "c").id == 10


def test_an_id_is_not_given_to_another_schema() -> None:
    registry = Registry()
    mode(registry, None, "IMPORT")
    registry.register("s", "a", id=7)
    with refusal(
        OperationNotPermitted, "Overwrite new schema with id 7 in context  is not permitted."
    ):
        registry.register("t", "b", id=7)
    assert registry.register("t", "a", id=7).version == 1
    assert registry.register("u", "a", id=8).id == 8, "but a schema may have several"
    mode(registry, ":.c:", "IMPORT")
    assert registry.register(":.c:s", "b", id=7).id == 7, "and another context its own"


def test_an_import_again_writes_nothing() -> None:
    registry = Registry()
    mode(registry, None, "IMPORT")
    registry.register("s", "a", id=7, version=3)
    length = len(registry.topic)
    for version in (3, 0):
        assert registry.register("s", "a", id=7, version=version).version == 3
    assert len(registry.topic) == length


def test_the_same_schema_imported_twice_is_found_by_version() -> None:
    registry = Registry()
    mode(registry, None, "IMPORT")
    registry.register("s", "a", id=7, version=1)
    registry.register("s", "a", id=7, version=2)
    length = len(registry.topic)
    assert registry.register("s", "a", id=7, version=1).version == 1
    assert len(registry.topic) == length


def test_ids_and_versions_have_a_bound() -> None:
    registry = Registry()
    mode(registry, None, "IMPORT")
    for request in ({"id": VERSION_MAX + 1}, {"id": 1, "version": VERSION_MAX + 1}):
        with refusal(InvalidSchemaRefused, "Ids and versions are at most 2^31-1"):
            registry.register("s", "a", **request)


# What earlier versions allow.


def test_an_incompatible_schema_is_refused_with_all_reasons() -> None:
    registry = Registry()
    registry.register("s", "a")
    with pytest.raises(IncompatibleSchema) as refused:
        registry.register("s", "a b c")
    assert refused.value.code == 409
    assert str(refused.value) == (
        'Schema being registered is incompatible with an earlier schema for subject "s", details: '
        "[field 'b' of the new schema is not in the old schema, "
        "field 'c' of the new schema is not in the old schema, "
        "{oldSchemaVersion: 1}, {oldSchema: 'a'}, "
        "{validateFields: 'false', compatibility: 'BACKWARD'}]"
    )
    assert numbers(registry.state, "s") == [1]


def test_only_live_versions_count() -> None:
    registry = Registry()
    registry.register("s", "a")
    registry.register("s", "a b?")
    registry.delete("s", "latest")
    with pytest.raises(IncompatibleSchema):
        registry.register("s", "b")
    registry.delete("s", "1")
    assert registry.register("s", "b").version == 3


def test_the_level_of_the_subject_decides() -> None:
    registry = Registry()
    registry.register("s", "a")
    registry.configure("s", compatibility="none")
    assert registry.register("s", "b").version == 2
    registry.configure("s", compatibility="Forward")
    assert registry.register("s", "b c").version == 3
    registry.configure("s", compatibility="FORWARD_TRANSITIVE")
    with pytest.raises(IncompatibleSchema, match="compatibility: 'FORWARD_TRANSITIVE'"):
        registry.register("s", "b c d")


def test_force_does_not_compare() -> None:
    registry = Registry()
    registry.register("s", "a")
    assert registry.register("s", "b", force=True).version == 2


def test_a_group_is_compared_within_itself() -> None:
    registry = Registry()
    registry.configure("s", compatibility_group="major")
    registry.register("s", "a", metadata=properties(major="1"))
    assert registry.register("s", "z", metadata=properties(major="2")).version == 2
    with pytest.raises(IncompatibleSchema, match="oldSchemaVersion: 1"):
        registry.register("s", "z y", metadata=properties(major="1"))


def test_reserved_fields_stay_reserved_where_fields_are_validated() -> None:
    registry = Registry()
    registry.register("s", "a", metadata=properties(confluent__reserved="x,y"))
    registry.configure("s", validate_fields=True)
    registry.configure("t", validate_fields=True)
    assert registry.register("t", "a", metadata=properties(confluent__reserved="x")).version == 1
    with pytest.raises(IncompatibleSchema) as refused:
        registry.register("s", "a b?", metadata=properties(confluent__reserved="y"))
    assert refused.value.details == [
        (
            "The new schema has reserved field x removed from its metadata which is present in "
            "the old schema's metadata."
        ),
        "{validateFields: 'true', compatibility: 'BACKWARD'}",
    ]


# Metadata and rules are completed.


def test_a_version_that_is_told_is_meant() -> None:
    """And one that is not told does not matter."""
    registry = Registry()
    registry.register("s", "a", metadata=properties(confluent__version="7"))
    assert told(registry, "s", 1) == {"confluent:version": "1"}, "the registry keeps it true"
    again = registry.register("s", "a", metadata=properties(confluent__version="7"))
    assert again.version == 2
    assert registry.register("s", "a").version == 2


def test_metadata_make_another_schema() -> None:
    registry = Registry()
    assert registry.register("s", "a").id == 1
    version = registry.register("s", "a", metadata=properties(owner="x"))
    assert (version.id, version.version) == (2, 2)


def test_metadata_and_rules_are_inherited_from_the_latest_version() -> None:
    registry = Registry()
    rules = RuleSet(domain_rules=(Rule(name="r", type="CEL"),))
    registry.register("s", "a", metadata=properties(owner="x"), rule_set=rules)
    version = registry.register("s", "a b?")
    assert told(registry, "s", 2) == {"owner": "x"}
    assert version.definition.rule_set is not None
    assert registry.register("s", "a").version == 1, "and what is there is still found"


def test_defaults_come_under_and_overrides_over_what_a_schema_says() -> None:
    registry = Registry()
    registry.configure(
        "s",
        default_metadata=properties(owner="default", zone="default"),
        override_metadata=properties(level="override"),
        default_rule_set=RuleSet(domain_rules=(Rule(name="r", type="CEL"),)),
        override_rule_set=RuleSet(domain_rules=(Rule(name="o", type="CEL"),)),
    )
    version = registry.register("s", "a", metadata=properties(owner="mine", level="mine"))
    assert told(registry, "s", 1) == {"owner": "mine", "zone": "default", "level": "override"}
    assert version.definition.rule_set is not None
    assert [rule.name for rule in version.definition.rule_set.domain_rules or ()] == ["r", "o"]
    again = registry.register("s", "a", metadata=properties(owner="mine"))
    assert again.version == 1, "completed, it is the same"


def test_a_new_default_makes_a_new_version_of_an_old_schema() -> None:
    """So what is there already is not looked for before the schema is completed."""
    registry = Registry()
    registry.register("s", "a")
    registry.configure("s", override_metadata=properties(zone="eu"))
    assert registry.register("s", "a").version == 2
    assert told(registry, "s", 2) == {"zone": "eu"}


def test_an_import_completes_nothing() -> None:
    registry = Registry()
    registry.configure("s", default_metadata=properties(owner="x"))
    mode(registry, "s", "IMPORT")
    registry.register("s", "a", id=1)
    assert told(registry, "s", 1) == {}


def test_no_record_is_written_before_everything_is_decided() -> None:
    """A refusal brings no records: a new context is declared with its first schema only."""
    registry = Registry()
    for request in ({"text": "bad!"}, {"text": "a", "id": 4}, {"text": "a", "version": 9}):
        with pytest.raises(RegistryError):
            registry.register(":.c:s", **request)
    assert registry.topic == []
    assert registry.state.settings.mode_in_scope("s") is Mode.READWRITE


def _kinds(records: tuple[Any, ...]) -> list[type]:
    return [type(record) for record in records]


def test_records_come_in_the_order_in_which_they_must_be_read() -> None:
    """A reader between two of them never sees an id with two versions of one subject."""
    registry = Registry()
    registry.register(":.c:s", "a")
    registry.delete(":.c:s")
    outcome = commands.register(registry.state, registry.parser, ":.c:s", RegisterRequest(text="a"))
    gone, new = outcome.records
    assert _kinds(outcome.records) == [SchemaRecord, SchemaRecord]
    assert isinstance(gone, SchemaRecord)
    assert isinstance(new, SchemaRecord)
    assert (gone.version, gone.stored) == (1, None)
    assert new.version == 2
    assert NoopRecord not in _kinds(outcome.records), "the id is still in use"
