"""Compiles a declaration into the source of a writer.

Names in the source: ``m`` the message, ``out`` the bytes so far, ``parts`` all buffers, ``x…``
values and structs, ``f…`` whether a tagged field is written, ``o…`` its bytes, ``n`` scratch.
"""

import struct as struct_module
from collections.abc import Iterator
from contextlib import contextmanager

from . import primitives
from .primitives import SMALL_ARRAY, STRING_BYTES_MAX
from .schema import (
    BoundField,
    Kind,
    Message,
    WireStruct,
    fields_of,
    inflexible_string,
    is_array,
    string,
    struct,
)
from .source import FIXED, NUMBERS, Lines, Source, name_of_codes, step_name


def writer_source(cls: type[Message], version: int) -> Source:
    """Source of ``run(m, out) -> parts``: all buffers in order, the first being ``out`` itself."""
    return _Writer(version, flexible=version in cls.FLEXIBLE).build(cls)


class _Writer(Lines):
    """Writes down how to write. ``pending`` holds (struct code, expression)."""

    def __init__(self, version: int, *, flexible: bool) -> None:
        super().__init__(version, flexible)
        self.names.update(
            uvarint=primitives.write_uvarint,
            V=primitives.VARINTS,
            WireProblem=primitives.WireProblem,
        )
        self.out = "out"

    def build(self, cls: type[Message]) -> Source:
        self.line("parts = [out]")
        self.write_struct(cls, "m")
        self.flush()
        self.line("return parts")
        return self.source("def run(m, out):")

    def write_struct(self, cls: type[WireStruct], holder: str) -> None:
        self.refuse_lost(cls, holder)
        for bound in self.regular(cls):
            with self.inside(step_name(bound)):
                self.write_field(bound, f"{holder}.{bound.name}")
        if self.flexible:
            self.write_tags(self.tagged(cls), holder)

    def refuse_lost(self, cls: type[WireStruct], holder: str) -> None:
        """Refuses a value that this version cannot carry, unless its loss does no harm."""
        for bound in fields_of(cls):
            if self.version in bound.wire.versions or bound.wire.ignorable:
                continue
            with self.inside(bound.name):
                test = self.is_set(bound, f"{holder}.{bound.name}")
                self.line(
                    f"if {test}: raise WireProblem('does not exist in version {self.version}')"
                )

    def is_set(self, bound: BoundField, value: str) -> str:
        """An expression: *value* differs from the default."""
        default = bound.default()
        if default is None:
            return f"{value} is not None"
        if isinstance(default, bool):
            return f"not {value}" if default else value
        if isinstance(default, WireStruct):
            return f"{value} != {self.name(default, 'D')}"
        return f"{value} != {default!r}"

    def write_field(self, bound: BoundField, value: str) -> None:
        kind = bound.wire.kind
        if kind.name in FIXED:
            self.write_fixed(kind, value)
        elif kind is struct:
            self.write_nested(bound, value)
        elif is_array(bound.wire):
            self.write_array(bound, value)
        elif kind is inflexible_string:
            with self.inflexible():
                self.write_text(string, value, nullable=self.nullable(bound))
        else:
            self.write_text(kind, value, nullable=self.nullable(bound))

    def write_fixed(self, kind: Kind, value: str) -> None:
        if kind.name == "uuid":
            self.line(f"if len({value}) != 16: raise WireProblem('is not 16 bytes')")
        self.pend(FIXED[kind.name][0], value)

    def write_nested(self, bound: BoundField, value: str) -> None:
        assert bound.struct_class is not None
        if not self.nullable(bound):
            self.write_struct(bound.struct_class, self.held(value))
            return
        null = bytes(1) if bound.wire.tag is not None else b"\xff"
        self.flush()
        held = self.held(value)
        with self.block(f"if {held} is None:"):
            self.line(f"{self.out} += {null!r}")
        with self.block("else:"):
            self.pend("b", "1")
            self.write_struct(bound.struct_class, held)
            self.flush()

    def held(self, value: str) -> str:
        name = self.fresh("x")
        self.line(f"{name} = {value}")
        return name

    def write_length(self, code: str, length: str) -> None:
        """Writes *length* and flushes."""
        if not self.flexible:
            self.pend(code, length)
            self.flush()
            return
        self.flush()
        self.line(f"n = {length} + 1")
        self.line(f"{self.out} += V[n] if n < 128 else uvarint(n)")

    @contextmanager
    def unless_null(self, value: str, code: str, *, nullable: bool) -> Iterator[None]:
        """The block that writes a value which may be null in this version."""
        if not nullable:
            yield
            return
        self.flush()
        null = b"\0" if self.flexible else struct_module.pack(f">{code}", -1)
        with self.block(f"if {value} is None:"):
            self.line(f"{self.out} += {null!r}")
        with self.block("else:"):
            yield
            self.flush()

    def write_text(self, kind: Kind, value: str, *, nullable: bool) -> None:
        held = self.held(value)
        code = "h" if kind.name == "string" else "i"
        with self.unless_null(held, code, nullable=nullable):
            if kind.name == "string":
                self.line(f"{held} = {held}.encode()")
                if self.flexible:
                    self.line(
                        f"if len({held}) > {STRING_BYTES_MAX}: "
                        f"raise WireProblem('is longer than {STRING_BYTES_MAX} bytes')"
                    )
            self.write_length(code, f"len({held})")
            if kind.name == "records":
                self.line(f"parts.append({held})")
                self.line("out = bytearray()")
                self.line("parts.append(out)")
            else:
                self.line(f"{self.out} += {held}")

    def write_array(self, bound: BoundField, value: str) -> None:
        element = bound.wire.element
        assert element is not None
        held = self.held(value)
        with self.unless_null(held, "i", nullable=self.nullable(bound)):
            if element.name in NUMBERS:
                self.write_numbers(held, FIXED[element.name][0])
            else:
                self.write_length("i", f"len({held})")
                self.write_elements(held, bound, element)

    def write_numbers(self, held: str, code: str) -> None:
        self.flush()
        length_code, extra = ("B", " + 1") if self.flexible else ("i", "")
        packers = f"L{length_code}{code}"
        self.names[packers] = primitives.array_packers(length_code, code)
        self.names["pack"] = struct_module.pack
        long = "uvarint(n + 1)" if self.flexible else "pack('>i', n)"
        self.line(f"n = len({held})")
        self.line(
            f"{self.out} += {packers}[n](n{extra}, *{held}) if n < {SMALL_ARRAY} "
            f"else {long} + pack(f'>{{n}}{code}', *{held})"
        )

    def write_elements(self, held: str, bound: BoundField, element: Kind) -> None:
        item = self.fresh("x")
        with self.block(f"for {item} in {held}:"):
            if element is struct:
                assert bound.struct_class is not None
                self.write_struct(bound.struct_class, item)
            elif element.name in FIXED:
                self.write_fixed(element, item)
            else:
                self.write_text(element, item, nullable=False)
            if not self.pending and not self.lines[-1].startswith("    " * self.depth):
                self.line("pass")
            self.flush()

    def write_tags(self, known: list[BoundField], holder: str) -> None:
        if not known:
            self.pend("x", "")
            return
        self.flush()
        tests = [self.is_set(bound, f"{holder}.{bound.name}") for bound in known]
        flags = [self.fresh("f") for _ in known]
        for bound, flag, test in zip(known, flags, tests, strict=True):
            with self.inside(bound.name):
                self.line(f"{flag} = {test}")
        with self.block(f"if {' or '.join(flags)}:"):
            self.line(f"{self.out} += uvarint({' + '.join(f'bool({flag})' for flag in flags)})")
            for bound, flag in zip(known, flags, strict=True):
                with self.inside(step_name(bound)), self.block(f"if {flag}:"):
                    self.write_tag(bound, f"{holder}.{bound.name}")
        self.line(f"else: {self.out} += {bytes(1)!r}")

    def write_tag(self, bound: BoundField, value: str) -> None:
        assert bound.wire.tag is not None
        outer, self.out = self.out, self.fresh("o")
        self.line(f"{self.out} = bytearray()")
        self.write_field(bound, value)
        self.flush()
        tag = primitives.write_uvarint(bound.wire.tag)
        self.line(f"{outer} += {tag!r} + uvarint(len({self.out}))")
        self.line(f"{outer} += {self.out}")
        self.out = outer

    def flush(self) -> None:
        if not self.pending:
            return
        codes, values, owner = self.take_pending()
        if codes == "x":
            self.line(f"{self.out} += {bytes(1)!r}")
        else:
            name = name_of_codes("P", codes)
            self.names[name] = struct_module.Struct(f">{codes}").pack
            given = ", ".join(value for value in values if value)
            self.line(f"{self.out} += {name}({given})", owner)
