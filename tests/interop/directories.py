"""Data directories and those who own them in turn."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .client import Client
from .target import TARGET_NAME, Target, headwater_server, kafka_server
from .toolchain import needed, python_driver

Owner = Callable[[Path], Target]

PAIRS: list[tuple[Owner, Owner]] = (
    [(kafka_server, kafka_server)]
    if TARGET_NAME == "kafka"
    else [(kafka_server, headwater_server), (headwater_server, kafka_server)]
)


@contextmanager
def serving(
    owner: Owner, directory: Path, end: str, driver: list[str] | None = None
) -> Iterator[Client]:
    """The owner serves the directory; a client of it; then the owner ends as told."""
    system = owner(directory)
    needed(system.start)
    command = python_driver("confluent") if driver is None else driver
    try:
        with Client("client", [*command, system.bootstrap]) as client:
            yield client
        if end == "stopped":
            system.stop()
    finally:
        system.kill()


def name_of(owner: Owner) -> str:
    """For the test's id."""
    return owner.__name__.removesuffix("_server")
