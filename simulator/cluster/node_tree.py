"""The order in which the scheduler goes through nodes: zone by zone in turn
(pkg/scheduler/backend/cache/node_tree.go).

It matters only where not all nodes are looked at, and where nodes are listed. Upstream keeps zones and nodes
in order of arrival; here they are sorted, so that a scheduler that takes over goes the same way as the one
before.
"""

import re
from itertools import zip_longest

_DIGITS = re.compile(r"(\d+)")


class NodeTree:
    """Node names by zone."""

    def __init__(self) -> None:
        self._zone_of: dict[str, str] = {}

    def set(self, name: str, zone: str) -> bool:
        """Add a node, or move it to another zone; False where nothing changed."""
        if self._zone_of.get(name) == zone:
            return False
        self._zone_of[name] = zone
        return True

    def remove(self, name: str) -> None:
        del self._zone_of[name]

    def list(self) -> list[str]:
        """The first node of every zone, then the second of every zone, ..."""
        zones: dict[str, list[str]] = {}
        for name in sorted(self._zone_of, key=_natural):
            zones.setdefault(self._zone_of[name], []).append(name)
        turns = zip_longest(*(zones[zone] for zone in sorted(zones)))
        return [name for turn in turns for name in turn if name is not None]


def _natural(name: str) -> list[tuple[int, str]]:
    """Numbers inside names count as numbers: node-2 goes before node-10."""
    return [(int(part), part) if part.isdecimal() else (-1, part) for part in _DIGITS.split(name)]
