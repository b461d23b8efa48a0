"""The largest sizes of what an expression may name (apiserver/pkg/cel/types.go, DeclType)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

KEYS: Final = "@keys"
ITEMS: Final = "@items"
VALUES: Final = "@values"
"""Steps of a path beside the names of fields."""


@dataclass(frozen=True, slots=True)
class DeclaredSize:
    """The largest size of a value, and of the values inside it."""

    most: int = 0
    """The largest number of characters, bytes, items or entries."""
    fields: Mapping[str, "DeclaredSize"] = field(default_factory=dict)
    key: "DeclaredSize | None" = None
    element: "DeclaredSize | None" = None
    other: "DeclaredSize | None" = None
    """The size of a field that is not among ``fields``."""

    def find(self, path: Sequence[str]) -> "DeclaredSize | None":
        """Return the declared size at a path below this value; None = none is declared."""
        found: DeclaredSize | None = self
        for step in path:
            if found is None:
                return None
            if step in (ITEMS, VALUES):
                found = found.element
            elif step == KEYS:
                found = found.key
            else:
                found = found.fields.get(step, found.other)
        return found


class Limits(NamedTuple):
    """The limits within which an expression is evaluated."""

    iterations: int
    """The largest number of iterations of all loops together. The evaluation ends then."""
    size: int
    """The largest size of a value for which none is declared."""


def make_uniform_size(most: int) -> DeclaredSize:
    """Return the size of a value which, as all values inside it at any depth, has ``most`` items at most."""
    made = DeclaredSize(most)
    for name in ("key", "element", "other"):
        object.__setattr__(made, name, made)
    return made
