"""Validation of new objects, beyond their schemas, with the messages and field paths of the API server.

It requires a decoded manifest (:func:`simulator.apiserver.decoding.decode`) without faults, with defaults
set. Upstream: pkg/apis/{core,scheduling,policy,storage}/validation and apimachinery/pkg/api/validation,
v1.34.
"""

import ipaddress
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from simulator.api import Manifest
from simulator.apiserver import (
    annotation_validation,
    names,
    pod_validation,
    resource_validation,
    selector_validation,
)
from simulator.apiserver.core_validation import CORE_CHECKS
from simulator.apiserver.custom_resources.resource_schema import custom_faults
from simulator.apiserver.device_validation import DEVICE_CHECKS
from simulator.apiserver.resources import BUILT_IN_GROUPS, PODS, Resource
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported, required
from simulator.apiserver.storage_validation import STORAGE_CHECKS
from simulator.apiserver.workload_validation import WORKLOAD_CHECKS, validate_int_or_percent
from simulator.objects import durations

MAX_USER_PRIORITY = 1_000_000_000
"""HighestUserDefinablePriority. Higher values are reserved for the system priority classes."""
SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""The system priority classes and their values. Upstream: pkg/apis/scheduling/v1/helpers.go."""
GENERATED_SUFFIX = 5
"""Number of random characters that are appended to generateName."""
_NAME_RULES: dict[str, Callable[[str], str | None]] = {
    "namespaces": names.dns_label,
    "services": names.service_name,
    "clusterroles.rbac.authorization.k8s.io": names.path_segment,
    "clusterrolebindings.rbac.authorization.k8s.io": names.path_segment,
    "roles.rbac.authorization.k8s.io": names.path_segment,
    "rolebindings.rbac.authorization.k8s.io": names.path_segment,
}


def validate(resource: Resource, manifest: Manifest, *, is_new: bool = True) -> list[Cause]:
    """Return the faults of an object as it is to be stored. ``is_new``: it is created, not updated."""
    check = _CHECKS.get(resource.id) if is_new or resource.id not in _CHECKED_WHEN_NEW else None
    faults = check(manifest) if check else custom_faults(resource, manifest)
    return [*_metadata(resource, manifest["metadata"]), *faults]


def validate_new(resource: Resource, manifest: Manifest) -> list[Cause]:
    """Return the faults of an object that is created."""
    faults = validate(resource, manifest)
    return [*faults, *pod_validation.validate_new_pod(manifest)] if resource == PODS else faults


def _metadata(resource: Resource, metadata: dict[str, Any]) -> Iterator[Cause]:
    rule = _NAME_RULES.get(resource.id, names.dns_subdomain)
    name, prefix = metadata.get("name", ""), metadata.get("generateName", "")
    if not name and not prefix:
        yield required("metadata.name", "name or generateName is required")
    # A prefix may end with a character that a name may not end with, as a suffix is appended: hence the "x".
    if prefix and (problem := rule(prefix[: names.LABEL_LENGTH - GENERATED_SUFFIX] + "x")):
        yield invalid("metadata.generateName", prefix, problem)
    elif name and (problem := rule(name)):
        yield invalid("metadata.name", name, problem)
    namespace = metadata.get("namespace")
    if not resource.namespaced:
        if namespace:
            yield forbidden("metadata.namespace", "not allowed on this type")
    elif namespace and (problem := names.dns_label(namespace)):
        yield invalid("metadata.namespace", namespace, problem)
    yield from selector_validation.validate_labels(metadata.get("labels", {}), "metadata.labels")
    yield from annotation_validation.validate_annotations(
        metadata.get("annotations", {}), "metadata.annotations"
    )
    for index, finalizer in enumerate(metadata.get("finalizers", ())):
        if problem := names.qualified_name(finalizer):
            yield invalid(f"metadata.finalizers[{index}]", finalizer, problem)
    yield from _owner_references(metadata.get("ownerReferences", ()))


def _owner_references(references: Sequence[Manifest]) -> Iterator[Cause]:
    """ValidateOwnerReferences in apimachinery/pkg/api/validation/objectmeta.go."""
    path = "metadata.ownerReferences"
    for reference in references:
        for field in ("apiVersion", "kind", "name", "uid"):
            if not reference[field]:
                yield invalid(f"{path}.{field}", reference[field], "must not be empty")
    controllers = [f"{r['kind']}/{r['name']}" for r in references if r.get("controller")]
    if len(controllers) > 1:
        detail = 'Only one reference can have Controller set to true. Found "true" in references for '
        order = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
        shown = [{field: owner[field] for field in order if field in owner} for owner in references]
        yield invalid(path, shown, detail + " and ".join(controllers[:2]), whole=True)


def _validate_node(manifest: Manifest) -> Iterator[Cause]:
    # Upstream writes the path of the metadata.
    yield from selector_validation.validate_taints(manifest["spec"].get("taints", []), "metadata.taints")
    yield from resource_validation.validate_node_resources(manifest["status"])
    yield from _pod_cidrs(manifest["spec"])


def _pod_cidrs(spec: Manifest) -> Iterator[Cause]:
    given = spec.get("podCIDRs") or [cidr for cidr in (spec.get("podCIDR"),) if cidr]
    families = set()
    for index, cidr in enumerate(given):
        try:
            families.add(ipaddress.ip_network(cidr, strict=False).version)
            if "/" not in cidr:
                raise ValueError
        except ValueError:
            detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
            yield invalid(f"spec.podCIDRs[{index}]", cidr, detail)
    if len(given) > 1 and (len(given) > 2 or len(families) < 2):
        yield invalid("spec.podCIDRs", given, "may specify no more than one CIDR for each IP family")


def _validate_priority_class(manifest: Manifest) -> Iterator[Cause]:
    name, value = manifest["metadata"].get("name", ""), manifest["value"]
    if name.startswith("system-"):
        if problem := _system_class_problem(manifest, name):
            detail = "priority class names with 'system-' prefix are reserved for system use only. error: "
            yield forbidden("metadata.name", detail + problem)
    elif value > MAX_USER_PRIORITY:
        yield forbidden("value", f"maximum allowed value of a user defined priority is {MAX_USER_PRIORITY}")
    if manifest["preemptionPolicy"] not in pod_validation.PREEMPTION_POLICIES:
        yield not_supported(
            "preemptionPolicy", manifest["preemptionPolicy"], pod_validation.PREEMPTION_POLICIES
        )


def _system_class_problem(manifest: Manifest, name: str) -> str:
    """Why a class is none of the system; "" if it is one (IsKnownSystemPriorityClass)."""
    if name not in SYSTEM_CLASSES:
        return f"{name} is not a known system priority class"
    if manifest["value"] != SYSTEM_CLASSES[name]:
        return f"value of {name} PriorityClass must be {SYSTEM_CLASSES[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if manifest.get("globalDefault") else ""


def _validate_disruption_budget(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest.get("spec", {})
    if "minAvailable" in spec and "maxUnavailable" in spec:
        shown = {
            "MinAvailable": spec["minAvailable"],
            "Selector": spec.get("selector"),
            "MaxUnavailable": spec["maxUnavailable"],
            "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
        }
        yield invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set", whole=True)
    for field in ("minAvailable", "maxUnavailable"):
        if field in spec:
            yield from validate_int_or_percent(spec[field], f"spec.{field}", most=100)
    policy = spec.get("unhealthyPodEvictionPolicy", "IfHealthyBudget")
    if policy not in ("IfHealthyBudget", "AlwaysAllow"):
        yield not_supported("spec.unhealthyPodEvictionPolicy", policy, ("IfHealthyBudget", "AlwaysAllow"))
    yield from selector_validation.validate_label_selector(spec.get("selector"), "spec.selector")


def _custom_resource_definition(manifest: Manifest) -> Iterator[Cause]:
    """Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation."""
    spec = manifest["spec"]
    group, given = spec["group"], spec["names"]
    if manifest["metadata"].get("name") != f"{given['plural']}.{group}":
        name = manifest["metadata"].get("name", "")
        yield invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
    if not group:
        yield required("spec.group")
    elif problem := names.dns_subdomain(group):
        yield invalid("spec.group", group, problem)
    elif "." not in group or group in BUILT_IN_GROUPS:
        yield invalid(
            "spec.group", group, "should be a domain with at least one dot, and not one of Kubernetes'"
        )
    for field, text in (("plural", given["plural"]), ("kind", given["kind"].lower())):
        if problem := names.service_name(text):
            yield invalid(f"spec.names.{field}", given[field], problem)
    if spec["scope"] not in ("Cluster", "Namespaced"):
        yield not_supported("spec.scope", spec["scope"], ("Cluster", "Namespaced"))
    if not spec["versions"]:
        yield required("spec.versions")
    for index, version in enumerate(spec["versions"]):
        if problem := names.service_name(version["name"]):
            yield invalid(f"spec.versions[{index}].name", version["name"], problem)


def _timetable(manifest: Manifest) -> Iterator[Cause]:
    for index, entry in enumerate(manifest["spec"]["entries"]):
        for field in ("at", "every", "until"):
            try:
                durations.parse_duration(entry.get(field, "0"))
            except ValueError as error:
                yield invalid(f"spec.entries[{index}].{field}", entry[field], str(error))


_CHECKED_WHEN_NEW = ("priorityclasses.scheduling.k8s.io",)
"""Resources of whose updates only the changes are validated (ValidatePriorityClassUpdate)."""
_CHECKS: dict[str, Callable[[Manifest], Iterator[Cause]]] = {
    "pods": pod_validation.validate_pod,
    "nodes": _validate_node,
    "priorityclasses.scheduling.k8s.io": _validate_priority_class,
    "poddisruptionbudgets.policy": _validate_disruption_budget,
    "customresourcedefinitions.apiextensions.k8s.io": _custom_resource_definition,
    "timetables.schedviz": _timetable,
    **CORE_CHECKS,
    **DEVICE_CHECKS,
    **STORAGE_CHECKS,
    **WORKLOAD_CHECKS,
}
