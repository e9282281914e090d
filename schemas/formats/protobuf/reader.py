"""Tokens taken one by one with the reason when they are not what must come.

What the parsers of declarations and of options share.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

from ..contract import InvalidSchema
from .lexer import Lexer, TokenKind

NESTING_MAX: Final = 32
"""Messages in messages and values in values: protoc's own bound for messages."""
NAME_PARTS_MAX: Final = 32
"""Names between dots; looking for a name costs as many steps."""
DIGITS_MAX: Final = 40
"""No type holds more than 22; Python refuses to print thousands, and reads them slowly."""


class Reader:
    """A lexer with expectations. Every ``Raises`` here is InvalidSchema with line and column."""

    def __init__(self, text: str) -> None:
        self._lexer = Lexer(text)
        self._depth = 0

    @property
    def at(self) -> int:
        """Offset of the present token."""
        return self._lexer.at

    @property
    def kind(self) -> TokenKind:
        """Kind of the present token."""
        return self._lexer.kind

    @property
    def text(self) -> str:
        """The present token as written."""
        return self._lexer.text

    def fail(self, reason: str, *, at: int | None = None) -> NoReturn:
        """Raise InvalidSchema for *reason* at offset *at*, or at the present token."""
        raise InvalidSchema(reason, place=self._lexer.place(at))

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Bound how deep the text goes; recursion follows it."""
        if self._depth == NESTING_MAX:
            self.fail(f"nested more than {NESTING_MAX} deep")
        self._depth += 1
        yield
        self._depth -= 1

    def looks_at(self, word: str) -> bool:
        """Whether the present token is *word*, a keyword or a symbol."""
        return self._lexer.text == word

    def accept(self, word: str) -> bool:
        """Whether the present token was *word*; it is taken then."""
        if self._lexer.text != word:
            return False
        self._lexer.advance()
        return True

    def expect(self, word: str) -> None:
        """Take *word*. Raises when something else is there."""
        if not self.accept(word):
            self.fail(f"expected {word!r}, found {self.found()}")

    def identifier(self, what: str) -> str:
        """Take an identifier, *what* it names. Raises when something else is there."""
        if self._lexer.kind is not TokenKind.IDENTIFIER:
            self.fail(f"expected {what}, found {self.found()}")
        return self.take()

    def take(self) -> str:
        """Take whatever is there, as written."""
        text = self._lexer.text
        self._lexer.advance()
        return text

    def full_name(self, what: str, *, may_lead_with_dot: bool = False) -> str:
        """Take ``a.b.C``, or ``.a.b.C`` where that is allowed."""
        parts = [""] if may_lead_with_dot and self.accept(".") else []
        parts.append(self.identifier(what))
        while self.accept("."):
            parts.append(self.identifier(what))
            if len(parts) > NAME_PARTS_MAX:
                self.fail(f"{what} has more than {NAME_PARTS_MAX} parts")
        return ".".join(parts)

    def integer(self, what: str, *, most: int, least: int = 0) -> int:
        """Take a whole number in [least, most]; a minus only where *least* is below 0."""
        at = self.at
        is_negative = least < 0 and self.accept("-")
        if self.kind is not TokenKind.INTEGER:
            self.fail(f"expected {what}, found {self.found()}")
        value = whole_number(self.text)
        if value is None:
            self.fail(f"{self.text} is no octal number", at=at)
        value = -value if is_negative else value
        if not least <= value <= most:
            self.fail(f"{what} is {value}, outside {least} to {most}", at=at)
        self._lexer.advance()
        return value

    def string(self, what: str, *, may_be_bytes: bool = False) -> str:
        """Take a string, or several that stand side by side and make one.

        Bytes that are no UTF-8 become lone surrogates, as ``surrogateescape`` does, where they
        are allowed. Raises when they are not, or when something else is there.
        """
        at = self.at
        parts = []
        while self.kind is TokenKind.STRING:
            parts.append(self._lexer.unquoted())
            self._lexer.advance()
        if not parts:
            self.fail(f"expected {what} in quotes, found {self.found()}")
        text = b"".join(parts).decode("utf-8", "surrogateescape")
        if not may_be_bytes and not is_text(text):
            self.fail(f"{what} is no UTF-8", at=at)
        return text

    def found(self) -> str:
        """The present token for an error message."""
        return "end of file" if self.kind is TokenKind.END else repr(self.text[:40])


def is_text(text: str) -> bool:
    """Whether *text* was UTF-8, without lone surrogates."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def whole_number(text: str) -> int | None:
    """What ``017``, ``0x1F`` or ``31`` stands for; None for an octal with an 8 or a 9.

    More than DIGITS_MAX digits are one number past every bound.
    """
    if text[0] == "0" and text[1:].isdigit() and set(text) & {"8", "9"}:
        return None
    if len(text) > DIGITS_MAX:
        return int("9" * DIGITS_MAX)
    if text[:2] in ("0x", "0X"):
        return int(text, 16)
    return int(text, 8 if text[0] == "0" else 10)
