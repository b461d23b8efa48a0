"""The labels and the images of the nodes of a cluster, and the order in which the scheduler filters nodes."""

import re
from collections.abc import Sequence
from itertools import zip_longest

from simulator.cluster.columns import InternedColumn
from simulator.objects.node import Image, Node


class NodeLabels:
    """The labels of the nodes. ``nodes`` is the cluster's list of nodes by row, which the cluster keeps up to
    date."""

    def __init__(self, nodes: Sequence[Node | None], capacity: int) -> None:
        self._nodes = nodes
        self._capacity = capacity
        self._columns: dict[str, InternedColumn[str]] = {}

    def grow(self, capacity: int) -> None:
        self._capacity = capacity
        for column in self._columns.values():
            column.grow(capacity)

    def set(self, row: int, node: Node | None) -> None:
        """Update a row in all columns; None = the row is free."""
        for key, column in self._columns.items():
            column.set(row, node.labels.get(key) if node else None)

    def column(self, key: str) -> InternedColumn[str]:
        """Return the column of a label key. The first call for a key creates it from all nodes."""
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = InternedColumn(self._capacity)
            for row, node in enumerate(self._nodes):
                if node is not None:
                    column.set(row, node.labels.get(key))
        return column


class ImageState:
    """An image that is on at least one node. ``size`` is in bytes: the size that the first of these nodes
    reported."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows: set[int] = set()


class NodeImages:
    """The images on the nodes. ``states``: the images by name, as the nodes report them."""

    def __init__(self) -> None:
        self.states: dict[str, ImageState] = {}

    def set(self, row: int, old: Sequence[Image], new: Sequence[Image]) -> None:
        """Replace the images ``old`` of a node by ``new``."""
        if old == new:
            return
        for name in _image_names(old):
            state = self.states.get(name)
            if state is not None:
                state.rows.discard(row)
                if not state.rows:
                    del self.states[name]
        for image in new:
            for name in image.names:
                self.states.setdefault(name, ImageState(image.size)).rows.add(row)


def _image_names(images: Sequence[Image]) -> set[str]:
    return {name for image in images for name in image.names}


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
