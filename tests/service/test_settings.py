"""Four layers become one frozen value, and every mistake is told at once with its place."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.service.kinds import (
    Duration,
    Listing,
    MappingOf,
    OrNone,
    Raw,
    SecretText,
    Text,
    Whole,
)
from headwater.service.places import SettingsInvalid
from headwater.service.secrets import Secret, SecretSource
from headwater.service.settings import Loaded, SettingConflict, declarations, load, setting

CANARY = "c4nary-hunter2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    node_id: int = setting(Whole(minimum=0), default=1, sentence="Number of this node.")
    linger_ms: int = setting(
        Duration(), default=5, sentence="How long a batch waits.", needs_restart=False
    )
    name: str = setting(Text(pattern="[a-z]+", form="letters"), sentence="What it is called.")
    hosts: tuple[str, ...] = setting(
        Listing(of=Text()), default=(), sentence="Whom to ask.", flags=("--host", "-H")
    )
    configs: Mapping[str, int] = setting(
        MappingOf(of=Whole()), default=MappingProxyType({}), sentence="More."
    )
    password: Secret | None = setting(OrNone(SecretText()), default=None, sentence="Secret.")

    def __post_init__(self) -> None:
        if self.name == "bad" and self.node_id == 13:
            raise SettingConflict("a bad node cannot be 13", "node_id", "name")


def loaded(
    file: Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, Raw] | None = None,
    secrets: SecretSource | None = None,
) -> Loaded[Sample]:
    return load(
        Sample,
        prefix="APP",
        file=file,
        environment=environment or {},
        flags={"name": "abc"} if flags is None else flags,
        secrets=secrets,
    )


def problems(caught: pytest.ExceptionInfo[SettingsInvalid], directory: Path) -> list[str]:
    return [str(problem).replace(f"{directory}/", "") for problem in caught.value.problems]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "app.yaml"


def test_the_stronger_layer_wins(file: Path) -> None:
    """Flag over variable over file over default, setting by setting, each with its place."""
    file.write_text("node_id: 2\nlinger_ms: 20ms\nname: file\nhosts: [a, b]\n")
    result = loaded(
        file,
        environment={"APP_LINGER_MS": "30ms", "APP_NAME": "variable", "OTHER": "x"},
        flags={"name": "flag"},
    )
    assert result.values == Sample(node_id=2, linger_ms=30, name="flag", hosts=("a", "b"))
    assert {name: str(place).replace(str(file), "F") for name, place in result.places.items()} == {
        "node_id": "F:1:10",
        "linger_ms": "variable APP_LINGER_MS",
        "name": "flag --name",
        "hosts": "F:4:8",
        "configs": "default",
        "password": "default",
    }


LAYER = st.none() | st.integers(0, 99)


@given(file_value=LAYER, variable=LAYER, flag=LAYER)
def test_a_value_is_that_of_the_strongest_layer_that_speaks(
    tmp_path_factory: pytest.TempPathFactory,
    file_value: int | None,
    variable: int | None,
    flag: int | None,
) -> None:
    """Whatever subset of layers speaks."""
    path = tmp_path_factory.getbasetemp() / "layers.yaml"
    path.write_text("{}" if file_value is None else f"node_id: {file_value}")
    result = loaded(
        path,
        environment={} if variable is None else {"APP_NODE_ID": str(variable)},
        flags={"name": "a"} | ({} if flag is None else {"node_id": str(flag)}),
    )
    spoken = [value for value in (1, file_value, variable, flag) if value is not None]
    assert result.values.node_id == spoken[-1]


def test_mappings_are_merged_name_by_name(file: Path) -> None:
    """A flag changes one entry of the file's and keeps the others."""
    file.write_text("configs: {a: 1, b: 2}")
    result = loaded(
        file, environment={"APP_CONFIGS": "b=3;c=4"}, flags={"name": "x", "configs": ["c=5", "d=6"]}
    )
    assert result.values.configs == {"a": 1, "b": 3, "c": 5, "d": 6}


def test_every_mistake_is_told_at_once(file: Path) -> None:
    """In reading order: the file from its top, variables, flags, what stands nowhere."""
    file.write_text("linger_ms: soon\nnode: 3\nnode_id: -1\nconfigs: {a: 1, b: x}\n")
    with pytest.raises(SettingsInvalid) as caught:
        loaded(file, environment={"APP_HOST": "a"}, flags={"hosts": ["ok", ""]})
    assert problems(caught, file.parent) == [
        (
            'app.yaml:1:12: linger_ms = "soon": not a duration; '
            "write a number and a unit, such as 500ms, 30s, 10m, 2h or 7d"
        ),
        'app.yaml:2:1: "node": there is no such setting; did you mean node_id?',
        'app.yaml:3:10: node_id = "-1": below the minimum of 0',
        'app.yaml:4:20: configs = "x": not a whole number',
        'variable APP_HOST: "APP_HOST": there is no such setting; did you mean APP_HOSTS?',
        'flag --host: hosts = "": empty',
        "name: required, and set nowhere; give --name (letters)",
    ]


def test_a_file_that_cannot_be_read_does_not_make_settings_missing(tmp_path: Path) -> None:
    """One message about the file, none about what it would have said; variables still count."""
    for content, reason in ((b"a: [", "not YAML"), (b"\xff", "not UTF-8"), (b"- a", "a mapping")):
        (tmp_path / "app.yaml").write_bytes(content)
        with pytest.raises(SettingsInvalid) as caught:
            loaded(tmp_path / "app.yaml", environment={"APP_NODE_ID": "x"}, flags={})
        first, second = problems(caught, tmp_path)
        assert reason in first
        assert second.startswith("variable APP_NODE_ID")
    with pytest.raises(SettingsInvalid, match="No such file"):
        loaded(tmp_path / "missing.yaml")


def test_values_that_do_not_go_together_are_told_with_their_places(file: Path) -> None:
    """A conflict names the place of each value it blames."""
    file.write_text("node_id: 13\n")
    with pytest.raises(SettingsInvalid) as caught:
        loaded(file, flags={"name": "bad"})
    assert problems(caught, file.parent) == [
        (
            "app.yaml:1:10: node_id: a bad node cannot be 13 "
            "(node_id from app.yaml:1:10, name from flag --name)"
        )
    ]


def test_references_are_followed_in_every_layer(file: Path) -> None:
    """File, variables and flags may all point to where a value is kept."""
    file.write_text("password: ${env:PW}\nhosts: ['${env:H}', b]\n")
    result = loaded(
        file,
        environment={"PW": CANARY, "H": "a", "N": "7", "APP_NODE_ID": "${env:N}"},
        flags={"name": "${env:H}"},
    )
    assert result.values.password == Secret(CANARY)
    assert result.values.hosts == ("a", "b")
    assert result.values.node_id == 7
    assert result.values.name == "a"


def test_a_secret_is_not_in_any_message(file: Path) -> None:
    """Neither one written in the file nor one that a reference led to."""
    file.write_text("password: [c4nary-hunter2]\nnode_id: ${env:PW}\nname: ${env:PW}\n")
    with pytest.raises(SettingsInvalid) as caught:
        loaded(file, environment={"PW": CANARY, "APP_PASSWORD": ""}, flags={})
    text = "\n".join(problems(caught, file.parent)) + repr(caught.value)
    assert CANARY not in text
    assert 'node_id = "${env:PW}": not a whole number' in text
    error: BaseException | None = caught.value
    while error is not None:
        assert CANARY not in repr(error)
        error = error.__cause__


def test_a_bad_secret_is_hidden() -> None:
    """Its place is told, its value is not."""
    with pytest.raises(SettingsInvalid) as caught:
        loaded(flags={"name": "a", "password": CANARY * 10_000})
    assert CANARY not in str(caught.value)
    assert "flag --password: password = [secret]: longer than" in str(caught.value)


def test_a_reference_may_not_leave_its_roots(file: Path) -> None:
    """Without a source, files are out of reach altogether."""
    file.write_text("password: ${file:/etc/hostname}\n")
    with pytest.raises(SettingsInvalid, match="outside the allowed roots: none are set"):
        loaded(file)
    allowed = SecretSource(environment={}, roots=(file.parent,))
    (file.parent / "pw").write_text(CANARY)
    file.write_text(f"password: ${{file:{file.parent}/pw}}\n")
    assert loaded(file, secrets=allowed).values.password == Secret(CANARY)


def test_kubernetes_may_name_a_service_like_us() -> None:
    """Variables that it injects for a service called ``app`` are not taken for typing mistakes."""
    injected = {
        "APP_SERVICE_HOST": "10.0.0.1",
        "APP_SERVICE_PORT": "9092",
        "APP_SERVICE_PORT_HTTP": "80",
        "APP_PORT": "tcp://10.0.0.1:9092",
        "APP_PORT_9092_TCP_ADDR": "10.0.0.1",
    }
    assert loaded(environment=injected).values == Sample(name="abc")


def test_a_settings_class_can_be_made_without_a_loader() -> None:
    """Tests write values, not text; defaults are there."""
    assert Sample(name="a").linger_ms == 5
    assert Sample(name="a") == loaded(flags={"name": "a"}).values


def test_declarations_are_complete() -> None:
    """Everything that flags, documents and messages are made of."""
    declared = {declaration.name: declaration for declaration in declarations(Sample)}
    assert list(declared) == ["node_id", "linger_ms", "name", "hosts", "configs", "password"]
    assert declared["hosts"].flags == ("--host", "-H")
    assert declared["linger_ms"].flags == ("--linger-ms",)
    assert declared["linger_ms"].variable("APP") == "APP_LINGER_MS"
    assert [name for name in declared if declared[name].is_required] == ["name"]
    assert [name for name in declared if not declared[name].needs_restart] == ["linger_ms"]
    assert declared["node_id"].default == 1
