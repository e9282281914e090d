"""One target for the whole session, one driver per client, fresh names for every test."""

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tools.kafka.jars import classpath

from .client import Client
from .directories import PAIRS, Owner, name_of
from .java_tools import Ran, Tool
from .target import Target, target
from .toolchain import go_driver, jvm_driver, needed, node_driver, python_driver

CLIENT_COMMANDS = {
    "confluent-kafka": lambda: python_driver("confluent"),
    "aiokafka": lambda: python_driver("aiokafka"),
    "kafka-python": lambda: python_driver("kafka_python"),
    "java": jvm_driver,
    "franz-go": go_driver,
    "kafkajs": lambda: node_driver("kafkajs"),
    "platformatic": lambda: node_driver("platformatic"),
}

_numbers = itertools.count(1)

OpenClient = Callable[[str], Client]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder starts software of other people."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.interop)


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """The system under test, running."""
    system = needed(lambda: target(Path(tmp_path_factory.mktemp("broker"))))
    needed(system.start)
    yield system
    system.stop()


@pytest.fixture(scope="session")
def open_client(broker: Target) -> Iterator[OpenClient]:
    """The one driver of a client for the session, by the client's name."""
    opened: dict[str, Client] = {}

    def open_(name: str) -> Client:
        if name not in opened:
            command = needed(CLIENT_COMMANDS[name])
            opened[name] = Client(name, [*command, broker.bootstrap])
        return opened[name]

    yield open_
    for client in opened.values():
        client.close()


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A topic name nobody used: the test's own, cut to Kafka's alphabet and length."""
    plain = re.sub(r"[^a-zA-Z0-9._-]", "-", request.node.name)
    return f"{plain[:120]}-{next(_numbers)}"


@pytest.fixture
def group(topic: str) -> str:
    return f"group-of-{topic}"


@pytest.fixture
def java(open_client: OpenClient) -> Client:
    return open_client("java")


@pytest.fixture
def local_tool(java: Client) -> Tool:
    """Run a tool with these arguments."""

    def run(name: str, *arguments: str, input_text: str = "") -> Ran:
        return Ran(**java.call("tool", name=name, arguments=arguments, input=input_text))

    return run


@pytest.fixture
def tool(local_tool: Tool, broker: Target) -> Tool:
    """Run a tool against the broker; it must succeed unless ``status`` says otherwise."""

    def run(name: str, *arguments: str, input_text: str = "", status: int = 0) -> Ran:
        ran = local_tool(
            name, "--bootstrap-server", broker.bootstrap, *arguments, input_text=input_text
        )
        assert ran.status == status, ran
        return ran

    return run


@pytest.fixture(params=PAIRS, ids=lambda pair: f"{name_of(pair[0])}-then-{name_of(pair[1])}")
def owners(request: pytest.FixtureRequest) -> tuple[Owner, Owner]:
    """Who has the directory first, and who takes it over."""
    needed(classpath)
    pair: tuple[Owner, Owner] = request.param
    return pair
