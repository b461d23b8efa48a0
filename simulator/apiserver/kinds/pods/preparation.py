"""What a pod gets when it is created, and what an update through each path does not change.

Upstream: PrepareForCreate and PrepareForUpdate of the strategies in pkg/registry/core/pod/strategy.go, v1.34.
"""

import copy
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.kinds.pods.defaults import match_pod_ips
from simulator.apiserver.kinds.pods.parts import affinity_terms
from simulator.apiserver.kinds.pods.profiles import copy_app_armor_annotations
from simulator.apiserver.kinds.pods.qos import qos_class
from simulator.apiserver.strategy import with_field, without_field

_RESIZED: Final = ("resources", "resizePolicy")


def prepare_pod(manifest: Manifest, now: str) -> None:
    """Set the status of a new pod, Pending with its QoS class, and what is derived from labels and
    annotations."""
    set_derived_fields(manifest)
    status = manifest["status"] = {"phase": "Pending", "qosClass": qos_class(manifest)}
    if manifest["spec"].get("schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
                "lastTransitionTime": now,
            }
        ]


def set_derived_fields(manifest: Manifest) -> None:
    """Set what follows from the labels and annotations of a new pod."""
    copy_app_armor_annotations(manifest)
    spec = manifest["spec"]
    labels = manifest["metadata"].get("labels", {})
    for term, _ in affinity_terms(spec, ""):
        _merge_label_keys_of_term(term, labels)
    for constraint in spec.get("topologySpreadConstraints", ()):
        _merge_label_keys_of_term(constraint, labels)


def _merge_label_keys_of_term(term: Manifest, labels: dict[str, str]) -> None:
    """Add matchLabelKeys and mismatchLabelKeys to the term's label selector (feature gates
    MatchLabelKeysInPodAffinity and MatchLabelKeysInPodTopologySpreadSelectorMerge).

    A term without a selector is not changed, because it matches no pod."""
    selector = term.get("labelSelector")
    if selector is None:
        return
    for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for key in term.get(field, ()):
            if key in labels:
                expression = {"key": key, "operator": operator, "values": [labels[key]]}
                selector.setdefault("matchExpressions", []).append(expression)


def prepare_status(prepared: Manifest, old: Manifest) -> Manifest:
    """Complete the new status in a pod; its QoS class stays."""
    status = copy.deepcopy(prepared["status"])
    match_pod_ips(status)
    known = old.get("status", {}).get("qosClass")
    return {**prepared, "status": {"qosClass": known, **status} if known else status}


def prepare_ephemeral_containers(new: Manifest, old: Manifest) -> Manifest:
    """Return the stored pod with the new ephemeral containers."""
    containers = new.get("spec", {}).get("ephemeralContainers")
    spec = {**copy.deepcopy(old["spec"]), "ephemeralContainers": containers}
    return {**old, "spec": spec if containers else without_field(spec, "ephemeralContainers")}


def prepare_resize(new: Manifest, old: Manifest) -> Manifest:
    """Return the stored pod with the new resources and resize policies of the containers. Where containers
    are added, removed, renamed or put in another order, they are as they were sent, for validation to refuse
    (dropNonResizeUpdates)."""
    lists = {
        kind: (old["spec"].get(kind, []), new["spec"].get(kind, []))
        for kind in ("containers", "initContainers")
    }
    if any(len(known) != len(given) for known, given in lists.values()):
        return new
    prepared: Manifest = copy.deepcopy(old)
    for kind, (known, given) in lists.items():
        pairs = [*zip(known, given, strict=True)]
        if any(container["name"] != wanted["name"] for container, wanted in pairs):
            prepared["spec"][kind] = given
        elif pairs:
            prepared["spec"][kind] = [_with_resources(container, wanted) for container, wanted in pairs]
    return prepared


def _with_resources(container: Manifest, wanted: Manifest) -> Manifest:
    for field in _RESIZED:
        container = with_field(container, wanted, field)
    return container
