"""Wrong values as Go writes them in messages, and how much of one is written.

Upstream: Error in apimachinery/pkg/util/validation/field/errors.go.
"""

import json
from collections.abc import Iterable
from heapq import nsmallest
from itertools import islice
from typing import Final

from simulator.kernel.go_text import quote

SHOWN_LENGTH: Final = 1_000
"""Maximum number of characters of a wrong value in a message. The value may be large, and the message is
shown in pages and logs."""
STRUCT_LENGTH: Final = 16 * 1024
"""Maximum number of characters of a struct of upstream, or of the difference of two, in a message. Upstream
has no such bound."""


def cut_off(text: str, most: int) -> str:
    """Return the text; of a longer one than ``most`` characters, its beginning."""
    return text if len(text) <= most else text[:most] + "..."


def _go_text(value: object) -> str:
    """Return a value as Go writes it."""
    if isinstance(value, str):
        return quote(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_STRUCT_FIRST = ("matchLabels",)
"""Fields that come before others although they are sorted after them."""


class _Beginning:
    """As much of a value as is shown: the value may be as large as the request, and be in many messages. Maps
    are sorted by their keys; the fields of a struct are in their order."""

    def __init__(self, most: int, *, is_struct: bool) -> None:
        self._most = self._left = most
        """How many values there may be; each has at least one character."""
        self._is_struct = is_struct

    def of(self, value: object) -> object:
        self._left -= 1
        match value:
            case str():
                return value[: self._most + 1]
            case dict():
                return {name: self.of(value[name]) for name in self._first(value) if self._left >= 0}
            case list():
                return [self.of(item) for item in value[: self._left + 1] if self._left >= 0]
        return value

    def _first(self, names: Iterable[str]) -> Iterable[str]:
        if self._is_struct:
            return islice(names, self._left + 1)
        return nsmallest(self._left + 1, names, key=lambda name: (name not in _STRUCT_FIRST, name))


def shown_value(value: object, *, is_struct: bool = False) -> str:
    """Return as much of a wrong value as a message shows. ``is_struct``: its fields keep their order."""
    most = STRUCT_LENGTH if is_struct else SHOWN_LENGTH
    return cut_off(_go_text(_Beginning(most, is_struct=is_struct).of(value)), most)
