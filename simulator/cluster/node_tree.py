"""NodeTree: the order in which the scheduler filters nodes, alternating between zones
(pkg/scheduler/backend/cache/node_tree.go, v1.34).

The order affects decisions only if the scheduler does not filter all nodes (percentageOfNodesToScore).
Upstream keeps zones and nodes in the order in which they were added. Here they are sorted, so that a
scheduler that becomes leader uses the same order as the one before it.
"""

import re
from itertools import zip_longest

_DIGITS = re.compile(r"(\d+)")


class NodeTree:
    """The names of the nodes by zone."""

    def __init__(self) -> None:
        self._zone_of: dict[str, str] = {}

    def set(self, name: str, zone: str) -> bool:
        """Add a node, or move it to another zone. Return False if nothing changed."""
        if self._zone_of.get(name) == zone:
            return False
        self._zone_of[name] = zone
        return True

    def remove(self, name: str) -> None:
        del self._zone_of[name]

    def list(self) -> list[str]:
        """Return the first node of every zone, then the second node of every zone, and so on."""
        zones: dict[str, list[str]] = {}
        for name in sorted(self._zone_of, key=_natural):
            zones.setdefault(self._zone_of[name], []).append(name)
        turns = zip_longest(*(zones[zone] for zone in sorted(zones)))
        return [name for turn in turns for name in turn if name is not None]


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a sort key that compares digits in names as numbers: node-2 is before node-10."""
    return [(int(part), part) if part.isdecimal() else (-1, part) for part in _DIGITS.split(name)]
