"""The garbage collector: deletes objects whose owners were deleted, before or after the owners, or removes
the references to them, as the DELETE request asked for
(pkg/controller/garbagecollector/garbagecollector.go)."""

from collections.abc import Collection

from simulator.api import Change, Manifest
from simulator.apiserver.component_writes import Propagation
from simulator.controllers.controller import Controller
from simulator.controllers.work_queue import ObjectKey
from simulator.objects.metadata import (
    DELETE_DEPENDENTS,
    ORPHAN_DEPENDENTS,
    finalizers_of,
    is_terminating,
    is_waiting_for,
    uid_of,
    without_finalizer,
)
from simulator.objects.owner_references import owner_references, owner_uids, without_owners
from simulator.trace import ObjectsDeleted


class GarbageCollector(Controller):
    """The garbage collector. Its work queue holds objects of all resources."""

    component = "GarbageCollector"
    watches = ()

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        item = ObjectKey(resource, key)
        if new is None:
            for dependent in self._ownership.dependents(uid_of(old)) if old is not None else ():
                self._queue.add(dependent)
        elif old is None and any(self._ownership.find(uid) is None for uid in owner_uids(new)):
            # The owner may have been deleted before this controller started, or a moment ago. An object whose
            # owners are known is not looked at (addDependentToOwners, graph_builder.go).
            self._queue.add(item)
        elif is_waiting_for(new, DELETE_DEPENDENTS) or is_waiting_for(new, ORPHAN_DEPENDENTS):
            self._queue.add(item)
        kept = owner_uids(new) if new is not None else ()
        for uid in owner_uids(old) if old is not None else ():
            owner = self._ownership.find(uid)
            if uid not in kept and owner is not None:
                self._queue.add(owner)

    def sync_object(self, item: ObjectKey) -> None:
        manifest = self._get(item)
        if manifest is None:
            return
        if is_waiting_for(manifest, ORPHAN_DEPENDENTS):
            self._orphan_dependents(item, manifest)
        elif is_waiting_for(manifest, DELETE_DEPENDENTS):
            self._delete_dependents(item, manifest)
        elif not is_terminating(manifest):
            self._delete_without_owners(item, manifest)

    # Owners that are terminating

    def _orphan_dependents(self, item: ObjectKey, manifest: Manifest) -> None:
        dependents = [*self._ownership.dependents(uid_of(manifest))]
        part = self.part_of(item, dependents)
        for dependent in part:
            self._remove_owners(dependent, {uid_of(manifest)})
        if len(part) < len(dependents):
            return
        self._remove_finalizer(item, manifest, ORPHAN_DEPENDENTS)

    def _delete_dependents(self, item: ObjectKey, manifest: Manifest) -> None:
        """Delete the dependents of an owner, which waits only for those with blockOwnerDeletion
        (processDeletingDependentsItem)."""
        blocking = [
            dependent
            for dependent in self._ownership.dependents(uid_of(manifest))
            if _blocks_deletion(self._get(dependent), uid_of(manifest))
        ]
        for dependent in blocking:
            self._queue.add(dependent)
        if not blocking:
            self._remove_finalizer(item, manifest, DELETE_DEPENDENTS)

    def _remove_finalizer(self, item: ObjectKey, manifest: Manifest, finalizer: str) -> None:
        self.patch(item.resource, manifest, lambda current: without_finalizer(current, finalizer))

    # Dependents whose owners were deleted, or are terminating and wait for them

    def _delete_without_owners(self, item: ObjectKey, manifest: Manifest) -> None:
        """Delete the object if all of its owners are deleted or wait for it; if only some are, remove the
        references to these (attemptToDeleteItem)."""
        owners = {uid: self._get(self._ownership.find(uid)) for uid in owner_uids(manifest)}
        waiting = {uid for uid, owner in owners.items() if owner and is_waiting_for(owner, DELETE_DEPENDENTS)}
        useless = waiting | {uid for uid, owner in owners.items() if owner is None}
        if not useless:
            return
        if len(useless) < len(owners):
            self._remove_owners(item, useless)
            return
        foreground = waiting and self._ownership.dependents(uid_of(manifest))

        def decide(current: Manifest) -> list[Change]:
            propagation: Propagation = "Foreground" if foreground else _policy_of(current)
            return self._world.server.delete_by_component(current, propagation)

        named = ", ".join(f"{owner['kind']} {owner['name']}" for owner in owner_references(manifest))
        event = ObjectsDeleted(
            t=self._world.now,
            controller=self.component,
            resource=item.resource,
            keys=[item.key],
            reason=f"{named} {'is to go after this' if waiting else 'is gone'}",
        )
        self.write(item.resource, manifest, decide, event)

    def _remove_owners(self, item: ObjectKey, uids: Collection[str]) -> None:
        manifest = self._get(item)
        if manifest is not None:
            self.patch(item.resource, manifest, lambda current: without_owners(current, uids))


def _policy_of(manifest: Manifest) -> Propagation:
    """Return the propagation that the finalizers of an object without owners ask for."""
    if ORPHAN_DEPENDENTS in finalizers_of(manifest):
        return "Orphan"
    return "Foreground" if DELETE_DEPENDENTS in finalizers_of(manifest) else "Background"


def _blocks_deletion(manifest: Manifest | None, owner: str) -> bool:
    return manifest is not None and any(
        reference["uid"] == owner and reference.get("blockOwnerDeletion")
        for reference in owner_references(manifest)
    )
