"""References found, texts parsed once, bounds kept."""

import pytest
from tests.schemas.fake_format import FakeFormat, fake_parser
from tests.schemas.registry import ref

from headwater.schemas.errors import InvalidSchemaRefused, InvalidVersion, SchemaTooLarge
from headwater.schemas.model import Definition, Reference, SchemaFormat
from headwater.schemas.parsing import SchemaParser, format_named, reference_texts
from headwater.schemas.records import DeleteSubjectRecord, SchemaRecord, StoredSchema
from headwater.schemas.state import RegistryState


def holding(**texts: str | Definition) -> RegistryState:
    """Version 1 of each subject; ``c__s`` is subject s of context .c."""
    state = RegistryState()
    for schema_id, (name, text) in enumerate(texts.items(), 1):
        context, _, bare = name.rpartition("__")
        subject = f":.{context}:{bare}" if context else bare
        definition = text if isinstance(text, Definition) else Definition(text=text)
        state.replay(SchemaRecord(subject, 1, StoredSchema(id=schema_id, definition=definition)))
    return state


def uses(text: str, *references: Reference) -> Definition:
    return Definition(text=text, references=references)


def texts(state: RegistryState, definition: Definition, subject: str = "new") -> dict[str, str]:
    return reference_texts(state.schemas, subject, definition.references, is_new=True)


def test_what_is_needed_comes_first() -> None:
    state = holding(a="a", b=uses("b @a", ref("a", "a")))
    assert list(texts(state, uses("@b", ref("b", "b"))).items()) == [("a", "a"), ("b", "b @a")]


def test_names_mean_subjects_of_the_same_context() -> None:
    state = holding(c__a="inner", a="outer", c__b=uses("@a", ref("a", "a")))
    assert texts(state, uses("@a", ref("a", "a")), ":.c:new") == {"a": "inner"}
    assert texts(state, uses("@a", ref("a", "a"))) == {"a": "outer"}
    assert texts(state, uses("@b", ref("b", ":.c:b")))["a"] == "inner", "as subject b means it"


def test_a_missing_reference_is_named() -> None:
    with pytest.raises(InvalidSchemaRefused) as refused:
        fake_parser().parsed(holding().schemas, "s", uses("@a", ref("a", "b", 3)))
    assert str(refused.value) == (
        "Invalid schema of type AVRO, details: "
        'No schema reference found for subject "b" and version 3'
    )


def test_new_schemas_do_not_build_on_deleted_ones() -> None:
    state = holding(a="a")
    state.replay(DeleteSubjectRecord("a", 1))
    definition = uses("@a", ref("a", "a"))
    assert fake_parser().parsed(state.schemas, "s", definition).canonical == "@a"
    with pytest.raises(InvalidSchemaRefused, match="No schema reference found"):
        fake_parser().parsed(state.schemas, "s", definition, is_new=True)


def test_references_in_a_circle_end() -> None:
    """An import can overwrite versions, so it can make one."""
    state = holding(a=uses("a @b", ref("b", "b")), b=uses("b @a", ref("a", "a")))
    assert set(texts(state, uses("@a", ref("a", "a")))) == {"a", "b"}


def test_references_have_bounds() -> None:
    chain = {f"s{n}": uses(f"f{n}", ref(f"r{n + 1}", f"s{n + 1}")) for n in range(101)}
    state = holding(**chain, s101="end")
    assert len(texts(state, uses("x", ref("r2", "s2")))) == 100
    for start in (0, 1):
        with pytest.raises(InvalidSchemaRefused, match="more than 100 levels deep"):
            fake_parser().parsed(state.schemas, "n", uses("x", ref("r", f"s{start}")))
    many = tuple(ref(f"r{n}", "s101") for n in range(1001))
    assert len(texts(state, uses("x", *many[:-1]))) == 1000
    with pytest.raises(InvalidSchemaRefused, match="More than 1000 schemas"):
        fake_parser().parsed(state.schemas, "n", uses("x", *many))


def test_the_latest_version_is_pinned() -> None:
    state = holding(a="a")
    state.replay(SchemaRecord("a", 2, StoredSchema(id=9, definition=Definition(text="b"))))
    definition, _ = fake_parser().canonical(state.schemas, "s", uses("@a", ref("a", "a", -1)))
    assert definition.references == (ref("a", "a", 2),)
    with pytest.raises(InvalidSchemaRefused, match='subject "z" and version -1'):
        fake_parser().canonical(state.schemas, "s", uses("@z", ref("z", "z", -1)))
    with pytest.raises(InvalidVersion):
        fake_parser().canonical(state.schemas, "s", uses("@a", ref("a", "a", 0)))


def test_canonical_text_replaces_what_came() -> None:
    state = holding(a="a", b="b")
    wanted = uses(" z  @b   @a ", ref("b", "b"), ref("a", "a"), ref("b", "b"))
    canonical, _ = fake_parser().canonical(state.schemas, "s", wanted)
    assert (canonical.text, canonical.references) == ("z @b @a", wanted.references)
    normal, parsed = fake_parser().canonical(state.schemas, "s", wanted, normalize=True)
    assert normal.text == parsed.canonical == "@a @b z"
    assert normal.references == (ref("a", "a"), ref("b", "b"))


@pytest.mark.parametrize("text", ["", " \n "])
def test_no_text_is_no_schema(text: str) -> None:
    with pytest.raises(InvalidSchemaRefused, match="Empty schema"):
        fake_parser().canonical(holding().schemas, "s", Definition(text=text))


def test_a_format_says_why_and_where() -> None:
    definition = Definition(text="bad!", format=SchemaFormat.JSON)
    with pytest.raises(InvalidSchemaRefused) as refused:
        fake_parser().parsed(holding().schemas, "s", definition)
    assert str(refused.value) == (
        "Invalid schema of type JSON, details: a field is bad (at its end)"
    )


def test_texts_have_a_bound_in_bytes() -> None:
    parser = fake_parser(text_bytes_max=4)
    schemas = holding().schemas
    assert parser.parsed(schemas, "s", Definition(text="éé")).canonical == "éé"
    with pytest.raises(SchemaTooLarge):
        parser.parsed(schemas, "s", Definition(text="ééé"))


def test_a_text_is_parsed_once_while_it_is_kept() -> None:
    avro = FakeFormat()
    parser = SchemaParser({SchemaFormat.AVRO: avro}, cached_chars_max=2_010)
    schemas = holding(a="x", b="y").schemas

    def count(definition: Definition, *, is_new: bool = False) -> int:
        before = avro.parsed_count
        parser.parsed(schemas, "s", definition, is_new=is_new)
        return avro.parsed_count - before

    assert [count(Definition(text="a")) for _ in range(2)] == [1, 0]
    assert count(Definition(text="a"), is_new=True) == 1, "held to more"
    assert count(Definition(text="a")) == 0, "two are kept"
    assert count(uses("@r", ref("r", "a"))) == 1, "and the one not used for longest goes"
    assert count(Definition(text="a")) == 0
    assert count(uses("@r", ref("r", "b"))) == 1, "another meaning of the same text"
    assert count(uses("@r", ref("r", "a"))) == 1


def test_formats_are_named() -> None:
    assert format_named(None) is SchemaFormat.AVRO
    assert format_named("PROTOBUF") is SchemaFormat.PROTOBUF
    with pytest.raises(InvalidSchemaRefused, match="Invalid schema type THRIFT"):
        format_named("THRIFT")
