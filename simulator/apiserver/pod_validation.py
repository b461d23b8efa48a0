"""Validation of pods and pod templates, beyond their schema.

Upstream: pkg/apis/core/validation/validation.go, v1.34."""

from collections.abc import Callable, Iterator, Sequence

from simulator.api import Manifest
from simulator.apiserver import names, resource_validation, selector_validation
from simulator.apiserver.container_validation import validate_containers, validate_host_network
from simulator.apiserver.go_structs import core_struct
from simulator.apiserver.placement_validation import validate_affinity, validate_spread
from simulator.apiserver.security_context_validation import (
    validate_operating_system,
    validate_pod_security,
)
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, not_supported, required
from simulator.apiserver.volume_source_validation import validate_volumes

RESTART_POLICIES = ("Always", "OnFailure", "Never")
DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")


def validate_pod(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest["spec"]
    yield from validate_pod_spec(spec, "spec", is_pod=True)
    if spec.get("nodeName") and spec.get("schedulingGates"):
        yield forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")


def validate_new_pod(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that a pod has only while it is created (ValidatePodCreate)."""
    if manifest["spec"].get("ephemeralContainers"):
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")


def validate_pod_spec(spec: Manifest, path: str, *, is_pod: bool = False) -> Iterator[Cause]:
    """Validate the spec of a pod (``is_pod``) or of a pod template (ValidatePodSpec)."""
    volumes: set[str] = set()
    yield from validate_volumes(spec.get("volumes") or (), f"{path}.volumes", volumes)
    yield from _claims(spec.get("resourceClaims") or (), f"{path}.resourceClaims")
    yield from validate_containers(spec, volumes, path)
    yield from resource_validation.validate_pod_resources(spec.get("resources"), f"{path}.resources")
    yield from validate_host_network(spec, path, is_pod=is_pod)
    yield from _choice(spec, "restartPolicy", RESTART_POLICIES, path)
    yield from _choice(spec, "dnsPolicy", DNS_POLICIES, path)
    yield from selector_validation.validate_labels(spec.get("nodeSelector", {}), f"{path}.nodeSelector")
    yield from validate_pod_security(spec, path)
    yield from validate_affinity(spec.get("affinity", {}), f"{path}.affinity")
    yield from _readiness_gates(spec.get("readinessGates") or (), f"{path}.readinessGates")
    yield from _gates(spec.get("schedulingGates", []), f"{path}.schedulingGates")
    yield from validate_spread(spec.get("topologySpreadConstraints", []), f"{path}.topologySpreadConstraints")
    yield from _names(spec, ("serviceAccountName", "nodeName"), names.dns_subdomain, path)
    yield from _active_deadline(spec, path)
    yield from _names(spec, ("hostname", "subdomain"), names.dns_label, path)
    yield from selector_validation.validate_tolerations(spec.get("tolerations", []), f"{path}.tolerations")
    fields = ("priorityClassName", "schedulerName", "runtimeClassName")
    yield from _names(spec, fields, names.dns_subdomain, path)
    yield from _choice(spec, "preemptionPolicy", PREEMPTION_POLICIES, path)
    for name, text in spec.get("overhead", {}).items():
        yield from resource_validation.validate_amount(name, text, f"{path}.overhead[{name}]")
    yield from validate_operating_system(spec, path)


def _choice(spec: Manifest, field: str, choices: tuple[str, ...], path: str) -> Iterator[Cause]:
    if field in spec and spec[field] not in choices:
        yield not_supported(f"{path}.{field}", spec[field], choices, as_given=True)


def _names(
    spec: Manifest, fields: tuple[str, ...], rule: Callable[[str], str | None], path: str
) -> Iterator[Cause]:
    for field in fields:
        if spec.get(field) and (problem := rule(spec[field])):
            yield invalid(f"{path}.{field}", spec[field], problem)


def _readiness_gates(gates: Sequence[Manifest], path: str) -> Iterator[Cause]:
    for index, gate in enumerate(gates):
        kind = gate["conditionType"]
        for problem in names.qualified_name_problems(kind):
            yield invalid(f"{path}[{index}].conditionType", kind, problem)


def _claims(claims: Sequence[Manifest], path: str) -> Iterator[Cause]:
    """validatePodResourceClaims."""
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        name, at = claim["name"], f"{path}[{index}]"
        if not name:
            yield required(f"{at}.name")
        elif name in seen:
            yield duplicate(f"{at}.name", name)
        elif problem := names.dns_label(name):
            yield invalid(f"{at}.name", name, problem)
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
            if problem := names.dns_subdomain(claim[field]):
                yield invalid(f"{at}.{field}", claim[field], problem)


def _active_deadline(spec: Manifest, path: str) -> Iterator[Cause]:
    deadline = spec.get("activeDeadlineSeconds", 1)
    if not 1 <= deadline < 1 << 31:
        yield invalid(
            f"{path}.activeDeadlineSeconds", deadline, "must be between 1 and 2147483647, inclusive"
        )


def _gates(gates: list[Manifest], path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        for problem in names.qualified_name_problems(gate["name"]):
            yield invalid(f"{path}[{index}]", gate["name"], problem)
        if gate["name"] in seen:
            yield duplicate(f"{path}[{index}]", gate["name"])
        seen.add(gate["name"])
