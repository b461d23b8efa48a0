"""``metadata.generation``: the number of the object's desired state, which grows when this is changed.

Which kinds have one, and what counts as a change, is in the strategy of each kind (strategy.go in
pkg/registry, v1.34): most often the spec, never the status. Other kinds keep what was sent at creation."""

from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.resources import BUILT_IN_GROUPS, Resource

GENERATION: Final = "generation"
_WITH_GENERATION = frozenset(
    (
        "cronjobs.batch",
        "customresourcedefinitions.apiextensions.k8s.io",
        "daemonsets.apps",
        "deployments.apps",
        "deviceclasses.resource.k8s.io",
        "endpointslices.discovery.k8s.io",
        "ingressclasses.networking.k8s.io",
        "ingresses.networking.k8s.io",
        "jobs.batch",
        "networkpolicies.networking.k8s.io",
        "poddisruptionbudgets.policy",
        "pods",
        "podtemplates",
        "priorityclasses.scheduling.k8s.io",
        "replicasets.apps",
        "replicationcontrollers",
        "resourceslices.resource.k8s.io",
        "statefulsets.apps",
        "flowschemas.flowcontrol.apiserver.k8s.io",
        "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
        "validatingadmissionpolicies.admissionregistration.k8s.io",
        "validatingadmissionpolicybindings.admissionregistration.k8s.io",
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
    )
)
_CSI_DRIVERS: Final = "csidrivers.storage.k8s.io"
"""The resource whose objects get their first generation from the first change that counts."""
_CHANGEABLE: Final = ("tokenRequests", "requiresRepublish", "seLinuxMount")
"""The fields in the spec of a CSIDriver whose changes count."""
_NEVER_CHANGED = ("priorityclasses.scheduling.k8s.io",)


def has_generation(resource: Resource) -> bool:
    return resource.id in _WITH_GENERATION or resource.group not in BUILT_IN_GROUPS


def set_first_generation(resource: Resource, manifest: Manifest) -> None:
    if has_generation(resource):
        manifest["metadata"][GENERATION] = 1


def set_next_generation(resource: Resource, old: Manifest, new: Manifest, *, counts: bool = True) -> None:
    """Set the generation of an updated object: the old one, or the next if what counts has changed.
    ``counts`` is False for an update of the status."""
    metadata = new["metadata"]
    metadata.pop(GENERATION, None)
    before = old["metadata"].get(GENERATION)
    if before is not None:
        metadata[GENERATION] = before
    may_count = counts and (has_generation(resource) or resource.id == _CSI_DRIVERS)
    if may_count and _desired(resource, old) != _desired(resource, new):
        metadata[GENERATION] = (before or 0) + 1


def with_next_generation(old: Manifest, new: Manifest) -> Manifest:
    """Return ``new`` with the next generation if it has one and its spec is another than that of ``old``: for
    writes of controllers, which change nothing else that counts."""
    spec, metadata = new.get("spec"), new["metadata"]
    if spec is old.get("spec") or GENERATION not in metadata or spec == old.get("spec"):
        return new
    return {**new, "metadata": {**metadata, GENERATION: old["metadata"][GENERATION] + 1}}


def _desired(resource: Resource, manifest: Manifest) -> Any:
    """Return the part of an object with whose changes the generation grows."""
    metadata = manifest["metadata"]
    if resource.group not in BUILT_IN_GROUPS:
        left_out = ("metadata", "status") if resource.has_status else ("metadata",)
        return {field: value for field, value in manifest.items() if field not in left_out}
    if resource.id == "deployments.apps":
        return manifest.get("spec"), metadata.get("annotations")
    if resource.id == "endpointslices.discovery.k8s.io":
        content = {field: value for field, value in manifest.items() if field != "metadata"}
        return content, metadata.get("labels")
    if resource.id == _CSI_DRIVERS:
        return [manifest["spec"].get(field) for field in _CHANGEABLE]
    if resource.id == "podtemplates":
        return manifest.get("template")
    if resource.plural.endswith("webhookconfigurations"):
        return manifest.get("webhooks")
    return None if resource.id in _NEVER_CHANGED else manifest.get("spec")
