"""The types of objects that an expression may name, with their fields."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from simulator.cel.types import Type


@dataclass(frozen=True, slots=True, eq=False)
class ObjectTypes:
    """Types of objects by name. Two of them are equal only if they are the same."""

    fields: Mapping[str, Mapping[str, Type]]
    """The types of the fields of each."""


NO_OBJECTS: Final = ObjectTypes({})
