"""What schemas do not say and people get wrong, for every kind; worded and located as the API server does.

Runs on a decoded manifest (:func:`simulator.apiserver.schema.decode`) without faults, with its defaults set.
Upstream: pkg/apis/{core,scheduling,policy,storage}/validation and apimachinery/pkg/api/validation, v1.34.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from simulator.api import Manifest
from simulator.apiserver import names, pod_validation, resource_validation, selector_validation
from simulator.apiserver.resources import BUILT_IN_GROUPS, Resource
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported, required
from simulator.apiserver.workload_validation import WORKLOAD_CHECKS
from simulator.objects import durations, quantity

MAX_USER_PRIORITY = 1_000_000_000
"""HighestUserDefinablePriority: what is above belongs to the system classes."""
SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""The classes that every cluster has. Upstream: pkg/apis/scheduling/v1/helpers.go."""
MAX_ANNOTATIONS_BYTES = 256 * 1024
"""TotalAnnotationSizeLimitB."""
GENERATED_SUFFIX = 5
"""Characters that generateName gets appended."""
SECONDS_ANNOTATIONS = (
    "schedviz/run-seconds",
    "schedviz/fail-after-seconds",
    "schedviz/ready-after-seconds",
    "schedviz/stop-seconds",
    "schedviz/ttl-seconds-after-finished",
    "schedviz/provision-seconds",
)
"""Our own, read by the simulated kubelet and provisioner."""

_NAME_RULES: dict[str, Callable[[str], str | None]] = {
    "namespaces": names.dns_label,
    "services": names.service_name,
    "clusterroles.rbac.authorization.k8s.io": names.path_segment,
    "clusterrolebindings.rbac.authorization.k8s.io": names.path_segment,
    "roles.rbac.authorization.k8s.io": names.path_segment,
    "rolebindings.rbac.authorization.k8s.io": names.path_segment,
}


def validate(resource: Resource, manifest: Manifest) -> list[Cause]:
    """The faults of a new object."""
    check = _CHECKS.get(resource.id)
    return [*_metadata(resource, manifest["metadata"]), *(check(manifest) if check else ())]


def _metadata(resource: Resource, metadata: dict[str, Any]) -> Iterator[Cause]:
    rule = _NAME_RULES.get(resource.id, names.dns_subdomain)
    name, prefix = metadata.get("name", ""), metadata.get("generateName", "")
    if not name and not prefix:
        yield required("metadata.name", "name or generateName is required")
    # A prefix may end in what a name may not end in: a suffix follows.
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
    yield from selector_validation.labels(metadata.get("labels", {}), "metadata.labels")
    annotations = metadata.get("annotations", {})
    for key in annotations:
        if problem := names.qualified_name(key.lower()):
            yield invalid("metadata.annotations", key, problem)
    if (
        sum(len(key.encode()) + len(text.encode()) for key, text in annotations.items())
        > MAX_ANNOTATIONS_BYTES
    ):
        yield Cause(
            "metadata.annotations",
            f"Too long: may not be more than {MAX_ANNOTATIONS_BYTES} bytes",
            "FieldValueTooLong",
        )
    for key in SECONDS_ANNOTATIONS:
        if key in annotations and not re.fullmatch("[0-9]{1,9}", annotations[key], re.ASCII):
            detail = "must be a whole number of seconds"
            yield invalid(f"metadata.annotations[{key}]", annotations[key], detail)
    for index, finalizer in enumerate(metadata.get("finalizers", ())):
        if problem := names.qualified_name(finalizer):
            yield invalid(f"metadata.finalizers[{index}]", finalizer, problem)


def _node(manifest: Manifest) -> Iterator[Cause]:
    yield from selector_validation.taints(manifest["spec"].get("taints", []), "spec.taints")
    yield from resource_validation.node_resources(manifest["status"])


def _priority_class(manifest: Manifest) -> Iterator[Cause]:
    name, value = manifest["metadata"].get("name", ""), manifest["value"]
    if name.startswith("system-"):
        if SYSTEM_CLASSES.get(name) != value or manifest.get("globalDefault"):
            yield forbidden(
                "metadata.name",
                "priority class names with 'system-' prefix are reserved for system use only",
            )
    elif value > MAX_USER_PRIORITY:
        yield forbidden("value", f"maximum allowed value of a user defined priority is {MAX_USER_PRIORITY}")
    if manifest["preemptionPolicy"] not in pod_validation.PREEMPTION_POLICIES:
        yield not_supported(
            "preemptionPolicy", manifest["preemptionPolicy"], pod_validation.PREEMPTION_POLICIES
        )


def _disruption_budget(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest.get("spec", {})
    if "minAvailable" in spec and "maxUnavailable" in spec:
        yield invalid("spec", "minAvailable, maxUnavailable", "cannot be both set")
    for field in ("minAvailable", "maxUnavailable"):
        if field in spec:
            yield from _int_or_percent(spec[field], f"spec.{field}")
    policy = spec.get("unhealthyPodEvictionPolicy", "IfHealthyBudget")
    if policy not in ("IfHealthyBudget", "AlwaysAllow"):
        yield not_supported("spec.unhealthyPodEvictionPolicy", policy, ("IfHealthyBudget", "AlwaysAllow"))
    yield from selector_validation.label_selector(spec.get("selector"), "spec.selector")


def _int_or_percent(value: int | str, path: str) -> Iterator[Cause]:
    if isinstance(value, int):
        if value < 0:
            yield invalid(path, value, "must be greater than or equal to 0")
    elif not re.fullmatch("[0-9]{1,9}%", value, re.ASCII):
        yield invalid(path, value, "must be an integer or percentage (e.g '5%')")
    elif int(value[:-1]) > 100:
        yield invalid(path, value, "must not be greater than 100%")


def _persistent_volume(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest["spec"]
    yield from _storage(spec.get("capacity", {}), "spec.capacity")
    if not spec.get("accessModes"):
        yield required("spec.accessModes")
    affinity = spec.get("nodeAffinity", {}).get("required")
    if affinity:
        yield from selector_validation.node_selector(affinity, "spec.nodeAffinity.required")


def _persistent_volume_claim(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest["spec"]
    if not spec.get("accessModes"):
        yield required("spec.accessModes", "at least 1 access mode is required")
    yield from _storage(spec.get("resources", {}).get("requests", {}), "spec.resources[requests]")
    yield from selector_validation.label_selector(spec.get("selector"), "spec.selector")


def _storage(amounts: dict[str, str], path: str) -> Iterator[Cause]:
    if "storage" not in amounts:
        yield required(f"{path}[storage]")
    elif quantity.parse_text(amounts["storage"]) <= 0:
        yield invalid(f"{path}[storage]", amounts["storage"], "must be greater than zero")


def _storage_class(manifest: Manifest) -> Iterator[Cause]:
    for field, choices in (
        ("reclaimPolicy", ("Delete", "Retain")),
        ("volumeBindingMode", ("Immediate", "WaitForFirstConsumer")),
    ):
        if manifest[field] not in choices:
            yield not_supported(field, manifest[field], choices)


def _definition(manifest: Manifest) -> Iterator[Cause]:
    """A CustomResourceDefinition. Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation."""
    spec = manifest["spec"]
    group, given = spec["group"], spec["names"]
    if problem := names.dns_subdomain(group):
        yield invalid("spec.group", group, problem)
    elif "." not in group or group in BUILT_IN_GROUPS:
        yield invalid(
            "spec.group", group, "should be a domain with at least one dot, and not one of Kubernetes'"
        )
    for field, text in (("plural", given["plural"]), ("kind", given["kind"].lower())):
        if problem := names.service_name(text):
            yield invalid(f"spec.names.{field}", given[field], problem)
    if manifest["metadata"].get("name") != f"{given['plural']}.{group}":
        name = manifest["metadata"].get("name", "")
        yield invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
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
                durations.parse(entry.get(field, "0"))
            except ValueError as error:
                yield invalid(f"spec.entries[{index}].{field}", entry[field], str(error))


_CHECKS: dict[str, Callable[[Manifest], Iterator[Cause]]] = {
    "pods": pod_validation.pod,
    "nodes": _node,
    "priorityclasses.scheduling.k8s.io": _priority_class,
    "poddisruptionbudgets.policy": _disruption_budget,
    "persistentvolumes": _persistent_volume,
    "persistentvolumeclaims": _persistent_volume_claim,
    "storageclasses.storage.k8s.io": _storage_class,
    "customresourcedefinitions.apiextensions.k8s.io": _definition,
    "timetables.schedviz": _timetable,
    **WORKLOAD_CHECKS,
}
