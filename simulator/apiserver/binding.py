"""Admission of the subresource ``pods/binding``.

Upstream: pkg/registry/core/pod/storage/storage.go (BindingREST, assignPod) and ValidatePodBinding in
pkg/apis/core/validation/validation.go, v1.34.
"""

from simulator.api import Change, Manifest, Micros
from simulator.apiserver.preconditions import check_stored_identity
from simulator.apiserver.resources import PODS
from simulator.apiserver.status import Cause, Conflict, PlainError, not_supported, required
from simulator.objects.conditions import with_condition
from simulator.objects.metadata import annotations_of, is_terminating, key_of, version_of, with_metadata

BINDING_RESOURCE = "pods/binding"
"""The resource that a Conflict names (upstream it is written as one word)."""


def admit_binding(pod: Manifest, binding: Manifest, now: Micros) -> Change:
    """Return the change that assigns a pod to a node. ``binding`` is decoded.

    The pod gets the annotations of the binding. Raises PlainError if the target is not a node; Conflict if
    the pod has another UID or version than the binding, has a node, is being deleted or has scheduling
    gates."""
    metadata = binding.get("metadata", {})
    faults = _validate_target(binding.get("target", {}))
    if faults:
        raise PlainError(str(faults[0]) if len(faults) == 1 else f"[{', '.join(map(str, faults))}]")
    name = pod["metadata"]["name"]
    check_stored_identity(PODS, pod, metadata.get("uid", ""), metadata.get("resourceVersion", ""))
    node = pod["spec"].get("nodeName")
    if is_terminating(pod):
        detail = f"pod {name} is being deleted, cannot be assigned to a host"
    elif node:
        detail = f'pod {name} is already assigned to node "{node}"'
    elif pod["spec"].get("schedulingGates"):
        detail = f"pod {name} has non-empty .spec.schedulingGates"
    else:
        bound = {**pod, "spec": {**pod["spec"], "nodeName": binding["target"]["name"]}}
        if metadata.get("annotations"):
            bound = with_metadata(bound, annotations={**annotations_of(pod), **metadata["annotations"]})
        bound = with_condition(bound, now, "PodScheduled", "True", observes=False)
        return Change(PODS.id, key_of(pod), bound, version_of(pod))
    raise Conflict(BINDING_RESOURCE, name, detail)


def _validate_target(target: Manifest) -> list[Cause]:
    """Return the faults of the target. It may be a node that does not exist; its name is not checked."""
    faults = []
    if target.get("kind", "") not in ("", "Node"):
        choices = ("Node", "<empty>")
        faults.append(not_supported("target.kind", target["kind"], choices, as_given=True))
    if not target.get("name"):
        faults.append(required("target.name"))
    return faults
