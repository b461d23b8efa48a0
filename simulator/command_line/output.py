"""Prints what the commands answer. What a dump or a manifest contains (names, messages, annotations) may have
control characters, with which a terminal is told to do things: all commands print through these functions."""

import sys
import unicodedata
from collections.abc import Iterable
from typing import BinaryIO, Final, TextIO

import msgspec

LINE_END: Final = b"\n"


def escape(text: str) -> str:
    """Return the text with its control characters, line ends, surrogates and marks of direction as ``\\u``
    escapes, which are those of JSON, too."""
    if text.isprintable():
        return text
    return "".join(each if _is_shown(each) else _escaped(each) for each in text)


def print_lines(lines: Iterable[str], file: TextIO | None = None) -> None:
    """Print each of the lines. file: None = stdout."""
    out = file or sys.stdout
    for line in lines:
        out.write(f"{escape(line)}\n")


def print_failure(command: str, failure: object) -> None:
    """Print the one line that says why a command fails."""
    print_lines([f"{command}: {failure}"], sys.stderr)


def print_progress(done: str) -> None:
    """Print how much is done, in the place of what was printed before; nothing if stderr is no terminal."""
    if sys.stderr.isatty():
        print(f"\r{escape(done)}", end="\r", file=sys.stderr)


def print_json(encoded: bytes) -> None:
    """Print JSON, indented."""
    print_lines(msgspec.json.format(encoded, indent=2).decode().split("\n"))


def write_json_line(out: BinaryIO, encoded: bytes) -> None:
    """Write JSON that has no line end, and a line end."""
    out.write(safe_json(encoded) + LINE_END)


def safe_json(encoded: bytes) -> bytes:
    """Return the same JSON without control characters. The encoder escapes those below a blank."""
    if encoded.isascii() and b"\x7f" not in encoded:
        return encoded
    return escape(encoded.decode()).encode()


def _is_shown(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"


def _escaped(character: str) -> str:
    code = ord(character)
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
