"""The way of objects from the delta FIFO to the components' handlers (processDeltas and sharedProcessor in
staging/src/k8s.io/client-go/tools/cache/shared_informer.go)."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

import msgspec

from simulator.api import Manifest, Micros, WatchEvent
from simulator.client.stored import checked
from simulator.client.world import World
from simulator.kernel.containment import Actor
from simulator.kernel.environment import Turn
from simulator.kernel.parts import size_of
from simulator.objects.events import EVENTS
from simulator.objects.node import Node
from simulator.objects.pod import Pod

OBJECTS_AT_ONCE: Final = 200
BYTES_AT_ONCE: Final = 1_000_000
EXAMINED_AT_ONCE: Final = 10_000
"""The bounds of one step, which then takes some tens of milliseconds: objects that are popped, their size as
JSON, and pods whose queueing hints are called for them. The last object may exceed the latter two."""

PARSED: Final[dict[str, Callable[[Manifest], Pod | Node]]] = {"pods": Pod.parse, "nodes": Node.parse}
"""The kinds whose objects are parsed before the handlers get them."""

Handle = Callable[[], object]
Handlers = Callable[
    [WatchEvent, Manifest | None, Manifest | None, Pod | Node | None], Iterable[tuple[str, Handle]]
]
"""``handlers(event, old, new, parsed)``: the components to inform of a change, in order, each with what it
does. ``old`` is None for an object that was not there, ``new`` for one that is gone; ``parsed`` is the new
pod or node."""


class SharedInformer:
    """Takes objects from the delta FIFO, stores them in the indexer, and calls the handlers."""

    def __init__(self, world: World, handlers: Handlers, examined: Callable[[], int]) -> None:
        """``examined`` returns the number of pods whose queueing hints were called so far."""
        self._world = world
        self._handlers = handlers
        self._examined = examined
        self._unreadable: set[tuple[str, str]] = set()
        """Objects that do not fit their kind, by resource and key. No component is given them."""

    def process(self, now: Micros) -> None:
        """Take in the next objects. A change that a component did not make itself is seen at ``now``."""
        world = self._world
        last, size = self._examined() + EXAMINED_AT_ONCE, 0
        for _ in range(min(OBJECTS_AT_ONCE, world.informer.waiting)):
            if size >= BYTES_AT_ONCE or self._examined() >= last:
                break
            for event in world.informer.pop():
                own = world.is_own(event.version)
                if not own:
                    world.now = max(world.now, now)
                if world.informer.waiting:  # it is asked before the next object
                    size += size_of(event.object)
                actor = Actor("Informer", event.resource, event.key)
                world.containment.run(actor, partial(self._process, event, own))
        world.current = None

    def _process(self, event: WatchEvent, own: bool) -> None:
        read = self._read(event, own)
        if read is None:
            return
        event, parsed = read
        old = self._world.informer.apply(event)
        new = None if event.type == "DELETED" else event.object
        if event.resource == EVENTS:
            self._world.events.changed(event.key, old, new)
        containment = self._world.containment
        failing = containment.any_failing
        for component, handle in self._handlers(event, old, new, parsed):
            # There are some ten of them for each change, so little is done for one that succeeds.
            try:
                handle()
            except Exception as fault:
                self._failed(component, event, handle, fault)
            else:
                if failing:
                    containment.succeeded(Actor(component, event.resource, event.key))
        self._world.observed(event.resource, event.key)

    def _read(self, event: WatchEvent, own: bool) -> tuple[WatchEvent, Pod | Node | None] | None:
        """Return the event as the components get it, and its pod or node. An object that does not fit its
        kind is reported, and counts as deleted if the components were given it before, or else as absent
        (None). ``own``: a component made it, from objects that fit."""
        place = event.resource, event.key
        known = self._world.informer.get(*place)
        try:
            if event.type != "DELETED":
                if not own:
                    built_in = self._world.server.find_built_in(event.resource)
                    event = msgspec.structs.replace(event, object=checked(built_in, event.key, event.object))
                parse = PARSED.get(event.resource)
                parsed = parse(event.object) if parse else None
                self._unreadable.discard(place)
                return event, parsed
        except Exception as error:  # any error in the object
            if place not in self._unreadable:
                self._world.report_unreadable(*place, event.object, error)
            self._unreadable.add(place)
        else:
            self._unreadable.discard(place)
        return None if known is None else (msgspec.structs.replace(event, type="DELETED", object=known), None)

    def _failed(self, component: str, event: WatchEvent, handle: Handle, fault: Exception) -> None:
        """Note that a component's handler raised. It is called again later, unless the object has changed
        since."""
        again = partial(self._call_later, component, event, handle)
        self._world.containment.failed(Actor(component, event.resource, event.key), fault, again)

    def _call_later(self, component: str, event: WatchEvent, handle: Handle, time: Micros) -> None:
        def call() -> None:
            current = self._world.informer.get(event.resource, event.key)
            if current is (None if event.type == "DELETED" else event.object):
                again = partial(self._call_later, component, event, handle)
                self._world.containment.retry(actor, handle, again)

        actor = Actor(component, event.resource, event.key)
        self._world.plan(time, Turn.CONTROLLER, actor, call)
