"""The order in which the scheduler goes through nodes: zone by zone in turn
(pkg/scheduler/backend/cache/node_tree.go).

It matters only where not all nodes are looked at, and where nodes are listed.
"""

from itertools import zip_longest


class NodeTree:
    """Node names by zone, both in order of arrival."""

    def __init__(self) -> None:
        self._zones: dict[str, dict[str, None]] = {}
        self._zone_of: dict[str, str] = {}

    def set(self, name: str, zone: str) -> bool:
        """Add a node, or move it to another zone; False where nothing changed."""
        if self._zone_of.get(name) == zone:
            return False
        if name in self._zone_of:
            self.remove(name)
        self._zones.setdefault(zone, {})[name] = None
        self._zone_of[name] = zone
        return True

    def remove(self, name: str) -> None:
        zone = self._zone_of.pop(name)
        names = self._zones[zone]
        del names[name]
        if not names:
            del self._zones[zone]

    def list(self) -> list[str]:
        """The first node of every zone, then the second of every zone, ..."""
        turns = zip_longest(*self._zones.values())
        return [name for turn in turns for name in turn if name is not None]
