"""A YAML file as plain text values, each with its line and column.

Only YAML's structure is taken, not its guesses: a scalar stays the text that stands in the file,
so ``no``, ``1:30`` and ``0o17`` reach the setting as written and its kind decides. No tags, no
objects, no aliases; size, depth and number of values are bounded, duplicate keys are errors.
PyYAML's composer gives the marks; nothing is constructed by it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from .kinds import Raw
from .places import Origin, Place, Problem, SettingsInvalid

if TYPE_CHECKING:
    import yaml

FILE_BYTES_MAX: Final = 1024 * 1024
DEPTH_MAX: Final = 32
VALUES_MAX: Final = 10_000

_TAGS: Final = frozenset(
    f"tag:yaml.org,2002:{name}"
    for name in ("map", "seq", "str", "int", "float", "bool", "null", "timestamp", "merge", "value")
)
"""What YAML itself guesses for plain text; any other tag was written by somebody who wants more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """One value of a file and where it stands."""

    content: "Content"
    place: Place

    def raw(self) -> Raw:
        """The value without its places."""
        if isinstance(self.content, dict):
            return {name: entry.value.raw() for name, entry in self.content.items()}
        if isinstance(self.content, tuple):
            return [entry.raw() for entry in self.content]
        return self.content

    def at(self, path: Sequence[int | str]) -> "Located":
        """The value that *path* leads to, or the last one on the way that exists."""
        found = self
        for step in path:
            inner = found.content
            if isinstance(inner, dict) and step in inner:
                found = inner[str(step)].value
            elif isinstance(inner, tuple) and isinstance(step, int) and step < len(inner):
                found = inner[step]
            else:
                break
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A key of a mapping, with its place, and its value."""

    key_place: Place
    value: Located


Content: TypeAlias = str | tuple[Located, ...] | dict[str, Entry] | None


def read(text: str, *, name: str) -> Located:
    """The document in *text*; an empty one is an empty mapping. *name* is the path, for places.

    Raises SettingsInvalid when it is not YAML, or breaks a bound.
    """
    import yaml  # noqa: PLC0415 - 30 ms that a process without a file does not pay

    if len(text) > FILE_BYTES_MAX:
        raise _invalid(_place(name), f"larger than {FILE_BYTES_MAX} bytes")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        raise _invalid(_place(name, error.problem_mark), _explained(error)) from error
    except yaml.YAMLError as error:  # a character that YAML does not allow
        raise _invalid(_place(name), str(error)) from error
    except RecursionError:
        raise _invalid(_place(name), f"nested deeper than {DEPTH_MAX}") from None
    if root is None:
        return Located(content={}, place=_place(name))
    return _Reader(name).located(root, depth=1)


class _Reader:
    """Walks the composed nodes once, counting."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen: set[int] = set()

    def located(self, node: "yaml.Node", *, depth: int) -> Located:
        import yaml  # noqa: PLC0415 - loaded by read

        place = _place(self._name, node.start_mark)
        if id(node) in self._seen:
            raise _invalid(place, "aliases are not taken; write the value out")
        self._seen.add(id(node))
        if depth > DEPTH_MAX:
            raise _invalid(place, f"nested deeper than {DEPTH_MAX}")
        if len(self._seen) > VALUES_MAX:
            raise _invalid(place, f"more than {VALUES_MAX} values")
        if node.tag not in _TAGS:
            raise _invalid(place, f"the tag {node.tag} is not taken")
        if isinstance(node, yaml.MappingNode):
            return Located(content=self._mapping(node, depth), place=place)
        if isinstance(node, yaml.SequenceNode):
            entries = tuple(self.located(entry, depth=depth + 1) for entry in node.value)
            return Located(content=entries, place=place)
        assert isinstance(node, yaml.ScalarNode)
        is_null = node.tag == "tag:yaml.org,2002:null"  # in quotes it would be a str
        return Located(content=None if is_null else str(node.value), place=place)

    def _mapping(self, node: "yaml.MappingNode", depth: int) -> dict[str, Entry]:
        content: dict[str, Entry] = {}
        for key, place in self._keys(node):
            if key in content:
                first = content[key].key_place
                raise _invalid(place, f"{key!r} stands twice; the first is on line {first.line}")
            value = self.located(node.value[len(content)][1], depth=depth + 1)
            content[key] = Entry(key_place=place, value=value)
        return content

    def _keys(self, node: "yaml.MappingNode") -> Iterator[tuple[str, Place]]:
        for key_node, _ in node.value:
            place = _place(self._name, key_node.start_mark)
            if not isinstance(key_node.value, str):
                raise _invalid(place, "a key is plain text")
            yield key_node.value, place


def _place(name: str, mark: "yaml.Mark | None" = None) -> Place:
    if mark is None:
        return Place(origin=Origin.FILE, name=name)
    return Place(origin=Origin.FILE, name=name, line=mark.line + 1, column=mark.column + 1)


def _explained(error: "yaml.MarkedYAMLError") -> str:
    parts = (error.context, error.problem)
    reason = "not YAML: " + ", ".join(part for part in parts if part)
    if "flow" in reason:
        # The commonest cause here: {password: ${env:X}} reads as a mapping within a mapping.
        reason += '; inside { } and [ ], write a reference in quotes: "${env:NAME}"'
    return reason


def _invalid(place: Place, reason: str) -> SettingsInvalid:
    return SettingsInvalid([Problem(place=place, setting=None, shown=None, reason=reason)])
