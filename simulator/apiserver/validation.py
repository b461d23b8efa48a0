"""Validation of new objects, beyond their schemas, with the messages and field paths of the API server.

It requires a decoded manifest (:func:`simulator.apiserver.decoding.decode`) without faults, with defaults
set. Upstream: pkg/apis/{core,scheduling,policy,storage}/validation and apimachinery/pkg/api/validation,
v1.34.
"""

from collections.abc import Callable, Iterator
from itertools import chain

from simulator.api import Manifest
from simulator.apiserver import pod_validation
from simulator.apiserver.core_validation import CORE_CHECKS
from simulator.apiserver.custom_resources.resource_schema import custom_faults
from simulator.apiserver.definition_validation import validate_definition
from simulator.apiserver.device_validation import DEVICE_CHECKS
from simulator.apiserver.enumerations import EVICTION_POLICIES, PREEMPTION_POLICIES
from simulator.apiserver.field_checks import check_choice, check_cidr, parse_cidr
from simulator.apiserver.object_meta_validation import (
    METADATA_LAST,
    validate_finalizers,
    validate_object_meta,
)
from simulator.apiserver.resource_validation import validate_node_resources
from simulator.apiserver.resources import CRDS, PODS, Resource
from simulator.apiserver.selector_validation import validate_label_selector, validate_taints
from simulator.apiserver.status import Cause, first_causes, forbidden, invalid, not_supported
from simulator.apiserver.storage_group_validation import STORAGE_CHECKS
from simulator.apiserver.workload_validation import (
    WORKLOAD_CHECKS,
    WORKLOAD_CHECKS_OF_UPDATED,
    check_at_most_all,
    validate_int_or_percent,
)
from simulator.objects import durations

MAX_USER_PRIORITY = 1_000_000_000
"""The highest priority that users may define (HighestUserDefinablePriority). Higher values are reserved for
the system priority classes."""
SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""The system priority classes and their values. Upstream: pkg/apis/scheduling/v1/helpers.go."""
GENERATED_SUFFIX = 5
"""Number of random characters that are appended to generateName."""


def validate(resource: Resource, manifest: Manifest) -> list[Cause]:
    """Return the faults of a new object as it is to be stored."""
    faults = first_causes(kind_faults(resource, manifest))
    if faults and resource.id in METADATA_LAST:
        return faults
    metadata = manifest["metadata"]
    return first_causes(
        chain(validate_object_meta(resource, metadata), validate_finalizers(resource, metadata), faults)
    )


def kind_faults(resource: Resource, manifest: Manifest, old: Manifest | None = None) -> Iterator[Cause]:
    """Yield the faults of an object but for those of its metadata. ``old``: the object before an update,
    whose faults it may keep in some kinds."""
    if old is not None and resource.id in _CHECKS_OF_UPDATED:
        return _CHECKS_OF_UPDATED[resource.id](manifest, old)
    check = _CHECKS.get(resource.id)
    return check(manifest) if check else iter(custom_faults(resource, manifest, old))


def validate_new(resource: Resource, manifest: Manifest) -> list[Cause]:
    """Return the faults of an object that is created."""
    faults = validate(resource, manifest)
    return (
        first_causes(chain(faults, pod_validation.validate_new_pod(manifest))) if resource == PODS else faults
    )


def _validate_node(manifest: Manifest) -> Iterator[Cause]:
    # Upstream writes the path of the metadata.
    yield from validate_taints(manifest["spec"].get("taints", []), "metadata.taints")
    yield from validate_node_resources(manifest["status"])
    yield from _pod_cidrs(manifest["spec"])


def _pod_cidrs(spec: Manifest) -> Iterator[Cause]:
    given = spec.get("podCIDRs", [])
    for index, cidr in enumerate(given):
        yield from check_cidr(cidr, f"spec.podCIDRs[{index}]")
    families = [parsed and parsed.version for parsed in map(parse_cidr, given)]
    if len(given) > 1 and None in families:
        bad = given[families.index(None)]
        detail = f"invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR address: {bad}"
        yield Cause("spec.podCIDRs", f"Internal error: {detail}", "InternalError")
    if len(given) > 1 and (len(given) > 2 or None in families or len({*families}) < 2):
        yield invalid("spec.podCIDRs", given, "may specify no more than one CIDR for each IP family")


def _validate_priority_class(manifest: Manifest) -> Iterator[Cause]:
    name, value = manifest["metadata"].get("name", ""), manifest["value"]
    if name.startswith("system-"):
        if problem := _system_class_problem(manifest, name):
            detail = "priority class names with 'system-' prefix are reserved for system use only. error: "
            yield forbidden("metadata.name", detail + problem)
    elif value > MAX_USER_PRIORITY:
        yield forbidden("value", f"maximum allowed value of a user defined priority is {MAX_USER_PRIORITY}")
    policy = manifest["preemptionPolicy"]
    yield from check_choice(policy, PREEMPTION_POLICIES, "preemptionPolicy", as_given=True)


def _system_class_problem(manifest: Manifest, name: str) -> str:
    """Return the error of a class that is none of the system; "" if it is one
    (IsKnownSystemPriorityClass)."""
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
            yield from validate_int_or_percent(spec[field], f"spec.{field}")
            yield from check_at_most_all(spec[field], f"spec.{field}")
    yield from validate_label_selector(spec.get("selector"), "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy", "IfHealthyBudget")
    if policy not in EVICTION_POLICIES:
        yield not_supported("spec.unhealthyPodEvictionPolicy", policy, EVICTION_POLICIES)


def _timetable(manifest: Manifest) -> Iterator[Cause]:
    for index, entry in enumerate(manifest["spec"]["entries"]):
        for field in ("at", "every", "until"):
            try:
                durations.parse_duration(entry.get(field, "0"))
            except ValueError as error:
                yield invalid(f"spec.entries[{index}].{field}", entry[field], str(error))


_CHECKS: dict[str, Callable[[Manifest], Iterator[Cause]]] = {
    "pods": pod_validation.validate_pod,
    "nodes": _validate_node,
    "priorityclasses.scheduling.k8s.io": _validate_priority_class,
    "poddisruptionbudgets.policy": _validate_disruption_budget,
    CRDS: validate_definition,
    "timetables.schedviz": _timetable,
    **CORE_CHECKS,
    **DEVICE_CHECKS,
    **STORAGE_CHECKS,
    **WORKLOAD_CHECKS,
}
_CHECKS_OF_UPDATED: dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]] = {
    **WORKLOAD_CHECKS_OF_UPDATED,
}
