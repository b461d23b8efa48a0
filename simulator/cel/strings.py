"""The library of strings (cel-go ext/strings.go, version 2)."""

from typing import Final

from simulator.cel.errors import ExpressionError, cost_exceeded
from simulator.cel.functions import Function
from simulator.cel.operators import MAX_SIZE

_SPACE: Final = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _out_of_range(index: int) -> ExpressionError:
    return ExpressionError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, offset: int = 0) -> int:
    if not part:
        return offset
    if not 0 <= offset < len(text):
        raise _out_of_range(offset)
    return text.find(part, offset)


def _last_index_of(text: str, part: str, offset: int | None = None) -> int:
    if not part:
        return len(text) if offset is None else offset
    offset = len(text) - 1 if offset is None else offset
    if not 0 <= offset < len(text):
        raise _out_of_range(offset)
    return text.rfind(part, 0, offset + len(part))


def _replace(text: str, old: str, new: str, limit: int = -1) -> str:
    times = text.count(old)
    if limit >= 0:
        times = min(times, limit)
    if len(text) + times * len(new) > MAX_SIZE:
        raise cost_exceeded()
    return text.replace(old, new, limit)


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    most = -1 if limit < 0 else limit - 1
    if separator:
        return text.split(separator, most)
    parts = list(text)
    if most < 0 or len(parts) <= limit:
        return parts
    return [*parts[:most], text[most:]]


def _substring(text: str, start: int, end: int | None = None) -> str:
    if end is None:
        end = len(text)
    elif start > end:
        raise ExpressionError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


def _join(parts: list[str], separator: str = "") -> str:
    if any(type(each) is not str for each in parts):
        raise ExpressionError("unsupported native conversion from list to '[]string'")
    if len(parts) * len(separator) + sum(map(len, parts)) > MAX_SIZE:
        raise cost_exceeded()
    return separator.join(parts)


_ESCAPES: Final = str.maketrans({
    "\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": r"\\",
    '"': r"\"",
})  # fmt: skip


def _quote(text: str) -> str:
    return '"' + text.translate(_ESCAPES) + '"'


FUNCTIONS: Final = (
    Function("charAt", "string.(int) -> string", _char_at),
    Function("indexOf", "string.(string) -> int", _index_of),
    Function("indexOf", "string.(string, int) -> int", _index_of),
    Function("lastIndexOf", "string.(string) -> int", _last_index_of),
    Function("lastIndexOf", "string.(string, int) -> int", _last_index_of),
    Function("lowerAscii", "string.() -> string", lambda text: text.translate(_LOWER)),
    Function("upperAscii", "string.() -> string", lambda text: text.translate(_UPPER)),
    Function("replace", "string.(string, string) -> string", _replace),
    Function("replace", "string.(string, string, int) -> string", _replace),
    Function("split", "string.(string) -> list(string)", _split),
    Function("split", "string.(string, int) -> list(string)", _split),
    Function("substring", "string.(int) -> string", _substring),
    Function("substring", "string.(int, int) -> string", _substring),
    Function("trim", "string.() -> string", lambda text: text.strip(_SPACE)),
    Function("join", "list(string).() -> string", _join),
    Function("join", "list(string).(string) -> string", _join),
    Function("strings.quote", "(string) -> string", _quote),
)
