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
# Without a group of the second part the text is at its end, or broken.
_TOKEN: Final = re.compile(
    r"""
    (?:[ \t\r\n\f\v]++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+
    (?:
      (?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*+)
    | (?P<FLOAT>(?:(?:[0-9]++\.[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+[fF]?
                  |[0-9]++[eE][+-]?[0-9]++[fF]?|[0-9]++[fF])(?![A-Za-z0-9_]))
    | (?P<INTEGER>(?:0[xX][0-9A-Fa-f]++|[0-9]++)(?![A-Za-z0-9_]))
    | (?P<STRING>"(?:[^"\\\n\x00]|\\[^\n\x00])*+"|'(?:[^'\\\n\x00]|\\[^\n\x00])*+')
    | (?P<SYMBOL>(?!/\*|[0-9"'])[!-/:-@\[-`{-~])
    )?
    """,
    re.VERBOSE,
)
_NUMBER: Final = re.compile(r"0[xX][0-9A-Fa-f]+|[0-9.]+(?:[eE][+-]?[0-9]+)?")
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
        match = _TOKEN.match(self._text, self._end)
        assert match is not None  # nothing at all matches too
        group = match.lastgroup
        self._end = match.end()
        if group is not None:
            self.kind, self.text, self.at = _KINDS[group], match[group], match.start(group)
            return
        self.kind, self.text, self.at = TokenKind.END, "", self._end
        if self._end < len(self._text):
            raise self._untokenizable()

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

    def _untokenizable(self) -> InvalidSchema:
        character = self._text[self.at]
        number = _NUMBER.match(self._text, self.at)
        if number is not None:
            reason = f"no space between {number.group()[:40]!r} and a word"
        elif character in ("'", '"'):
            reason = "string is not closed on its line"
        elif character == "/":
            reason = "comment is not closed"
        else:
            reason = f"unexpected character {character!r}"
        return InvalidSchema(reason, place=self.place())


def place_in(text: str, at: int) -> str:
    """Line and column, from 1, of offset *at* in *text*."""
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    return f"line {line}, column {column}"
