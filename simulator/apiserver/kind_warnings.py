"""Warnings about single kinds (WarningsOnCreate of the strategies in pkg/registry, v1.34): deprecated labels
of nodes, names that are no DNS labels, and what a headless Service ignores."""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.deprecated_labels import DEPRECATED_LABELS
from simulator.apiserver.pod_warnings import term_warnings

_OF_PODS: Final = "this is used in Pod names and hostnames"
_USES_OF_NAMES: Final = {
    "pods": "this is used in the Pod's hostname",
    "cronjobs.batch": _OF_PODS,
    "deployments.apps": _OF_PODS,
    "jobs.batch": _OF_PODS,
    "replicasets.apps": _OF_PODS,
    "replicationcontrollers": _OF_PODS,
}


def name_warnings(resource_id: str, manifest: Manifest) -> Iterator[str]:
    """Yield the warning about a name that is no DNS label, of a new object that makes pods."""
    problems = names.dns_label(manifest["metadata"].get("name", ""))
    if problems and resource_id in _USES_OF_NAMES:
        yield (
            f"metadata.name: {_USES_OF_NAMES[resource_id]}, which can result in surprising behavior; "
            f"a DNS label is recommended: [{' '.join(problems)}]"
        )


def _runtime_class(manifest: Manifest) -> Iterator[str]:
    for label in (manifest.get("scheduling") or {}).get("nodeSelector") or ():
        if label in DEPRECATED_LABELS:
            yield f"scheduling.nodeSelector: {DEPRECATED_LABELS[label]}"


def _service(manifest: Manifest) -> Iterator[str]:
    spec = manifest["spec"]
    if spec.get("type") != "ClusterIP" or spec.get("clusterIP") != "None":
        return
    # The default of the affinity, which is "None", counts, too.
    for field, name in (
        ("loadBalancerIP", "loadBalancerIP"),
        ("externalIPs", "externalIPs"),
        ("sessionAffinity", "SessionAffinity"),
    ):
        if spec.get(field):
            yield f"spec.{name} is ignored for headless services"


def _volume(manifest: Manifest) -> Iterator[str]:
    terms = (manifest["spec"].get("nodeAffinity") or {}).get("required", {}).get("nodeSelectorTerms", ())
    for index, term in enumerate(terms):
        yield from term_warnings(term, f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]")


def _storage_class(manifest: Manifest) -> Iterator[str]:
    for index, topology in enumerate(manifest.get("allowedTopologies") or ()):
        for number, expression in enumerate(topology.get("matchLabelExpressions") or ()):
            if expression.get("key") in DEPRECATED_LABELS:
                path = f"allowedTopologies[{index}].matchLabelExpressions[{number}].key"
                yield f"{path}: {DEPRECATED_LABELS[expression['key']]}"


def _storage_capacity(manifest: Manifest) -> Iterator[str]:
    topology = manifest.get("nodeTopology") or {}
    yield from term_warnings(topology, "nodeTopology")
    for key in sorted(topology.get("matchLabels") or ()):
        if key in DEPRECATED_LABELS:
            yield f"nodeTopology.matchLabels.{key}: {DEPRECATED_LABELS[key]}"


KIND_WARNINGS: Final[dict[str, Callable[[Manifest], Iterator[str]]]] = {
    "csistoragecapacities.storage.k8s.io": _storage_capacity,
    "persistentvolumes": _volume,
    "runtimeclasses.node.k8s.io": _runtime_class,
    "services": _service,
    "storageclasses.storage.k8s.io": _storage_class,
}
