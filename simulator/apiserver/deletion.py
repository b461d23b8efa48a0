"""How an object is deleted: at once, or marked until its grace period or its finalizers are done."""

from simulator.api import SECOND, Change, Manifest, Micros
from simulator.apiserver.admission import BUILT_IN_NAMESPACES
from simulator.apiserver.pod_defaults import GRACE_SECONDS
from simulator.apiserver.resources import NAMESPACES, PODS, PRIORITY_CLASSES, Resource
from simulator.apiserver.status import Forbidden
from simulator.apiserver.timestamps import micros, timestamp
from simulator.apiserver.validation import SYSTEM_CLASSES


def admit_delete(
    resource: Resource, old: Manifest, now: Micros, *, grace_seconds: int | None = None
) -> Change | None:
    """Delete an object: a bound pod gracefully, what has finalizers when these are done. None: nothing to do.

    ``grace_seconds``: of the request; None = the pod's own. Raises Forbidden for what every cluster must
    have. Upstream: apiserver/pkg/registry/rest/delete.go and pkg/registry/core/pod/strategy.go
    CheckGracefulDelete."""
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
    if grace == 0 and not metadata.get("finalizers"):
        return Change(resource.id, key, None, expected)
    marked = dict(metadata)
    if "deletionTimestamp" in metadata:
        if grace >= metadata.get("deletionGracePeriodSeconds", 0):
            return None
        # A second request may only shorten the time, counted from the first one.
        earlier = metadata["deletionGracePeriodSeconds"] - grace
        marked["deletionTimestamp"] = timestamp(micros(metadata["deletionTimestamp"]) - earlier * SECOND)
    else:
        marked["deletionTimestamp"] = timestamp(now + grace * SECOND)
    marked["deletionGracePeriodSeconds"] = grace
    return Change(resource.id, key, {**old, "metadata": marked}, expected)


def _grace_seconds(pod: Manifest, asked: int | None) -> int:
    """Only what runs needs time to end."""
    if not pod["spec"].get("nodeName") or pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    own: int = pod["spec"].get("terminationGracePeriodSeconds", GRACE_SECONDS)
    return max(0, own if asked is None else asked)
