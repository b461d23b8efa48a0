"""Deletion of objects: immediately, or marked until the grace period is over and no finalizer is left.

Upstream: apiserver/pkg/registry/rest/delete.go (BeforeDelete), apiserver/pkg/registry/generic/registry/
store.go (Delete, deletionFinalizersForGarbageCollection, markAsDeleting), pkg/registry/core/pod/strategy.go
(CheckGracefulDelete) and pkg/registry/core/namespace/storage/storage.go (Delete).
"""

from typing import Final

from msgspec.structs import replace

from simulator.api import SECOND, Change, Manifest, Micros
from simulator.apiserver.component_writes import Propagation
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import Forbidden
from simulator.apiserver.strategy import Strategy
from simulator.objects.metadata import DELETE_DEPENDENTS, GENERATION, ORPHAN_DEPENDENTS, is_terminating
from simulator.objects.timestamps import micros, timestamp

_FINALIZERS: Final[dict[Propagation, tuple[str, ...]]] = {
    "Orphan": (ORPHAN_DEPENDENTS,),
    "Background": (),
    "Foreground": (DELETE_DEPENDENTS,),
}


def is_shown_when_deleted(resource: Resource) -> bool:
    """Whether the answer to a DELETE that removes an object is the object, and not a Status
    (ReturnDeletedObject of the resource's storage)."""
    return strategy_of(resource).is_shown_when_deleted


def admit_delete(
    resource: Resource,
    old: Manifest,
    now: Micros,
    *,
    grace_seconds: int | None = None,
    propagation: Propagation | None = None,
) -> Change | None:
    """Return the change that deletes an object, or marks it for deletion; None if it is already marked.

    A bound pod is marked until its grace period is over, an object with finalizers until these are removed, a
    namespace until the finalizers of its spec are removed. ``grace_seconds`` is the request's grace period
    (None: the pod's own). ``propagation`` None means Background, unless the object has a finalizer for
    another policy, or its kind has another default. Raises Forbidden for the built-in namespaces and the
    system priority classes.
    """
    metadata, strategy = old["metadata"], strategy_of(resource)
    name = metadata["name"]
    if name in strategy.undeletable:
        raise Forbidden(resource.id, name, strategy.undeletable[name])
    key = resource.key(metadata.get("namespace", ""), name)
    version = metadata.get("resourceVersion")
    expected = int(version) if version else None
    finalizers = _finalizers_for(strategy, metadata, propagation)
    if strategy.has_finalizers_in_spec and (not is_terminating(old) or old.get("spec", {}).get("finalizers")):
        new = None if is_terminating(old) else _terminating(old, now, finalizers)
        return None if new is None else Change(resource.id, key, new, expected)
    grace = strategy.grace_seconds(old, grace_seconds) if strategy.grace_seconds else 0
    if grace is None:
        return None
    if grace == 0 and not finalizers:
        return Change(resource.id, key, None, expected)
    marked = _with_finalizers(_with_deletion_fields(metadata, now, grace), finalizers)
    return None if marked == metadata else Change(resource.id, key, {**old, "metadata": marked}, expected)


def deletion_changes(resource: Resource, old: Manifest, deletion: Change, now: Micros) -> list[Change]:
    """Return the writes of a deletion, which :func:`admit_delete` returned as one change.

    An object that is removed at once is written before if that changes it, so watches see both writes (Delete
    in store.go)."""
    last = last_state(resource, old, now)
    if deletion.object is not None or last == old:
        return [deletion]
    return [replace(deletion, object=last), replace(deletion, expected=None)]


def last_state(resource: Resource, old: Manifest, now: Micros) -> Manifest:
    """Return an object that a request removes at once as it is written before: a pod is marked with a grace
    period of 0, and the finalizers of propagation policies are gone (updateForGracefulDeletionAndFinalizers
    in store.go)."""
    has_grace = strategy_of(resource).grace_seconds is not None
    metadata = _with_deletion_fields(old["metadata"], now, 0) if has_grace else {**old["metadata"]}
    metadata.pop("finalizers", None)
    return {**old, "metadata": metadata}


def _terminating(old: Manifest, now: Micros, finalizers: list[str]) -> Manifest:
    """Return an object with finalizers in its spec as the first request leaves it. It has no grace period,
    not even one of 0."""
    marked = _with_finalizers({**old["metadata"], "deletionTimestamp": timestamp(now)}, finalizers)
    return {**old, "metadata": marked, "status": {**(old.get("status") or {}), "phase": "Terminating"}}


def _with_finalizers(metadata: Manifest, finalizers: list[str]) -> Manifest:
    has_any = finalizers or "finalizers" in metadata
    return {**metadata, "finalizers": finalizers} if has_any else metadata


def _with_deletion_fields(metadata: Manifest, now: Micros, grace: int) -> Manifest:
    """Return the metadata with deletionTimestamp and deletionGracePeriodSeconds set. The first request also
    counts as a change of the desired state.

    A further request can only shorten the grace period, which still begins at the first request."""
    if "deletionTimestamp" not in metadata:
        marked = {
            **metadata,
            "deletionTimestamp": timestamp(now + grace * SECOND),
            "deletionGracePeriodSeconds": grace,
        }
        if metadata.get(GENERATION):
            marked[GENERATION] = metadata[GENERATION] + 1
        return marked
    before = metadata.get("deletionGracePeriodSeconds", 0)
    if grace >= before:
        return {**metadata}
    ends = timestamp(micros(metadata["deletionTimestamp"]) - (before - grace) * SECOND)
    return {**metadata, "deletionTimestamp": ends, "deletionGracePeriodSeconds": grace}


def _finalizers_for(strategy: Strategy, metadata: Manifest, propagation: Propagation | None) -> list[str]:
    """Return the finalizers that the object has after the request."""
    known: list[str] = metadata.get("finalizers") or []
    of_policies = (ORPHAN_DEPENDENTS, DELETE_DEPENDENTS)
    if strategy.garbage_collection == "Unsupported":
        return [name for name in known if name not in of_policies]
    if propagation is None:
        if strategy.garbage_collection != "OrphanDependents" or any(name in of_policies for name in known):
            return known
        propagation = "Orphan"
    wanted = [*(name for name in known if name not in of_policies), *_FINALIZERS[propagation]]
    return known if set(wanted) == set(known) else wanted
