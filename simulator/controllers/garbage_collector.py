"""What belonged to an object goes after it, or before it, or is left behind, as the request to delete it said
(pkg/controller/garbagecollector/garbagecollector.go, v1.34)."""

from simulator.api import Manifest
from simulator.apiserver.deletion import (
    DELETE_DEPENDENTS,
    ORPHAN_DEPENDENTS,
    Propagation,
    admit_delete,
    is_waiting_for,
    without_finalizer,
)
from simulator.controllers.controller import resource_of
from simulator.controllers.ownership import Ownership, Place, owners, references, uid
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
        place = Place(resource, key)
        if new is None:
            assert old is not None, "a change has an object before or after it"
            for dependent in self._ownership.dependents(uid(old)):
                self._look_at(dependent)
        elif old is None and references(new):
            # Its owner may have gone unseen: before this controller was started, or a moment ago.
            self._look_at(place)
        elif is_waiting_for(new, DELETE_DEPENDENTS) or is_waiting_for(new, ORPHAN_DEPENDENTS):
            self._look_at(place)
        kept = [*owners(new)] if new is not None else []
        for owner in owners(old) if old is not None else ():
            waiting = self._ownership.find(owner)
            if owner not in kept and waiting is not None:
                self._look_at(waiting)

    def _look_at(self, place: Place) -> None:
        if place not in self._planned:
            self._planned.add(place)
            self._world.agenda.add(self._world.now, Turn.CONTROLLER, lambda: self._process(place))

    def _process(self, place: Place) -> None:
        self._planned.discard(place)
        manifest = self._get(place)
        if manifest is None:
            return
        if is_waiting_for(manifest, ORPHAN_DEPENDENTS):
            self._orphan_dependents(place, manifest)
        elif is_waiting_for(manifest, DELETE_DEPENDENTS):
            self._delete_dependents(place, manifest)
        elif "deletionTimestamp" not in manifest["metadata"]:
            self._collect(place, manifest)

    def _get(self, place: Place | None) -> Manifest | None:
        return self._world.informer.get(place.resource, place.key) if place is not None else None

    # An owner that is to go

    def _orphan_dependents(self, place: Place, manifest: Manifest) -> None:
        for dependent in self._ownership.dependents(uid(manifest)):
            self._disown(dependent, {uid(manifest)})
        self._finalize(place, manifest, ORPHAN_DEPENDENTS)

    def _delete_dependents(self, place: Place, manifest: Manifest) -> None:
        """Only those that block it are waited for (processDeletingDependentsItem)."""
        blocking = [
            dependent
            for dependent in self._ownership.dependents(uid(manifest))
            if _blocks(self._get(dependent), uid(manifest))
        ]
        for dependent in blocking:
            self._look_at(dependent)
        if not blocking:
            self._finalize(place, manifest, DELETE_DEPENDENTS)

    def _finalize(self, place: Place, manifest: Manifest, finalizer: str) -> None:
        self._world.update(
            place.resource, place.key, uid(manifest), lambda current: without_finalizer(current, finalizer)
        )

    # A dependent whose owner is gone, or waits for it to go

    def _collect(self, place: Place, manifest: Manifest) -> None:
        """attemptToDeleteItem."""
        found = {owner: self._get(self._ownership.find(owner)) for owner in owners(manifest)}
        waiting = {o for o, known in found.items() if known and is_waiting_for(known, DELETE_DEPENDENTS)}
        useless = waiting | {owner for owner, known in found.items() if known is None}
        if not useless:
            return
        if len(useless) < len(found):
            self._disown(place, useless)
            return
        foreground = waiting and self._ownership.dependents(uid(manifest))
        propagation: Propagation | None = "Foreground" if foreground else None

        def deleted(current: Manifest) -> Manifest | None:
            resource, now = resource_of(current), self._world.now
            change = admit_delete(resource, current, now, propagation=propagation)
            return current if change is None else change.object

        told = self._told(place, manifest, "is to go after this" if waiting else "is gone")
        self._world.update(place.resource, place.key, uid(manifest), deleted, event=lambda: told)

    def _disown(self, place: Place, gone: set[str]) -> None:
        def disowned(current: Manifest) -> Manifest:
            kept = [reference for reference in references(current) if reference["uid"] not in gone]
            return {**current, "metadata": {**current["metadata"], "ownerReferences": kept}}

        manifest = self._get(place)
        if manifest is not None:
            self._world.update(place.resource, place.key, uid(manifest), disowned)

    def _told(self, place: Place, manifest: Manifest, fate: str) -> ObjectsDeleted:
        named = (f"{owner['kind']} {owner['name']}" for owner in references(manifest))
        return ObjectsDeleted(
            t=self._world.now,
            controller="GarbageCollector",
            resource=place.resource,
            keys=[place.key],
            reason=f"{', '.join(named)} {fate}",
        )


def _blocks(manifest: Manifest | None, owner: str) -> bool:
    return manifest is not None and any(
        reference["uid"] == owner and reference.get("blockOwnerDeletion")
        for reference in references(manifest)
    )
