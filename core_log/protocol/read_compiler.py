"""Compiles a declaration into the source of a reader.

Names in the source: ``b`` data, ``p`` position, ``end`` its bound, ``left`` the element budget,
``v…`` values, ``n`` and ``e`` scratch.
"""

import struct as struct_module

from . import primitives
from .primitives import SMALL_ARRAY, STRING_BYTES_MAX
from .schema import (
    BoundField,
    Kind,
    Message,
    WireStruct,
    inflexible_string,
    is_array,
    string,
    struct,
)
from .source import FIXED, NUMBERS, Lines, Source, length_size, name_of_codes, size_min, step_name


def reader_source(cls: type[Message], version: int, *, views: bool) -> Source:
    """Source of ``run(b, p, left) -> (message, position behind it)``.

    With *views* ``b`` is a memoryview, else bytes.
    """
    return _Reader(version, views=views, flexible=version in cls.FLEXIBLE).build(cls)


class _Reader(Lines):
    """Writes down how to read. ``pending`` holds (struct code, variable)."""

    def __init__(self, version: int, *, views: bool, flexible: bool) -> None:
        super().__init__(version, flexible)
        self.views = views
        self.names.update(
            uvarint=primitives.read_uvarint,
            skip_tags=primitives.skip_tags,
            WireProblem=primitives.WireProblem,
            TooManyElements=primitives.TooManyElements,
        )

    def build(self, cls: type[Message]) -> Source:
        self.line("end = len(b)")
        made = self.read_struct(cls)
        self.flush()
        self.line(f"return {made}, p")
        return self.source("def run(b, p, left):")

    def read_struct(self, cls: type[WireStruct]) -> str:
        """Reads a struct's fields; the result is the expression that makes it."""
        values = [(bound.name, self.read_field(bound)) for bound in self.regular(cls)]
        if self.flexible:
            values += self.read_tags(self.tagged(cls))
        given = ", ".join(f"{name}={value}" for name, value in values)
        return f"{self.name(cls, 'C')}({given})"

    def read_field(self, bound: BoundField) -> str:
        with self.inside(step_name(bound)):
            kind = bound.wire.kind
            if kind.name in FIXED:
                value = self.fresh("v")
                self.pend(FIXED[kind.name][0], value)
                return value
            if kind is struct:
                return self.read_nested(bound)
            if is_array(bound.wire):
                return self.read_array(bound)
            if kind is inflexible_string:
                with self.inflexible():
                    return self.read_text(string, nullable=self.nullable(bound))
            return self.read_text(kind, nullable=self.nullable(bound))

    def read_nested(self, bound: BoundField) -> str:
        assert bound.struct_class is not None
        if not self.nullable(bound):
            return self.read_struct(bound.struct_class)
        value = self.fresh("v")
        present = "n > 0" if bound.wire.tag is not None else "n >= 0"
        self.pend("b", "n")
        self.flush()
        with self.block(f"if {present}:"):
            made = self.read_struct(bound.struct_class)
            self.flush()
            self.line(f"{value} = {made}")
        self.line(f"else: {value} = None")
        return value

    def read_length(self, code: str, size_max: int | None = None) -> None:
        """Leaves the length in ``n``, -1 for null."""
        if not self.flexible:
            self.pend(code, "n")
            self.flush()
            return
        self.pend("B", "n")
        self.flush()
        with self.block("if n > 127:"):
            self.line("n, p = uvarint(b, p - 1)")
            if size_max is not None:
                self.line(f"if n > {size_max + 1}: raise WireProblem('is longer than {size_max}')")
        self.line("n -= 1")

    def or_null(self, value: str, *, nullable: bool) -> None:
        """What follows a block for lengths from 0 on."""
        if nullable:
            self.line(f"elif n == -1: {value} = None")
            self.line("else: raise WireProblem(f'has the length {n}')")
        else:
            self.line("else: raise WireProblem('is null' if n == -1 else f'has the length {n}')")

    def read_text(self, kind: Kind, *, nullable: bool) -> str:
        value = self.fresh("v")
        if kind.name == "string":
            self.read_length("h", STRING_BYTES_MAX)
        else:
            self.read_length("i")
        taken = {
            "string": "str(b[p:e], 'utf-8')" if self.views else "b[p:e].decode()",
            "bytes": "bytes(b[p:e])" if self.views else "b[p:e]",
            "records": "b[p:e]",
        }[kind.name]
        with self.block("if n >= 0:"):
            self.line("e = p + n")
            self.line("if e > end: raise WireProblem('ends early')")
            self.line(f"{value} = {taken}")
            self.line("p = e")
        self.or_null(value, nullable=nullable)
        return value

    def read_array(self, bound: BoundField) -> str:
        value = self.fresh("v")
        element = bound.wire.element
        assert element is not None
        self.read_length("i")
        with self.block("if n >= 0:"):
            self.line(
                f"if n * {self.element_size_min(bound, element)} > end - p: "
                "raise WireProblem(f'announces {n} elements, more than there is room for')"
            )
            self.line("left -= n")
            self.line("if left < 0: raise TooManyElements")
            if element.name in NUMBERS:
                self.read_numbers(value, *FIXED[element.name])
            else:
                self.read_elements(value, bound, element)
        self.or_null(value, nullable=self.nullable(bound))
        return value

    def element_size_min(self, bound: BoundField, element: Kind) -> int:
        if element is struct:
            assert bound.struct_class is not None
            return size_min(bound.struct_class, self.version, flexible=self.flexible)
        if element.name in FIXED:
            return FIXED[element.name][1]
        return 1 if self.flexible else length_size(element)

    def read_numbers(self, value: str, code: str, size: int) -> None:
        self.names[f"A{code}"] = primitives.array_unpackers(code)
        self.names["unpack_from"] = struct_module.unpack_from
        self.line(
            f"{value} = list(A{code}[n](b, p) if n < {SMALL_ARRAY} "
            f"else unpack_from(f'>{{n}}{code}', b, p))"
        )
        self.line(f"p += n * {size}")

    def read_elements(self, value: str, bound: BoundField, element: Kind) -> None:
        self.line(f"{value} = []")
        with self.block("for _ in range(n):"):
            if element is struct:
                assert bound.struct_class is not None
                made = self.read_struct(bound.struct_class)
            elif element.name in FIXED:
                made = self.fresh("v")
                self.pend(FIXED[element.name][0], made)
            else:
                made = self.read_text(element, nullable=False)
            self.flush()
            self.line(f"{value}.append({made})")

    def read_tags(self, known: list[BoundField]) -> list[tuple[str, str]]:
        self.pend("B", "n")
        self.flush()
        values = []
        for bound in known:
            value = self.fresh("v")
            values.append((bound.name, value))
            self.line(f"{value} = {self.default(bound)}")
        with self.block("if n:"):
            self.line("if n > 127: n, p = uvarint(b, p - 1)")
            self.line("left -= n")
            self.line("if left < 0: raise TooManyElements")
            if known:
                with self.block("for _ in range(n):"):
                    self.read_known_tags(known, dict(values))
            else:
                self.line("p = skip_tags(b, p, n)")
        return values

    def read_known_tags(self, known: list[BoundField], values: dict[str, str]) -> None:
        tag, behind = self.fresh("t"), self.fresh("e")
        self.line(f"{tag}, p = uvarint(b, p)")
        self.line("n, p = uvarint(b, p)")
        self.line(f"{behind} = p + n")
        self.line(f"if {behind} > end: raise WireProblem('ends early')")
        word = "if"
        for bound in known:
            with self.block(f"{word} {tag} == {bound.wire.tag}:"):
                value = self.read_field(bound)
                self.flush()
                self.line(f"{values[bound.name]} = {value}")
                with self.inside(bound.name):
                    self.line(
                        f"if p != {behind}: raise WireProblem('has a size that is not its own')"
                    )
            word = "elif"
        self.line(f"else: p = {behind}")

    def default(self, bound: BoundField) -> str:
        """An expression for the value of a field that was left out."""
        value = bound.default()
        if value == []:
            return "[]"
        if isinstance(value, WireStruct):
            return f"{self.name(type(value), 'C')}()"
        return repr(value)

    def flush(self) -> None:
        if not self.pending:
            return
        codes, targets, owner = self.take_pending()
        if codes == "B":
            self.line(f"{targets[0]} = b[p]", owner)
            self.line("p += 1")
        else:
            unpack = struct_module.Struct(f">{codes}")
            name = name_of_codes("S", codes)
            self.names[name] = unpack.unpack_from
            self.line(f"({', '.join(targets)},) = {name}(b, p)", owner)
            self.line(f"p += {unpack.size}")
