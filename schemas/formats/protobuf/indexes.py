"""Where a message stands in its file, by numbers: what the wire format says instead of a name.

``[1, 0]`` is the first message inside the file's second. Maps and groups are not counted, unless
the text spells a map's entry as a message: what counts is the stored text, as in Confluent's
``ProtobufSchema.toMessageIndexes``.
"""

from collections.abc import Iterable, Sequence

from .elements import Message, ProtoFile, of_kind
from .scope import joined


class NoSuchMessage(LookupError):
    """The schema has no such message; ``wanted`` is its name or its indexes."""

    def __init__(self, wanted: str | Sequence[int]) -> None:
        super().__init__(f"the schema has no message {wanted!r}")
        self.wanted = wanted


def message_indexes(file: ProtoFile, full_name: str) -> tuple[int, ...]:
    """The path to the message *full_name*, package included. Raises NoSuchMessage."""
    prefix = f"{file.package}." if file.package else ""
    if not full_name.startswith(prefix):
        raise NoSuchMessage(full_name)
    path: list[int] = []
    body: Iterable[object] = file.body
    for part in full_name.removeprefix(prefix).split("."):
        messages = of_kind(body, Message)
        index = next((i for i, message in enumerate(messages) if message.name == part), None)
        if index is None:
            raise NoSuchMessage(full_name)
        path.append(index)
        body = messages[index].body
    return tuple(path)


def message_name(file: ProtoFile, indexes: Sequence[int]) -> str:
    """The full name of the message at *indexes*. Raises NoSuchMessage, also for no indexes."""
    name = file.package
    body: Iterable[object] = file.body
    for index in indexes:
        messages = of_kind(body, Message)
        if not 0 <= index < len(messages):
            raise NoSuchMessage(tuple(indexes))
        name = joined(name, messages[index].name)
        body = messages[index].body
    if not indexes:
        raise NoSuchMessage(())
    return name
