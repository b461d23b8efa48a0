"""Validation of pods and pod templates, beyond their schema.

Upstream: pkg/apis/core/validation/validation.go, v1.34."""

from collections.abc import Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import DNS_POLICIES, PREEMPTION_POLICIES, RESTART_POLICIES
from simulator.apiserver.field_checks import check_choice, check_name, check_optional_names
from simulator.apiserver.go_structs import core_struct
from simulator.apiserver.kinds.pods.annotations import validate_pod_annotations
from simulator.apiserver.kinds.pods.container_validation import (
    check_image_of_pod,
    validate_containers,
    validate_host_network,
)
from simulator.apiserver.kinds.pods.dns import validate_dns_config, validate_host_aliases
from simulator.apiserver.kinds.pods.placement import validate_affinity, validate_spread
from simulator.apiserver.kinds.pods.profiles import validate_profiles_match
from simulator.apiserver.kinds.pods.security import validate_host_users, validate_pod_security
from simulator.apiserver.kinds.pods.volumes import validate_volumes
from simulator.apiserver.resource_validation import validate_overhead, validate_pod_resources
from simulator.apiserver.selector_validation import validate_labels, validate_tolerations
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, not_supported, required

_MAX_SECONDS: Final = (1 << 31) - 1
_SYSTEMS: Final = ("linux", "windows")
_NAMESPACES: Final = ("hostUsers", "hostPID", "hostIPC", "shareProcessNamespace")
_NO_ACCOUNT: Final = "must not be specified when serviceAccountName is not set"


def validate_pod(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that validatePodMetadataAndSpec reports, but for the metadata that all kinds have."""
    metadata, spec = manifest["metadata"], manifest["spec"]
    yield from validate_pod_annotations(metadata.get("annotations", {}), spec, "metadata.annotations")
    yield from validate_pod_spec(spec, "spec", pod_name=metadata.get("name", ""), is_pod=True)
    if not spec.get("serviceAccountName"):
        for index, volume in enumerate(spec.get("volumes") or ()):
            for number, source in enumerate(volume.get("projected", {}).get("sources", ())):
                if "serviceAccountToken" in source:
                    at = f"spec.volumes[{index}].projected.sources[{number}].serviceAccountToken"
                    yield forbidden(at, _NO_ACCOUNT)
    for kind in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            yield from check_image_of_pod(container, f"spec.{kind}[{index}]")


def validate_new_pod(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that a pod has only while it is created (ValidatePodCreate)."""
    spec = manifest["spec"]
    if spec.get("ephemeralContainers"):
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        yield forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")
    yield from validate_profiles_match(manifest["metadata"].get("annotations", {}), spec, "spec")


def validate_pod_spec(
    spec: Manifest, path: str, *, pod_name: str = "", is_pod: bool = False
) -> Iterator[Cause]:
    """Validate the spec of a pod (``is_pod``) or of a pod template (ValidatePodSpec)."""
    volumes: dict[str, Manifest] = {}
    yield from validate_volumes(spec.get("volumes") or (), f"{path}.volumes", pod_name, volumes)
    yield from _claims(spec.get("resourceClaims") or (), f"{path}.resourceClaims")
    yield from validate_containers(spec, volumes, path)
    yield from validate_pod_resources(spec, f"{path}.resources")
    yield from validate_host_network(spec, path, is_pod=is_pod)
    for field, choices in (("restartPolicy", RESTART_POLICIES), ("dnsPolicy", DNS_POLICIES)):
        yield from check_choice(spec.get(field) or "", choices, f"{path}.{field}", as_given=True)
    yield from validate_labels(spec.get("nodeSelector", {}), f"{path}.nodeSelector")
    yield from validate_pod_security(spec, path)
    yield from validate_affinity(spec.get("affinity", {}), f"{path}.affinity")
    yield from validate_dns_config(spec, path)
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        at = f"{path}.readinessGates[{index}].conditionType"
        yield from check_name(names.qualified_name, gate["conditionType"], at)
    yield from _gates(spec.get("schedulingGates", ()), f"{path}.schedulingGates")
    yield from validate_spread(spec.get("topologySpreadConstraints", []), f"{path}.topologySpreadConstraints")
    yield from validate_host_users(spec, path)
    yield from check_optional_names(spec, ("serviceAccountName", "nodeName"), names.dns_subdomain, path)
    yield from _active_deadline(spec, path)
    yield from check_optional_names(spec, ("hostname", "subdomain"), names.dns_label, path)
    yield from validate_tolerations(spec.get("tolerations", []), f"{path}.tolerations")
    yield from validate_host_aliases(spec.get("hostAliases", ()), f"{path}.hostAliases")
    yield from check_optional_names(spec, ("priorityClassName",), names.dns_subdomain, path)
    if "runtimeClassName" in spec:
        yield from check_name(names.dns_subdomain, spec["runtimeClassName"], f"{path}.runtimeClassName")
    if "preemptionPolicy" in spec:
        at = f"{path}.preemptionPolicy"
        yield from check_choice(spec["preemptionPolicy"], PREEMPTION_POLICIES, at, as_given=True)
    if "overhead" in spec:
        yield from validate_overhead(spec["overhead"], f"{path}.overhead")
    yield from _operating_system(spec, path)


def _operating_system(spec: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateOS reports; of those of Windows only the namespaces of the node, as the
    options and security contexts of Windows have no rules here."""
    name = spec.get("os", {"name": "linux"}).get("name", "")
    if not name:
        yield required(f"{path}.os.name", "cannot be empty")
    elif name not in _SYSTEMS:
        yield not_supported(f"{path}.os", name, _SYSTEMS)
    elif name == "windows":
        given = [field for field in _NAMESPACES if field in spec]
        yield from (forbidden(f"{path}.{field}", "cannot be set for a windows pod") for field in given)


def _claims(claims: Sequence[Manifest], path: str) -> Iterator[Cause]:
    """Yield the faults that validatePodResourceClaims reports."""
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        name, at = claim["name"], f"{path}[{index}]"
        if not name:
            yield required(f"{at}.name")
        elif name in seen:
            yield duplicate(f"{at}.name", name)
        else:
            yield from check_name(names.dns_label, name, f"{at}.name")
        seen.add(name)
        given = [field for field in ("resourceClaimName", "resourceClaimTemplateName") if field in claim]
        shown = core_struct("PodResourceClaim", claim)
        if len(given) > 1:
            detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            yield invalid(at, shown, detail, whole=True)
        elif not given:
            detail = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            yield invalid(at, shown, detail, whole=True)
        for field in given:
            yield from check_name(names.dns_subdomain, claim[field], f"{at}.{field}")


def _active_deadline(spec: Manifest, path: str) -> Iterator[Cause]:
    deadline = spec.get("activeDeadlineSeconds", 1)
    if not 1 <= deadline <= _MAX_SECONDS:
        detail = f"must be between 1 and {_MAX_SECONDS}, inclusive"
        yield invalid(f"{path}.activeDeadlineSeconds", deadline, detail)


def _gates(gates: Sequence[Manifest], path: str) -> Iterator[Cause]:
    """Yield the faults that validateSchedulingGates reports."""
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        yield from check_name(names.qualified_name, gate["name"], f"{path}[{index}]")
        if gate["name"] in seen:
            yield duplicate(f"{path}[{index}]", gate["name"])
        seen.add(gate["name"])
