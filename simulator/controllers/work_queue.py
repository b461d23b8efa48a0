"""The work queue of a controller (client-go/util/workqueue: rate_limiting_queue.go, delaying_queue.go)."""

from collections.abc import Callable
from typing import NamedTuple

from simulator.api import Micros
from simulator.client.world import World
from simulator.kernel.containment import Actor
from simulator.kernel.environment import Turn


class ObjectKey(NamedTuple):
    """Identifies a stored object: its resource, and its key in that resource."""

    resource: str
    key: str


class WorkQueue:
    """Holds each object at most once, with the time at which ``sync`` is called for it.

    A call that raises is reported and repeated with client-go's back-off
    (:class:`simulator.kernel.containment.Containment`)."""

    def __init__(self, world: World, component: str, turn: Turn, sync: Callable[[ObjectKey], None]) -> None:
        self._world = world
        self._component = component
        self._turn = turn
        self._sync = sync
        self._entries: dict[ObjectKey, tuple[Micros, int]] = {}
        """The time of each entry, and its number in the agenda."""

    def add(self, item: ObjectKey, time: Micros = 0, *, counted_as: str = "") -> None:
        """Call sync for this object at ``time``, at once if that is past. If the object is in the queue
        already, the earlier time counts.

        The number of syncs at one moment of simulated time is limited for each object. ``counted_as`` is the
        key under which this one is counted instead of the object's."""
        time = max(time, self._world.now)
        if item in self._entries:
            planned, number = self._entries[item]
            if planned <= time:
                return
            self._world.agenda.cancel(number)
        actor = Actor(self._component, item.resource, counted_as or item.key)
        number = self._world.plan(time, self._turn, actor, lambda: self._process(item))
        self._entries[item] = time, number

    def remove(self, item: ObjectKey) -> None:
        """Remove the object from the queue if it is there."""
        if item in self._entries:
            self._world.agenda.cancel(self._entries.pop(item)[1])

    def sync_now(self, item: ObjectKey) -> None:
        """Call sync for this object; if it raises, add the object for a later time."""
        self._world.containment.retry(
            Actor(self._component, *item), lambda: self._sync(item), lambda time: self.add(item, time)
        )

    def _process(self, item: ObjectKey) -> None:
        del self._entries[item]
        self.sync_now(item)
