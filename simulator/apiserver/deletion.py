"""How an object is deleted: at once, or marked until its grace period or its finalizers are done."""

from typing import Final, Literal

from simulator.api import SECOND, Change, Manifest, Micros
from simulator.apiserver.admission import BUILT_IN_NAMESPACES
from simulator.apiserver.pod_defaults import GRACE_SECONDS
from simulator.apiserver.resources import NAMESPACES, PODS, PRIORITY_CLASSES, Resource
from simulator.apiserver.status import Forbidden, Invalid, invalid, not_supported
from simulator.apiserver.timestamps import micros, timestamp
from simulator.apiserver.validation import SYSTEM_CLASSES

Propagation = Literal["Orphan", "Background", "Foreground"]
"""What becomes of an object's dependents: they stay, go after it, or go before it."""
ORPHAN_DEPENDENTS: Final = "orphan"
DELETE_DEPENDENTS: Final = "foregroundDeletion"
"""Finalizers that the garbage collector takes away when it has seen to the dependents."""
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
    """Delete an object: a bound pod gracefully, what has finalizers when these are done. None: nothing to do.

    ``grace_seconds``: of the request; None = the pod's own. ``propagation`` None: in the background, unless
    finalizers say otherwise. Raises Forbidden for what every cluster must have. Upstream:
    apiserver/pkg/registry/rest/delete.go, apiserver/pkg/registry/generic/registry/store.go
    (deletionFinalizersForGarbageCollection) and pkg/registry/core/pod/strategy.go CheckGracefulDelete, v1.34.
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
    grace = _grace_seconds(old, grace_seconds) if resource == PODS else 0
    finalizers = _finalizers(metadata, propagation)
    if grace == 0 and not finalizers:
        return Change(resource.id, key, None, expected)
    marked = (
        {**metadata, "finalizers": finalizers} if finalizers or "finalizers" in metadata else {**metadata}
    )
    if "deletionTimestamp" not in metadata:
        marked["deletionTimestamp"] = timestamp(now + grace * SECOND)
        marked["deletionGracePeriodSeconds"] = grace
    elif grace < metadata.get("deletionGracePeriodSeconds", 0):
        # A second request may only shorten the time, counted from the first one.
        earlier = metadata["deletionGracePeriodSeconds"] - grace
        marked["deletionTimestamp"] = timestamp(micros(metadata["deletionTimestamp"]) - earlier * SECOND)
        marked["deletionGracePeriodSeconds"] = grace
    elif marked == metadata:
        return None
    return Change(resource.id, key, {**old, "metadata": marked}, expected)


def propagation_of(options: Manifest) -> Propagation | None:
    """What DeleteOptions ask for, in today's words or in the older ones; None = nothing. Raises Invalid
    (ValidateDeleteOptions in apimachinery/pkg/apis/meta/v1/validation)."""
    policy: Propagation | None = options.get("propagationPolicy")
    orphan = options.get("orphanDependents")
    if policy is not None and orphan is not None:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        cause = invalid("propagationPolicy", policy, detail)
    elif policy is not None and policy not in _FINALIZERS:
        cause = not_supported("propagationPolicy", policy, _FINALIZERS)
    else:
        return policy if orphan is None else "Orphan" if orphan else "Background"
    raise Invalid("DeleteOptions", "meta.k8s.io", "", [cause])


def without_finalizer(manifest: Manifest, finalizer: str) -> Manifest | None:
    """The object without this finalizer; None = that was the last thing it waited for to be gone."""
    metadata = manifest["metadata"]
    kept = [other for other in metadata.get("finalizers") or () if other != finalizer]
    over = "deletionTimestamp" in metadata and metadata.get("deletionGracePeriodSeconds", 0) == 0
    return None if over and not kept else {**manifest, "metadata": {**metadata, "finalizers": kept}}


def is_waiting_for(manifest: Manifest, finalizer: str) -> bool:
    """Whether the object is being deleted, and somebody is to see to this finalizer."""
    metadata = manifest["metadata"]
    return "deletionTimestamp" in metadata and finalizer in (metadata.get("finalizers") or ())


def _finalizers(metadata: Manifest, propagation: Propagation | None) -> list[str]:
    known: list[str] = metadata.get("finalizers") or []
    if propagation is None:
        return known
    of_others = [name for name in known if name not in (ORPHAN_DEPENDENTS, DELETE_DEPENDENTS)]
    return [*of_others, *_FINALIZERS[propagation]]


def _grace_seconds(pod: Manifest, asked: int | None) -> int:
    """Only what runs needs time to end."""
    if not pod["spec"].get("nodeName") or pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    own: int = pod["spec"].get("terminationGracePeriodSeconds", GRACE_SECONDS)
    return max(0, own if asked is None else asked)
