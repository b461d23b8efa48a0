"""Finds what is wrong with a text that is not JSON, in the words of Go's encoding/json (scanner.go)."""

from collections.abc import Iterator
from typing import Final

UNEXPECTED_END: Final = "unexpected end of JSON input"
_SPACE: Final = b" \t\r\n"
_DIGITS: Final = b"0123456789"
_HEX: Final = b"0123456789abcdefABCDEF"
_ESCAPES: Final = b'bfnrt\\/"'
_LITERALS: Final = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}
_CLOSING: Final = {ord("{"): ord("}"), ord("["): ord("]")}


class _SyntaxFault(Exception):
    """The error of a text that is no JSON. The message is Go's."""


class _Text:
    """The bytes of a text, read from the start to the end."""

    def __init__(self, data: bytes, *, is_utf8: bool) -> None:
        self._data = data
        self._position = 0
        self._is_utf8 = is_utf8

    def peek(self) -> int | None:
        return self._data[self._position] if self._position < len(self._data) else None

    def take(self, allowed: bytes, context: str) -> int:
        """Return the next byte. Raises _SyntaxFault if it is none of ``allowed`` (b"" = any)."""
        byte = self.peek()
        if byte is None:
            raise _SyntaxFault(UNEXPECTED_END)
        if allowed and byte not in allowed:
            raise _SyntaxFault(f"invalid character {self.quoted(byte)} {context}")
        self._position += 1
        return byte

    def quoted(self, byte: int) -> str:
        """Return the next byte, or the character that begins with it, as Go writes it."""
        if not self._is_utf8 or byte < 0x80:
            return _quoted(byte)
        character = self._data[self._position : self._position + 4].decode(errors="ignore")[:1]
        known = character.encode() == self._data[self._position : self._position + len(character.encode())]
        return f"'{character}'" if character and known else f"'\\x{byte:02x}'"

    def skip(self, bytes_: bytes) -> None:
        while self.peek() is not None and self._data[self._position] in bytes_:
            self._position += 1


def find_syntax_fault(data: bytes, *, is_utf8: bool = False) -> str:
    """Return Go's message about a text that is not JSON; "" for one that is. ``is_utf8``: name a wrong
    character, as encoding/json does, and not its first byte, as the older copy in sigs.k8s.io/json."""
    text = _Text(data, is_utf8=is_utf8)
    try:
        _read_value(text)
        text.skip(_SPACE)
        byte = text.peek()
        if byte is not None:
            return f"invalid character {text.quoted(byte)} after top-level value"
    except _SyntaxFault as fault:
        return str(fault)
    return ""


def _read_value(text: _Text) -> None:
    """Read one value. Objects and arrays that are open are on a stack, as a text may nest them deeply."""
    inside: list[int] = []
    while True:
        text.skip(_SPACE)
        opened = _begin_value(text)
        if opened:
            inside.append(opened)
            if not _is_empty(text, opened):
                continue
            inside.pop()
        while inside:
            closing = _CLOSING[inside[-1]]
            context = "after object key:value pair" if closing == ord("}") else "after array element"
            text.skip(_SPACE)
            if text.take(b"," + bytes([closing]), context) != closing:
                break
            inside.pop()
        else:
            return
        if inside[-1] == ord("{"):
            _read_key(text)


def _begin_value(text: _Text) -> int:
    """Read a scalar, and return 0; or the beginning of an object or array, and return its bracket."""
    byte = text.take(b'{["-tfn' + _DIGITS, "looking for beginning of value")
    if byte in _CLOSING:
        return byte
    if byte == ord('"'):
        _read_string(text)
    elif byte in _LITERALS:
        literal = _LITERALS[byte]
        for expected in literal[1:]:
            text.take(bytes([expected]), f"in literal {literal.decode()} (expecting {_quoted(expected)})")
    else:
        _read_number(text, byte)
    return 0


def _is_empty(text: _Text, opened: int) -> bool:
    """Whether the object or array ends at once. Of an object that does not, the first key is read."""
    text.skip(_SPACE)
    if text.peek() == _CLOSING[opened]:
        text.take(b"", "")
        return True
    if opened == ord("{"):
        _read_key(text)
    return False


def _read_key(text: _Text) -> None:
    text.skip(_SPACE)
    text.take(b'"', "looking for beginning of object key string")
    _read_string(text)
    text.skip(_SPACE)
    text.take(b":", "after object key")


def _read_string(text: _Text) -> None:
    """Read a string to its end; its first quote is read."""
    while True:
        byte = text.take(b"", "")
        if byte == ord('"'):
            return
        if byte < 0x20:
            raise _SyntaxFault(f"invalid character {_quoted(byte)} in string literal")
        if byte == ord("\\") and text.take(_ESCAPES + b"u", "in string escape code") == ord("u"):
            for _ in range(4):
                text.take(_HEX, "in \\u hexadecimal character escape")


def _read_number(text: _Text, first: int) -> None:
    """Read a number to its end; its first byte is read."""
    if first == ord("-"):
        first = text.take(_DIGITS, "in numeric literal")
    if first != ord("0"):
        text.skip(_DIGITS)
    if text.peek() == ord("."):
        text.take(b"", "")
        text.take(_DIGITS, "after decimal point in numeric literal")
        text.skip(_DIGITS)
    if text.peek() in (ord("e"), ord("E")):
        text.take(b"", "")
        sign = text.take(_DIGITS + b"+-", "in exponent of numeric literal")
        if sign in b"+-":
            text.take(_DIGITS, "in exponent of numeric literal")
        text.skip(_DIGITS)


def _quoted(byte: int) -> str:
    """Return a byte as Go's quoteChar writes it."""
    if byte == ord("'"):
        return "'\\''"
    return f"'{''.join(_escaped(byte))}'"


def _escaped(byte: int) -> Iterator[str]:
    named = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 92: "\\\\"}
    if byte in named:
        yield named[byte]
    else:
        yield chr(byte) if chr(byte).isprintable() else f"\\x{byte:02x}" if byte < 128 else f"\\u{byte:04x}"
