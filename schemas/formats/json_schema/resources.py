"""Where a ``$ref`` leads: inside the document, to a part with its own ``$id``, or to a reference.

Nothing is ever fetched: what a schema needs is in it or among its references.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urldefrag, urljoin

from .drafts import Draft, draft_of
from .text import Json

_DATA_KEYWORDS: Final = frozenset({"const", "default", "enum", "examples"})
"""What stands under these is data: an ``$id`` in it names nothing."""


@dataclass(eq=False, slots=True)
class Resource:
    """A schema that a URI names, with everything in it that no other URI names."""

    uri: str
    root: Json
    draft: Draft
    anchors: dict[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A schema and the resource against which its references are resolved."""

    schema: Json
    resource: Resource


class Resources:
    """Everything that the references of one schema can reach."""

    def __init__(self, root: Json, references: Mapping[str, Json]) -> None:
        """*references* are documents by the names that ``$ref``s use for them."""
        self._by_uri: dict[str, Resource] = {}
        self._by_object: dict[int, Resource] = {}  # by id(): every object lives as long as we do
        draft = draft_of(root)
        self.root = Place(root, self._add("", root, draft))
        for name, document in references.items():
            uri = joined(self.root.resource.uri, name)
            resource = self._add(uri, document, draft_of(document, default=draft))
            self._by_uri.setdefault(name, resource)
            self._by_uri.setdefault(uri, resource)

    def resource_of(self, schema: Json, otherwise: Resource) -> Resource:
        """The resource that *schema* lies in; *otherwise* where none claims it, as for booleans."""
        return self._by_object.get(id(schema), otherwise)

    def find(self, reference: str, start: Resource) -> Place | None:
        """The schema that *reference*, seen in *start*, leads to; None where there is none."""
        address, fragment = _split(reference)
        resource: Resource | None = start
        if address:
            whole = joined(start.uri, address)
            resource = self._by_uri.get(whole) or self._by_uri.get(address)
            if resource is None:
                resource = self._by_uri.get(address.removeprefix("./"))
        if resource is None:
            return None
        if fragment and not fragment.startswith("/"):
            anchored = resource.anchors.get(fragment)
            return None if anchored is None else self._place(anchored, resource)
        return self._at_pointer(resource, fragment)

    def _at_pointer(self, resource: Resource, pointer: str) -> Place | None:
        value = resource.root
        for token in pointer.split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and _is_index(key) and int(key) < len(value):
                value = value[int(key)]
            else:
                return None
        return self._place(value, resource) if isinstance(value, (dict, bool)) else None

    def _place(self, schema: Json, resource: Resource) -> Place:
        return Place(schema, self.resource_of(schema, resource))

    def _add(self, uri: str, document: Json, draft: Draft) -> Resource:
        """Claim every object of *document*, splitting it where an ``$id`` begins a resource."""
        top = Resource(uri, document, draft)
        self._by_uri.setdefault(uri, top)
        todo: list[tuple[Json, Resource]] = [(document, top)]
        while todo:
            value, resource = todo.pop()
            if isinstance(value, list):
                todo.extend((item, resource) for item in value)
            elif isinstance(value, dict):
                inside = self._claim(value, resource)
                todo.extend(
                    (child, inside) for key, child in value.items() if key not in _DATA_KEYWORDS
                )
        return self._by_object.get(id(document), top)

    def _claim(self, schema: dict[str, Json], outer: Resource) -> Resource:
        resource = outer
        named = schema.get(outer.draft.id_keyword)
        # Up to draft 7 what stands beside $ref does not count, and "#name" is an anchor.
        is_shadowed = "$ref" in schema and not outer.draft.is_modern
        if isinstance(named, str) and not is_shadowed:
            address, fragment = _split(named)
            if address:
                resource = Resource(joined(outer.uri, address), schema, outer.draft)
                self._by_uri.setdefault(resource.uri, resource)
            if fragment:
                resource.anchors.setdefault(fragment, schema)
        for keyword in ("$anchor", "$dynamicAnchor"):
            anchor = schema.get(keyword)
            if isinstance(anchor, str) and outer.draft.is_modern:
                resource.anchors.setdefault(anchor, schema)
        self._by_object[id(schema)] = resource
        return resource


def _split(reference: str) -> tuple[str, str]:
    """Address and decoded fragment; what is no URL at all is all address."""
    try:
        address, fragment = urldefrag(reference)
    except ValueError:
        return reference, ""
    return address, unquote(fragment)


def joined(base: str, address: str) -> str:
    """*address* against *base*; what is no URL stays as it is."""
    try:
        return urljoin(base, address)
    except ValueError:
        return address


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdigit() and len(key) < 10
