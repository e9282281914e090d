r"""The words of a ``.proto`` file, one at a time.

Source: "Protocol Buffers Version 2/3 Language Specification", *Lexical elements*, and protoc's
tokenizer where the page is silent (``\?``, ``\u``, a suffix ``f`` in the text format).
"""

import re
from enum import Enum, auto
from typing import Final

from ..contract import InvalidSchema


class TokenKind(Enum):
    """What a token is; SYMBOL is one character."""

    IDENTIFIER = auto()
    INTEGER = auto()
    FLOAT = auto()
    STRING = auto()
    SYMBOL = auto()
    END = auto()


# Possessive throughout: text of strangers must not make the matcher try again what it has matched.
_SKIPPED: Final = re.compile(r"(?:[ \t\r\n\f\v]++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_TOKEN: Final = re.compile(
    r"""
      (?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<FLOAT>(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fF]?
               |[0-9]+[eE][+-]?[0-9]+[fF]?|[0-9]+[fF](?![A-Za-z0-9_]))
    | (?P<INTEGER>0[xX][0-9A-Fa-f]+|[0-9]+)
    | (?P<STRING>"(?:[^"\\\n\x00]|\\[^\n\x00])*"|'(?:[^'\\\n\x00]|\\[^\n\x00])*')
    | (?P<SYMBOL>[!-/:-@\[-`{-~])
    """,
    re.VERBOSE,
)
_ESCAPE: Final = re.compile(
    rb"\\(?:([0-7]{1,3})|[xX]([0-9A-Fa-f]{1,2})"
    rb"|u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})"  # a pair makes one character
    rb"|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))",
    re.DOTALL,
)
_SIMPLE_ESCAPES: Final = {
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
    b"\\": b"\\",
    b"'": b"'",
    b'"': b'"',
    b"?": b"?",
}
_KINDS: Final = {kind.name: kind for kind in TokenKind}


class Lexer:
    """A cursor over *text*: the token at it is ``kind``, ``text`` and ``at``, its offset."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 1 if text.startswith("\ufeff") else 0  # a byte order mark is no token
        self.kind = TokenKind.END
        self.text = ""
        self.at = 0
        self.advance()

    def advance(self) -> None:
        """Go to the next token; at the end it stays END with an empty text.

        Raises InvalidSchema at what can begin no token.
        """
        skipped = _SKIPPED.match(self._text, self._end)
        self.at = self._end if skipped is None else skipped.end()
        if self.at == len(self._text):
            self.kind, self.text, self._end = TokenKind.END, "", self.at
            return
        match = _TOKEN.match(self._text, self.at)
        if match is None or match.lastgroup is None:
            raise self._untokenizable()
        self.kind, self.text, self._end = _KINDS[match.lastgroup], match.group(), match.end()
        if self.text in ('"', "'"):
            raise InvalidSchema("string is not closed on its line", place=self.place())
        if self.kind is TokenKind.SYMBOL and self._text.startswith("/*", self.at):
            raise InvalidSchema("comment is not closed", place=self.place())
        if self._runs_into_a_word():
            raise InvalidSchema(f"no space between {self.text!r} and a word", place=self.place())

    def place(self, at: int | None = None) -> str:
        """Line and column, from 1, of offset *at*; of the present token without it."""
        return place_in(self._text, self.at if at is None else at)

    def unquoted(self) -> bytes:
        """The bytes that the present STRING stands for. Raises InvalidSchema at a bad escape."""
        raw = self.text[1:-1].encode("utf-8", "surrogatepass")
        if b"\\" not in raw:
            return raw
        return _ESCAPE.sub(self._unescaped, raw)

    def _unescaped(self, match: re.Match[bytes]) -> bytes:
        octal, hexadecimal, high, low, short, long, simple = match.groups()
        if octal is not None:
            return bytes([int(octal, 8) & 0xFF])
        if hexadecimal is not None:
            return bytes([int(hexadecimal, 16)])
        if simple is not None:
            if simple not in _SIMPLE_ESCAPES:
                raise InvalidSchema("unknown escape in string", place=self.place())
            return _SIMPLE_ESCAPES[simple]
        if high is not None:
            return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00).encode()
        point = int(short or long, 16)
        if point > 0x10FFFF:
            raise InvalidSchema("escape is past the last code point", place=self.place())
        return chr(point).encode("utf-8", "surrogatepass")

    def _runs_into_a_word(self) -> bool:
        if self.kind not in (TokenKind.INTEGER, TokenKind.FLOAT):
            return False
        following = self._text[self._end : self._end + 1]
        return following.isascii() and (following.isalnum() or following == "_")

    def _untokenizable(self) -> InvalidSchema:
        character = self._text[self.at]
        return InvalidSchema(f"unexpected character {character!r}", place=self.place())


def place_in(text: str, at: int) -> str:
    """Line and column, from 1, of offset *at* in *text*."""
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    return f"line {line}, column {column}"
