"""What belonged to an object goes after it (pkg/controller/garbagecollector/garbagecollector.go, v1.34).

Always in the background: an owner does not wait for its dependents, nor are they left behind as orphans."""

from simulator.api import Manifest
from simulator.apiserver.deletion import admit_delete
from simulator.controllers.controller import resource_of
from simulator.controllers.ownership import Ownership, Place, owners, uid
from simulator.trace import ObjectsDeleted
from simulator.world.agenda import Turn
from simulator.world.world import World


class GarbageCollector:
    """Its keys are those of all kinds: it is a controller of its own making."""

    def __init__(self, world: World, ownership: Ownership) -> None:
        self._world = world
        self._ownership = ownership
        self._planned: set[Place] = set()

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if new is None:
            assert old is not None, "a change has an object before or after it"
            for place in self._ownership.dependents(uid(old)):
                self._look_at(place)
        elif old is None and new["metadata"].get("ownerReferences"):
            # Its owner may have gone unseen: before this controller was started, or a moment ago.
            self._look_at(Place(resource, key))

    def _look_at(self, place: Place) -> None:
        if place not in self._planned:
            self._planned.add(place)
            self._world.agenda.add(self._world.now, Turn.CONTROLLER, lambda: self._collect(place))

    def _collect(self, place: Place) -> None:
        self._planned.discard(place)
        manifest = self._world.informer.get(place.resource, place.key)
        if manifest is None or "deletionTimestamp" in manifest["metadata"]:
            return
        if not manifest["metadata"].get("ownerReferences"):
            return
        if not any(self._ownership.find(owner) for owner in owners(manifest)):
            self._world.update(
                place.resource,
                place.key,
                uid(manifest),
                self._deleted,
                event=lambda: self._told(place, manifest),
            )

    def _deleted(self, manifest: Manifest) -> Manifest | None:
        change = admit_delete(resource_of(manifest), manifest, self._world.now)
        return manifest if change is None else change.object

    def _told(self, place: Place, manifest: Manifest) -> ObjectsDeleted:
        gone = (f"{owner['kind']} {owner['name']}" for owner in manifest["metadata"]["ownerReferences"])
        return ObjectsDeleted(
            t=self._world.now,
            controller="GarbageCollector",
            resource=place.resource,
            keys=[place.key],
            reason=f"{', '.join(gone)} is gone",
        )
