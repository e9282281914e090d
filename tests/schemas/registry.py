"""A registry for tests: state, commands and a topic in memory, as a server would join them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar

import pytest
from tests.schemas.fake_format import fake_parser

from headwater.schemas import commands
from headwater.schemas.commands import Outcome, RegisterRequest
from headwater.schemas.errors import RegistryError
from headwater.schemas.index import SchemaVersion
from headwater.schemas.model import Reference, SchemaFormat
from headwater.schemas.records import Encoded
from headwater.schemas.scopes import Defaults
from headwater.schemas.settings import ConfigChange
from headwater.schemas.state import RegistryState

P = ParamSpec("P")
Answer = TypeVar("Answer")


class Registry:
    """Every change goes through the topic's bytes, and the state is what they say."""

    def __init__(self, **defaults: Any) -> None:
        self.defaults = Defaults(**defaults)
        self.state = RegistryState(self.defaults)
        self.parser = fake_parser()
        self.topic: list[Encoded] = []

    def do(
        self,
        command: Callable[Concatenate[RegistryState, P], Outcome[Answer]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Answer:
        outcome = command(self.state, *args, **kwargs)
        for key, value in self.state.encoded(outcome.records):
            self.topic.append((key, value))
            note = self.state.replay_encoded(key, value)
            assert note is None, note
        self.state.check()
        return outcome.answer

    def register(self, subject: str, text: str, **request: Any) -> SchemaVersion:
        command = RegisterRequest(text=text, **request)
        return self.do(commands.register, self.parser, subject, command).version

    def delete(self, subject: str, version: str | None = None, *, permanent: bool = False) -> None:
        if version is None:
            self.do(commands.delete_subject, subject, permanent=permanent)
        else:
            self.do(commands.delete_version, subject, version, permanent=permanent)

    def configure(self, scope: str | None, **change: Any) -> None:
        self.do(commands.change_config, scope, ConfigChange(**change))

    def replayed(self) -> RegistryState:
        """A second process that reads the whole topic."""
        state = RegistryState(self.defaults)
        for key, value in self.topic:
            state.replay_encoded(key, value)
        return state

    def compacted(self) -> RegistryState:
        """A second process that reads the topic after compaction, tombstones gone."""
        state = RegistryState(self.defaults)
        last = dict(self.topic)
        places = {key: place for place, (key, _) in enumerate(self.topic)}
        for key in sorted(last, key=places.__getitem__):
            if last[key] is not None:
                state.replay_encoded(key, last[key])
        return state


@contextmanager
def refusal(kind: type[RegistryError], message: str) -> Iterator[None]:
    with pytest.raises(kind) as refused:
        yield
    assert str(refused.value) == message


def numbers(state: RegistryState, subject: str) -> list[int]:
    """Versions of a subject; soft-deleted ones negative."""
    return [-v.version if v.deleted else v.version for v in state.schemas.versions(subject)]


def ref(name: str, subject: str, version: int = 1) -> Reference:
    return Reference(name=name, subject=subject, version=version)


AVRO, JSON, PROTOBUF = SchemaFormat.AVRO, SchemaFormat.JSON, SchemaFormat.PROTOBUF
