"""Deletion of objects: immediately, or marked until the grace period is over and no finalizer is left."""

from typing import Final, Literal

from simulator.api import SECOND, Change, Manifest, Micros
from simulator.apiserver.admission import BUILT_IN_NAMESPACES
from simulator.apiserver.pod_defaults import GRACE_SECONDS
from simulator.apiserver.resources import NAMESPACES, PODS, PRIORITY_CLASSES, Resource
from simulator.apiserver.status import Forbidden, Invalid, invalid, not_supported
from simulator.apiserver.validation import SYSTEM_CLASSES
from simulator.objects.metadata import finalizers_of, is_terminating
from simulator.objects.timestamps import micros, timestamp

MAX_GRACE_SECONDS: Final = (1 << 31) - 1
"""Maximum grace period, 68 years. Longer ones of pods are shortened to it, because the end of a grace period
must be a valid time in RFC 3339."""
Propagation = Literal["Orphan", "Background", "Foreground"]
"""How an object's dependents are treated: kept, deleted after the object, or deleted before it."""
ORPHAN_DEPENDENTS: Final = "orphan"
DELETE_DEPENDENTS: Final = "foregroundDeletion"
"""Finalizers that the garbage collector removes when it has processed the dependents."""
_FINALIZERS: Final[dict[Propagation, tuple[str, ...]]] = {
    "Orphan": (ORPHAN_DEPENDENTS,),
    "Background": (),
    "Foreground": (DELETE_DEPENDENTS,),
}


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
    namespace until it is empty (:func:`admit_finalize`). ``grace_seconds`` is the request's grace period
    (None: the pod's own). ``propagation`` None means Background, unless the object has a finalizer for
    another policy. Raises Forbidden for the built-in namespaces and the system priority classes. Upstream:
    apiserver/pkg/registry/rest/delete.go, apiserver/pkg/registry/generic/registry/store.go
    (deletionFinalizersForGarbageCollection) and pkg/registry/core/pod/strategy.go (CheckGracefulDelete),
    v1.34.
    """
    metadata = old["metadata"]
    name = metadata["name"]
    if resource == NAMESPACES and name in BUILT_IN_NAMESPACES:
        raise Forbidden(resource.id, name, "this namespace may not be deleted")
    if resource == PRIORITY_CLASSES and name in SYSTEM_CLASSES:
        raise Forbidden(resource.id, name, "this is a system priority class and cannot be deleted")
    key = resource.key(metadata.get("namespace", ""), name)
    version = metadata.get("resourceVersion")
    expected = int(version) if version else None
    grace = _effective_grace_seconds(old, grace_seconds) if resource == PODS else 0
    finalizers = _finalizers_for(metadata, propagation)
    if grace == 0 and not finalizers and resource != NAMESPACES:
        return Change(resource.id, key, None, expected)
    marked = _with_deletion_fields(metadata, now, grace)
    if finalizers or "finalizers" in metadata:
        marked["finalizers"] = finalizers
    if marked == metadata:
        return None
    new = {**old, "metadata": marked}
    if resource == NAMESPACES:
        new["status"] = {**(old.get("status") or {}), "phase": "Terminating"}
    return Change(resource.id, key, new, expected)


def admit_finalize(namespace: Manifest) -> Change | None:
    """Return the change that deletes a namespace which is marked for deletion and empty; None if it still has
    finalizers. Upstream: finalizeNamespace in
    pkg/controller/namespace/deletion/namespaced_resources_deleter.go, v1.34."""
    metadata = namespace["metadata"]
    if metadata.get("finalizers"):
        return None
    return Change(NAMESPACES.id, metadata["name"], None, int(metadata["resourceVersion"]))


def last_state(resource: Resource, old: Manifest, now: Micros) -> Manifest:
    """Return an immediately deleted object as the response shows it: a pod with grace period 0
    (updateForGracefulDeletionAndFinalizers in store.go), any other object unchanged."""
    return {**old, "metadata": _with_deletion_fields(old["metadata"], now, 0)} if resource == PODS else old


def _with_deletion_fields(metadata: Manifest, now: Micros, grace: int) -> Manifest:
    """Return the metadata with deletionTimestamp and deletionGracePeriodSeconds set.

    A further request can only shorten the grace period, which still begins at the first request."""
    before = metadata.get("deletionGracePeriodSeconds", 0)
    if "deletionTimestamp" not in metadata:
        ends = timestamp(now + grace * SECOND)
    elif grace < before:
        ends = timestamp(micros(metadata["deletionTimestamp"]) - (before - grace) * SECOND)
    else:
        return {**metadata}
    return {**metadata, "deletionTimestamp": ends, "deletionGracePeriodSeconds": grace}


def requested_grace_seconds(options: Manifest) -> int | None:
    """Return the grace period in DeleteOptions; None if they have none. A negative one means one second
    (apiserver/pkg/registry/rest/delete.go, BeforeDelete). Raises Invalid above MAX_GRACE_SECONDS (upstream,
    the time.Duration overflows)."""
    asked: int | None = options.get("gracePeriodSeconds")
    if asked is not None and asked > MAX_GRACE_SECONDS:
        cause = invalid("gracePeriodSeconds", asked, f"must be less than or equal to {MAX_GRACE_SECONDS}")
        raise Invalid("DeleteOptions", "meta.k8s.io", "", [cause])
    return 1 if asked is not None and asked < 0 else asked


def requested_propagation(options: Manifest) -> Propagation | None:
    """Return the policy in DeleteOptions, from propagationPolicy or the deprecated orphanDependents; None if
    they have neither. Raises Invalid (ValidateDeleteOptions in apimachinery/pkg/apis/meta/v1/validation)."""
    policy: Propagation | None = options.get("propagationPolicy")
    orphan = options.get("orphanDependents")
    if policy is not None and orphan is not None:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        cause = invalid("propagationPolicy", policy, detail)
    elif policy is not None and policy not in _FINALIZERS:
        choices = ("Foreground", "Background", "Orphan", "nil")
        cause = not_supported("propagationPolicy", policy, choices, as_given=True)
    else:
        return policy if orphan is None else "Orphan" if orphan else "Background"
    raise Invalid("DeleteOptions", "meta.k8s.io", "", [cause])


def without_finalizer(manifest: Manifest, finalizer: str) -> Manifest | None:
    """Return the object without this finalizer; None if it can now be deleted: it is marked for deletion, its
    grace period is 0 and it has no other finalizer."""
    metadata = manifest["metadata"]
    kept = [other for other in metadata.get("finalizers") or () if other != finalizer]
    over = "deletionTimestamp" in metadata and metadata.get("deletionGracePeriodSeconds", 0) == 0
    return None if over and not kept else {**manifest, "metadata": {**metadata, "finalizers": kept}}


def is_waiting_for(manifest: Manifest, finalizer: str) -> bool:
    """Whether the object is marked for deletion and has this finalizer."""
    return is_terminating(manifest) and finalizer in finalizers_of(manifest)


def _finalizers_for(metadata: Manifest, propagation: Propagation | None) -> list[str]:
    known: list[str] = metadata.get("finalizers") or []
    if propagation is None:
        return known
    of_others = [name for name in known if name not in (ORPHAN_DEPENDENTS, DELETE_DEPENDENTS)]
    return [*of_others, *_FINALIZERS[propagation]]


def _effective_grace_seconds(pod: Manifest, asked: int | None) -> int:
    """Return the pod's grace period. It is 0 for a pod that is not bound or has finished: it has no running
    containers to stop."""
    if not pod["spec"].get("nodeName") or pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    own: int = pod["spec"].get("terminationGracePeriodSeconds", GRACE_SECONDS)
    return min(max(0, own if asked is None else asked), MAX_GRACE_SECONDS)
