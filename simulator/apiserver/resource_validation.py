"""Validation of resource names and quantities in containers, pods and nodes.

Upstream: validateResourceRequirements and its neighbours in pkg/apis/core/validation/validation.go, and
pkg/apis/core/helper/helpers.go.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import repeat
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import NOT_NEGATIVE, check_name
from simulator.apiserver.status import (
    Cause,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from simulator.objects import quantity
from simulator.objects.pod_requests import (
    is_extended_resource,
    pod_limits,
    pod_requests,
    supported_at_pod_level,
)

_CONTAINER_RESOURCES: Final = ("cpu", "ephemeral-storage", "memory")
INTEGER_RESOURCES: Final = frozenset(
    (
        *("configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas"),
        *("secrets", "services", "services.loadbalancers", "services.nodeports"),
    )
)
QUOTA_RESOURCES: Final = INTEGER_RESOURCES.union(
    _CONTAINER_RESOURCES,
    (f"{kind}.{name}" for kind in ("limits", "requests") for name in _CONTAINER_RESOURCES),
    ("requests.storage",),
)
"""The standard resources of quotas (standardQuotaResources in pkg/apis/core/helper/helpers.go)."""
_STANDARD: Final = QUOTA_RESOURCES | {"storage"}
"""The standard resources (standardResources)."""
HUGE_PAGES: Final = "hugepages-"
_OF_PODS: Final = ("cpu", HUGE_PAGES, "memory")
_QOS_RESOURCES: Final = frozenset(("cpu", "memory"))

NameCheck = Callable[[str, str], Iterator[Cause]]


def validate_container_resources(
    given: dict[str, Any] | None, path: str, claims: Collection[str] = ()
) -> Iterator[Cause]:
    """Validate a container's ``resources`` (ValidateContainerResourceRequirements). ``claims``: the sorted
    names of the pod's resourceClaims."""
    if given:
        yield from _requirements(given, check_container_resource, claims, path)


def validate_overhead(overhead: dict[str, Any], path: str) -> Iterator[Cause]:
    yield from _requirements({"limits": overhead}, check_container_resource, (), path)


def validate_pod_resources(spec: Manifest, path: str) -> Iterator[Cause]:
    """Validate a pod's ``spec.resources``, which all its containers share (validatePodResources)."""
    given = spec.get("resources")
    if not given:
        return
    if "claims" in given:
        yield forbidden(f"{path}.claims", "claims may not be set for Resources at pod-level")
    yield from _requirements(given, _pod_resource, (), path)
    yield from _consistency(spec, given, path)


def _consistency(spec: Manifest, given: dict[str, Any], path: str) -> Iterator[Cause]:
    """Validate that the containers together request at most what the pod requests, that their huge pages are
    within the pod's, and that no container's limit is greater than the pod's
    (validatePodResourceConsistency)."""
    requests, limits = given.get("requests", {}), given.get("limits", {})
    without = {"spec": {**spec, "overhead": {}}}
    for name, needed in pod_requests(without, use_status=False, pod_level=False).items():
        stated = requests.get(name, "0")
        if supported_at_pod_level(name) and needed > quantity.parse_text(stated):
            shown = quantity.text_in_format_of(needed, _first_amount(spec, "requests", name))
            detail = f"must be greater than or equal to aggregate container requests of {shown}"
            yield invalid(f"{path}.requests[{name}]", stated, detail)
    for name, needed in pod_limits({"spec": {**spec, "overhead": {}, "resources": {}}}).items():
        if _is_huge(name) and name in limits and needed > quantity.parse_text(limits[name]):
            shown = quantity.text_in_format_of(needed, _first_amount(spec, "limits", name))
            detail = f"must be greater than or equal to aggregate container limits of {shown}"
            yield invalid(f"{path}.limits[{name}]", limits[name], detail)
    for index, container in enumerate(spec.get("containers") or ()):
        for name, text in (container.get("resources") or {}).get("limits", {}).items():
            if name in limits and quantity.parse_text(text) > quantity.parse_text(limits[name]):
                at = f"{path}.containers[{index}][{name}].limits"
                yield invalid(at, text, f"must be less than or equal to pod limits of {limits[name]}")


def _first_amount(spec: Manifest, kind: str, name: str) -> str:
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        amounts: dict[str, str] = (container.get("resources") or {}).get(kind, {})
        if name in amounts:
            return amounts[name]
    return ""


def validate_node_resources(status: dict[str, Any]) -> Iterator[Cause]:
    """Yield the faults that ValidateNodeResources reports."""
    for kind in ("capacity", "allocatable"):
        for name, text in status.get(kind, {}).items():
            yield from validate_amount(name, text, f"status.{kind}.{name}")


def validate_amount(name: str, text: str, path: str) -> Iterator[Cause]:
    """Validate one quantity: not negative, and an integer for resources that cannot be divided
    (ValidateResourceQuantityValue)."""
    nanos = quantity.parse_text(text)
    if nanos < 0:
        yield invalid(path, text, NOT_NEGATIVE)
    if (name in INTEGER_RESOURCES or is_extended_resource(name)) and nanos % quantity.NANO:
        yield invalid(path, text, "must be an integer")
    elif name == "cpu" and quantity.milli_value(nanos) >= quantity.MAX_INT64:
        yield invalid(path, text, "must be less than 9223372036854775807m")


def check_resource_name(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validateResourceName reports."""
    faults = [*check_name(names.qualified_name, name, path)]
    if not faults and "/" not in name and not (name in _STANDARD or _is_huge(name)):
        faults = [invalid(path, name, "must be a standard resource type or fully qualified")]
    yield from faults


def check_container_resource(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validateContainerResourceName reports."""
    yield from check_resource_name(name, path)
    if "/" not in name:
        if name not in _CONTAINER_RESOURCES and not name.startswith(HUGE_PAGES):
            yield invalid(path, name, "must be a standard resource for containers")
    elif "kubernetes.io/" not in name and not is_extended_resource(name):
        yield invalid(path, name, "doesn't follow extended resource name standard")


def _pod_resource(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validatePodResourceName reports."""
    faults = [*check_resource_name(name, path)]
    if not faults and not supported_at_pod_level(name):
        faults = [not_supported(path, name, _OF_PODS)]
    yield from faults


def _is_huge(name: str) -> bool:
    return name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}"))


def _requirements(
    given: dict[str, Any], check: NameCheck, claims: Collection[str], path: str
) -> Iterator[Cause]:
    """Yield the faults that validateResourceRequirements reports."""
    limits, requests = given.get("limits", {}), given.get("requests", {})
    for name, text in limits.items():
        at = f"{path}.limits[{name}]"
        yield from check(name, at)
        yield from validate_amount(name, text, at)
        yield from _huge_pages(name, text, at)
    for name, text in requests.items():
        at = f"{path}.requests[{name}]"
        yield from check(name, at)
        yield from validate_amount(name, text, at)
        yield from _within_limit(name, text, limits, path)
        yield from _huge_pages(name, text, at)
    asked = limits.keys() | requests.keys()
    if any(name.startswith(HUGE_PAGES) for name in asked) and not asked & _QOS_RESOURCES:
        yield forbidden(path, "HugePages require cpu or memory")
    if given.get("claims"):
        yield from _claims(given["claims"], claims, f"{path}.claims")


def _huge_pages(name: str, text: str, path: str) -> Iterator[Cause]:
    """Yield the faults of huge pages, which are used whole (validateResourceQuantityHugePageValue)."""
    if not name.startswith(HUGE_PAGES):
        return
    try:
        size = quantity.parse_quantity(name.removeprefix(HUGE_PAGES))
    except quantity.QuantityError:
        size = 0
    if size <= 0 or size % quantity.NANO or quantity.parse_text(text) % size:
        yield invalid(path, text, f"{text} is not positive integer multiple of {name}")


def _within_limit(name: str, text: str, limits: dict[str, str], path: str) -> Iterator[Cause]:
    if name not in limits:
        if not can_be_overcommitted(name):
            yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")
        return
    asked, limit = quantity.parse_text(text), quantity.parse_text(limits[name])
    if asked != limit and not can_be_overcommitted(name):
        yield invalid(f"{path}.requests", text, f"must be equal to {name} limit of {limits[name]}")
    elif asked > limit:
        detail = f"must be less than or equal to {name} limit of {limits[name]}"
        yield invalid(f"{path}.requests", text, detail)


def can_be_overcommitted(name: str) -> bool:
    """Whether the limit of a resource may be greater than its request (IsOvercommitAllowed)."""
    return ("/" not in name or "kubernetes.io/" in name) and not name.startswith(HUGE_PAGES)


def _claims(claims: Sequence[Manifest], known: Collection[str], path: str) -> Iterator[Cause]:
    """Yield the faults that validateResourceClaimNames reports."""
    seen: set[str] = set()
    requests = Counter[str]()
    for index, claim in enumerate(claims):
        name, request, at = claim["name"], claim.get("request", ""), f"{path}[{index}]"
        if not name:
            yield required(at)
            continue
        if name in seen:
            yield duplicate(at, name)
        else:
            if request:
                yield from check_name(names.dns_label, request, f"{at}.request")
            key = f"{name}/{request}" if request else name
            if key in seen:
                yield duplicate(at, key)
            elif not request:
                # Some requests of the claim are there already.
                yield from repeat(duplicate(at, name), requests[name])
            if key not in seen:
                requests[key.partition("/")[0]] += 1
            seen.add(key)
        if name not in known:
            named = f": {', '.join(known)}" if known else " which is empty"
            yield not_found(at, name, f"must be one of the names in pod.spec.resourceClaims{named}")
