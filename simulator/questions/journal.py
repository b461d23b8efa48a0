"""Changes of a cluster that a question tries, which can be taken back."""

from collections.abc import Callable
from functools import partial

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster


class Journal:
    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._undo: list[Callable[[], None]] = []

    @property
    def mark(self) -> int:
        """What :meth:`take_back` is given to return to the present state."""
        return len(self._undo)

    def take_back(self, mark: int) -> None:
        """Undo all changes since, the last one first."""
        while len(self._undo) > mark:
            self._undo.pop()()

    def add(self, undo: Callable[[], None]) -> None:
        """Note how a change is undone that was made elsewhere."""
        self._undo.append(undo)

    def set_object(self, resource: str, key: str, manifest: Manifest | None) -> None:
        """Add or replace an object that is neither a node nor a pod; None removes it."""
        before = self.cluster.objects(resource).get(key)
        self._undo.append(partial(self.cluster.set_object, resource, key, before))
        self.cluster.set_object(resource, key, manifest)
