r"""The query parameter ``fieldSelector``: ``a=b,c!=d``. A backslash stands before a comma, an equals sign or
a backslash in a value.

Upstream: ParseSelector in apimachinery/pkg/fields/selector.go, v1.34, with its messages.
"""

import re
from typing import Final, NamedTuple

from simulator.apiserver.label_selectors import SHOWN_LENGTH
from simulator.apiserver.status import BadRequest

_TERM: Final = re.compile(r"((?:\\.|[^\\,])*\\?)(?:,|\Z)", re.DOTALL)
_PARTS: Final = re.compile(r"(.*?)(!=|==|=)(.*)", re.DOTALL)
_ESCAPED: Final = ("\\", ",", "=")


class FieldTerm(NamedTuple):
    field: str
    is_equal: bool
    """Whether the field must have the value, or must not."""
    value: str


def parse_field_selector(text: str) -> list[FieldTerm]:
    """Parse a field selector. Raises BadRequest."""
    terms = []
    for term in sorted(filter(None, _TERM.findall(text))):
        found = _PARTS.fullmatch(term)
        if not found:
            shown, wrong = text[:SHOWN_LENGTH], term[:SHOWN_LENGTH]
            raise BadRequest(f"invalid selector: '{shown}'; can't understand '{wrong}'")
        field, operator, value = found.groups()
        terms.append(FieldTerm(field, operator != "!=", _unescaped(value)))
    return terms


def _unescaped(value: str) -> str:
    """Remove the escapes of a value (UnescapeValue)."""
    kept = ""
    characters = iter(value)
    for character in characters:
        if character == "\\":
            escaped = next(characters, "")
            if escaped not in _ESCAPED:
                raise BadRequest(f"invalid field selector: invalid escape sequence: \\{escaped}")
            kept += escaped
        elif character in _ESCAPED:
            # Upstream writes the number of the character.
            raise BadRequest(f"invalid field selector: unescaped character in value: {ord(character)}")
        else:
            kept += character
    return kept
