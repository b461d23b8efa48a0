"""The Priority admission plugin: sets the priority of a pod or a PodGroup from its PriorityClass, and the
preemption policy of a pod.

Upstream: plugin/pkg/admission/priority/admission.go.
"""

from typing import Final

from simulator.api import Manifest
from simulator.apiserver.admission_plugins.plugin import AdmissionPlugin, Attributes
from simulator.apiserver.kinds.pod_groups import POD_GROUPS
from simulator.apiserver.kinds.pods.strategy import PODS
from simulator.apiserver.kinds.priority_classes import (
    PREEMPT,
    PRIORITY_CLASSES,
    SYSTEM_CLASSES,
    system_priority_class,
)
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.resource import Resource
from simulator.apiserver.served_features import enabled
from simulator.apiserver.status import Forbidden, forbidden
from simulator.versions.feature_gates import WORKLOAD_AWARE_PREEMPTION

_KEPT: Final = ("priority", "preemptionPolicy", "priorityClassName")
"""The fields of a pod that an update need not have."""


class Priority(AdmissionPlugin):
    name = "Priority"
    handles = {PODS.id: ("CREATE",), POD_GROUPS.id: ("CREATE",), PRIORITY_CLASSES.id: ("CREATE", "UPDATE")}

    def does_handle(self, request: Attributes) -> bool:
        # An update of a pod may leave its priority out on all paths.
        return super().does_handle(request) or (request.operation == "UPDATE" and request.resource == PODS)

    def admit(self, request: Attributes) -> None:
        if request.resource == POD_GROUPS and enabled(WORKLOAD_AWARE_PREEMPTION):
            _set_priority(request.resource, request.object, request.overlay, "pod group")
        if request.resource != PODS:
            return
        if request.old is None:
            _resolve_priority(request.object, request.overlay)
            return
        spec, known = request.object.setdefault("spec", {}), request.old["spec"]
        for field in _KEPT:
            if field in known:
                spec.setdefault(field, known[field])

    def validate(self, request: Attributes) -> None:
        if request.resource == PRIORITY_CLASSES:
            _check_global_default(request.object, request.overlay)


def _resolve_priority(pod: Manifest, overlay: Overlay) -> None:
    """Set the pod's ``priority`` and ``preemptionPolicy``, and ``priorityClassName`` if the global default
    class applies. Raises Forbidden for an unknown class, and for values that differ from the class's."""
    spec = pod["spec"]
    name = pod["metadata"].get("name", "")
    chosen = _set_priority(PODS, pod, overlay, "pod")
    policy = chosen.get("preemptionPolicy", PREEMPT) if chosen else PREEMPT
    if spec.get("preemptionPolicy", policy) != policy:
        detail = (
            f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be provided in pod "
            f"spec; priority admission controller computed {policy} from the given PriorityClass name"
        )
        raise Forbidden(PODS.id, name, detail, [forbidden("spec.preemptionPolicy", detail)])
    spec["preemptionPolicy"] = policy


def _set_priority(resource: Resource, manifest: Manifest, overlay: Overlay, what: str) -> Manifest | None:
    """Set ``priority``, and ``priorityClassName`` if the global default class applies; return the class.
    ``what``: the object in messages. Raises Forbidden."""
    spec = manifest.setdefault("spec", {})
    name = manifest["metadata"].get("name", "")
    if spec.get("priorityClassName"):
        chosen = _find_class(spec["priorityClassName"], overlay)
        if chosen is None:
            detail = f"no PriorityClass with name {spec['priorityClassName']} was found"
            raise Forbidden(resource.id, name, detail, [forbidden("spec.priorityClassName", detail)])
    else:
        chosen = _find_global_default(overlay)
        if chosen:
            spec["priorityClassName"] = chosen["metadata"]["name"]
    priority = chosen["value"] if chosen else 0
    if spec.get("priority", priority) != priority:
        detail = (
            f"the integer value of priority ({spec['priority']}) must not be provided in {what} spec; "
            f"priority admission controller computed {priority} from the given PriorityClass name"
        )
        raise Forbidden(resource.id, name, detail, [forbidden("spec.priority", detail)])
    spec["priority"] = priority
    return chosen


def _check_global_default(new: Manifest, overlay: Overlay) -> None:
    """Raise Forbidden if ``new`` is a global default and another PriorityClass is one already."""
    if not new.get("globalDefault"):
        return
    name = new["metadata"]["name"]
    default = _find_global_default(overlay)
    if default and default["metadata"]["name"] != name:
        detail = (
            f"PriorityClass {default['metadata']['name']} is already marked as default. "
            "Only one default can exist"
        )
        raise Forbidden(PRIORITY_CLASSES.id, name, detail, [forbidden("globalDefault", detail)])


def _find_class(name: str, overlay: Overlay) -> Manifest | None:
    return overlay.get(PRIORITY_CLASSES.id, name) or (
        system_priority_class(name) if name in SYSTEM_CLASSES else None
    )


def _find_global_default(overlay: Overlay) -> Manifest | None:
    """Return the global default class; the one with the lowest value if a race created several, as
    upstream."""
    defaults = [item for item in overlay.list(PRIORITY_CLASSES.id) if item.get("globalDefault")]
    return min(defaults, key=lambda item: item["value"], default=None)
