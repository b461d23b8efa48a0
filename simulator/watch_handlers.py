"""The handlers of a Simulation's components for the changes that the informer delivers."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal

from simulator.api import Manifest, WatchEvent
from simulator.client.world import World
from simulator.controllers.manager import ControllerManager
from simulator.framework.cluster_event import NODE, ClusterEvent, node_scheduling_properties_change
from simulator.objects.events import EVENTS
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.scheduler.outside import OutsideSchedulers
from simulator.scheduler.scheduler import Scheduler
from simulator.trace import NodeChanged, PodRemoved


class WatchHandlers:
    """The handlers of the changes, with the pods and nodes as the changes left them."""

    def __init__(
        self, world: World, scheduler: Scheduler, outside: OutsideSchedulers, *, with_controllers: bool
    ) -> None:
        self._world = world
        self._scheduler = scheduler
        self._outside = outside
        self._with_controllers = with_controllers
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}
        self.started = False
        """Whether the first list was taken in."""
        self._controllers = ControllerManager(world, self.pods, self.nodes)

    def first_list_ends(self) -> None:
        """Note that the first list has ended: all that is delivered from now on comes after it."""
        if not self.started:
            self._scheduler.restore_queue()
        self.started = self._outside.started = True

    def of(
        self, event: WatchEvent, old: Manifest | None, new: Manifest | None, parsed: Pod | Node | None
    ) -> Iterator[tuple[str, Callable[[], object]]]:
        """Yield the components that are informed of a change, in order, each with its handler."""
        if event.resource == EVENTS:
            # No upstream informer watches these.
            yield "Outside schedulers", partial(self._outside.event_changed, new)
            return
        if event.resource == "pods":
            before = self.pods.get(event.key)
            yield "Outside schedulers", partial(self._outside.pod_changed, before, _pod_or_none(parsed))
        yield "Scheduler informer", self._scheduler_handler(event, old, new, parsed)
        if self._with_controllers:
            for component, changed in self._controllers.handlers(event.resource):
                yield component, partial(changed, event.resource, event.key, old, new)

    def _scheduler_handler(
        self, event: WatchEvent, old: Manifest | None, new: Manifest | None, parsed: Pod | Node | None
    ) -> Callable[[], object]:
        if event.resource == "pods":
            return self._pod_handler(event.key, _pod_or_none(parsed))
        if event.resource == "nodes":
            return self._node_handler(event.key, parsed if isinstance(parsed, Node) else None)
        return partial(self._scheduler.handlers.object_changed, event.resource, event.key, old, new)

    def _pod_handler(self, key: str, new: Pod | None) -> Callable[[], object]:
        old = self.pods.get(key)
        if new is not None:
            self.pods[key] = new
        else:
            self.pods.pop(key, None)
        if old is not None and new is None:
            self._world.emit(PodRemoved(t=self._world.now, pod=old.key, node=old.node_name))
        return partial(self._scheduler.pod_changed, old, new)

    def _node_handler(self, key: str, new: Node | None) -> Callable[[], object]:
        old = self.nodes.get(key)
        if new is None:
            del self.nodes[key]
            self._node_event(key, "deleted")
        else:
            self.nodes[key] = new
            if old is None:
                self._node_event(key, "added")
            else:
                self._node_event(key, "updated", node_scheduling_properties_change(new, old))
        return partial(self._scheduler.handlers.node_changed, old, new)

    def _node_event(
        self,
        node: str,
        change: Literal["added", "updated", "deleted"],
        events: Sequence[ClusterEvent] = (),
    ) -> None:
        """Emit the event, unless the node belongs to the first list."""
        if self.started:
            labels = [event.label.removeprefix(NODE) for event in events]
            self._world.emit(NodeChanged(t=self._world.now, node=node, change=change, events=labels))


def _pod_or_none(parsed: Pod | Node | None) -> Pod | None:
    return parsed if isinstance(parsed, Pod) else None
