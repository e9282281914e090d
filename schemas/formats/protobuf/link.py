"""A schema with the files that it uses: which there are, in which order, under which names.

The files are the references, the known files that any of them imports, and the known files whose
types are named without an import, which Confluent's registry allows. An import of a file that is
not there is no error here: what matters is whether the names resolve.
"""

from collections.abc import Iterable, Iterator, Mapping

from ..contract import InvalidSchema
from .elements import Extend, Field, Group, Message, Oneof, ProtoFile, Rpc, Service
from .known import KNOWN_PATHS, known_file, known_path_of
from .parser import SCALAR_TYPES
from .scope import MAIN, Scope, candidates, joined

FILES_MAX = 1000
"""References that one schema may have, direct or not."""


def link(file: ProtoFile, references: Mapping[str, ProtoFile]) -> Scope:
    """The names that *file* can use.

    ``Scope.files`` has each file after those that it imports, *file* itself last. Raises
    InvalidSchema for files that import each other in a circle and for more than FILES_MAX.
    """
    if len(references) > FILES_MAX:
        raise InvalidSchema(f"{len(references)} references; {FILES_MAX} are the most")
    files = {**references, MAIN: file}
    scope = Scope(_ordered(files, ()))
    missing = {
        path
        for one in files.values()
        for name, inside in used_types(one)
        if scope.resolve(name, inside) is None
        for path in [_known_path(name, inside)]
        if path is not None
    }
    return Scope(_ordered(files, sorted(missing))) if missing else scope


def used_types(file: ProtoFile) -> Iterator[tuple[str, str]]:
    """Each name of a type that *file* uses, with the scope where it is used."""
    yield from _used(file.body, file.package)


def _used(body: Iterable[object], scope: str) -> Iterator[tuple[str, str]]:
    for member in body:
        if isinstance(member, Field) and member.type not in SCALAR_TYPES:
            yield member.type, scope
        elif isinstance(member, Message | Group):
            yield from _used(member.body, joined(scope, member.name))
        elif isinstance(member, Oneof | Service):
            yield from _used(member.body, scope)
        elif isinstance(member, Extend):
            yield member.name, scope
            yield from _used(member.body, scope)
        elif isinstance(member, Rpc):
            yield member.request, scope
            yield member.response, scope


def _known_path(name: str, scope: str) -> str | None:
    for candidate in candidates(name, scope):
        if (path := known_path_of(candidate)) is not None:
            return path
    return None


def _ordered(files: Mapping[str, ProtoFile], first: Iterable[str]) -> dict[str, ProtoFile]:
    """*files* and the known ones they import, each after what it imports; *first* before all."""
    ordered: dict[str, ProtoFile] = {}
    open_paths: set[str] = set()
    roots = [*first, *(path for path in files if path != MAIN), MAIN]
    # An explicit stack: a chain of references may be longer than the interpreter's.
    stack = [(path, False) for path in reversed(roots)]
    while stack:
        path, is_done = stack.pop()
        if is_done:
            open_paths.discard(path)
            ordered[path] = files[path] if path in files else known_file(path)
            continue
        if path in ordered:
            continue
        if path in open_paths:
            raise InvalidSchema(f"{path or 'the schema'!r} imports itself through others")
        if path not in files and path not in KNOWN_PATHS:
            continue
        open_paths.add(path)
        stack.append((path, True))
        file = files[path] if path in files else known_file(path)
        stack.extend((used.path, False) for used in reversed(file.imports))
    return ordered
