"""The query parameter ``labelSelector``: ``a=b, c!=d, e in (x, y), f notin (z), g, !h, i>1``.

Upstream: Parse and NewRequirement in apimachinery/pkg/labels/selector.go, with its messages.
"""

import re
from collections.abc import Iterator
from typing import Final

from simulator.apiserver import names
from simulator.apiserver.status import BadRequest, Cause, invalid
from simulator.objects.labels import Requirement, Selector, parse_int64

MAX_LENGTH: Final = 10_000
"""Maximum number of characters of a selector. Most servers refuse longer URLs anyway."""
SHOWN_LENGTH: Final = 100
"""Maximum number of characters of a wrong part in a message."""
NO_PATH: Final = "<nil>"
"""The path that upstream writes for a wrong key."""
_SYMBOLS: Final = ("==", "!=", *"=!<>(),")
_TOKEN: Final = re.compile(r"==|!=|[=!<>(),]|[^ \t\r\n=!<>(),]+")
_OPERATORS: Final = {
    "in": "In",
    "notin": "NotIn",
    "=": "In",
    "==": "In",
    "!=": "NotIn",
    ">": "Gt",
    "<": "Lt",
}
_NO_INTEGER: Final = "for 'Gt', 'Lt' operators, the value must be an integer"


def parse_label_selector(text: str) -> Selector:
    """Parse a label selector. Raises BadRequest."""
    if len(text) > MAX_LENGTH:
        raise BadRequest(f"a selector may have at most {MAX_LENGTH} characters")
    tokens = _Tokens(text)
    requirements = []
    while not tokens.done:
        if not tokens.begins_requirement():
            raise BadRequest(f"found '{tokens.peek()}', expected: !, identifier, or 'end of string'")
        requirements.append(_parse_requirement(tokens))
        if not tokens.done:
            if tokens.take() != ",":
                raise BadRequest(f"found '{tokens.last}', expected: ',' or 'end of string'")
            if not tokens.begins_requirement():
                raise BadRequest(f"found '{tokens.peek()}', expected: identifier after ','")
    return Selector(tuple(sorted(requirements)))


class _Tokens:
    """The tokens of a selector, read one by one."""

    def __init__(self, text: str) -> None:
        self.items: list[str] = _TOKEN.findall(text)
        self.at = 0

    @property
    def done(self) -> bool:
        return self.at >= len(self.items)

    @property
    def last(self) -> str:
        """The last token taken, shortened for messages; "" after the end."""
        return self.items[self.at - 1][:SHOWN_LENGTH] if self.at <= len(self.items) else ""

    def peek(self) -> str:
        return "" if self.done else self.items[self.at][:SHOWN_LENGTH]

    def is_word(self) -> bool:
        """Whether the next token is a key or a value."""
        return not self.done and self.items[self.at] not in _SYMBOLS

    def begins_requirement(self) -> bool:
        return self.is_word() or self.peek() == "!"

    def ends_requirement(self) -> bool:
        return self.peek() in ("", ",")

    def take(self) -> str:
        token = "" if self.done else self.items[self.at]
        self.at += 1
        return token

    def word(self) -> str:
        """Take the next token, a key or a value. Raises BadRequest for a symbol."""
        if not self.is_word():
            raise _error(f"found '{self.peek()}', expected: identifier")
        return self.take()


def _error(detail: str) -> BadRequest:
    return BadRequest(f"unable to parse requirement: {detail}")


def _parse_requirement(tokens: _Tokens) -> Requirement:
    negated = tokens.peek() == "!"
    if negated:
        tokens.take()
    key = tokens.word()
    if problems := names.qualified_name(key):
        raise _error(str(invalid(NO_PATH, key, "; ".join(problems))))
    if negated:
        return Requirement(key, "DoesNotExist", ())
    if tokens.ends_requirement():
        return Requirement(key, "Exists", ())
    sign = tokens.take()
    operator = _OPERATORS.get(sign)
    if operator is None:
        raise _error(f"found '{tokens.last}', expected: in, notin, =, ==, !=, gt, lt")
    if sign in ("in", "notin"):
        values = tuple(sorted(_parse_values(tokens)))
    else:
        values = ("" if tokens.ends_requirement() else tokens.word(),)
    faults = [str(fault) for fault in _faults(key, operator, values)]
    if faults:
        raise _error(faults[0] if len(faults) == 1 else f"[{', '.join(dict.fromkeys(faults))}]")
    return Requirement(key, operator, values)


def _faults(key: str, operator: str, values: tuple[str, ...]) -> Iterator[Cause]:
    if operator in ("Gt", "Lt") and parse_int64(values[0]) is None:
        yield invalid("values[0]", values[0], _NO_INTEGER)
    for index, value in enumerate(values):
        if problems := names.label_value(value):
            yield invalid(f"values[{index}][{key}]", value, "; ".join(problems))


def _parse_values(tokens: _Tokens) -> set[str]:
    """Parse the values in parentheses (parseValues and parseIdentifiersList)."""
    if tokens.take() != "(":
        raise _error(f"found '{tokens.last}' expected: '('")
    if tokens.peek() == ")":
        tokens.take()
        return {""}
    if not tokens.is_word() and tokens.peek() != ",":
        raise _error(f"found '{tokens.peek()}', expected: ',', ')' or identifier")
    values: set[str] = set()
    while True:
        if tokens.is_word():
            values.add(tokens.take())
            if tokens.peek() not in (",", ")"):
                raise _error(f"found '{tokens.peek()}', expected: ',' or ')'")
            if tokens.peek() == ")":
                break
        elif tokens.take() == ",":
            if not values or tokens.peek() in (",", ")"):
                values.add("")
            if tokens.peek() == ")":
                break
            if tokens.peek() == ",":
                # Upstream takes two commas at once and is then in need of a value.
                tokens.take()
        else:
            raise _error(f"found '{tokens.last}', expected: ',', or identifier")
    tokens.take()
    return values
