"""Requests and limits of pods: staging/src/k8s.io/component-helpers/resource/helpers.go.

Sums and maxima are computed with exact quantities (nano-units) and rounded up once at the end, as upstream.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from simulator.objects import quantity
from simulator.objects.conditions import condition
from simulator.objects.quantity import Nanos

CPU, MEMORY, EPHEMERAL_STORAGE, PODS = "cpu", "memory", "ephemeral-storage", "pods"
BASIC_RESOURCES = (CPU, MEMORY, EPHEMERAL_STORAGE)
"""The resources that the scheduler counts on every node, beside the scalar resources."""

Requests = dict[str, Nanos]

# Default requests of containers without one. They are used for scoring, not for filtering, so that pods
# without requests are spread over the nodes: pkg/scheduler/util/pod_resources.go.
DEFAULT_MILLI_CPU_REQUEST = 100
DEFAULT_MEMORY_REQUEST = 200 * 1024 * 1024
DEFAULT_REQUESTS: Requests = {
    CPU: DEFAULT_MILLI_CPU_REQUEST * quantity.NANO // 1000,
    MEMORY: DEFAULT_MEMORY_REQUEST * quantity.NANO,
}

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", re.ASCII)
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)


def is_extended_resource(name: str) -> bool:
    """Whether the name has a domain other than kubernetes.io's and is valid in quotas
    (IsExtendedResourceName)."""
    if is_native_resource(name) or name.startswith("requests."):
        return False
    domain, _, rest = f"requests.{name}".partition("/")
    return len(domain) <= 253 and bool(_DOMAIN.fullmatch(domain)) and bool(_NAME.fullmatch(rest))


def is_native_resource(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def is_scalar_resource(name: str) -> bool:
    """Whether the scheduler counts the resource in addition to cpu, memory, ephemeral-storage and pods
    (IsScalarResourceName)."""
    return (
        name.startswith(("hugepages-", "attachable-volumes-"))
        or "kubernetes.io/" in name
        or is_extended_resource(name)
    )


def is_counted_resource(name: str) -> bool:
    return name in BASIC_RESOURCES or is_scalar_resource(name)


def to_amounts(requests: Mapping[str, Nanos]) -> dict[str, int]:
    """Convert requests to the amounts that the scheduler counts: cpu in milli, the rest in whole units
    (Resource.Add)."""
    return {name: to_amount(name, nanos) for name, nanos in requests.items() if is_counted_resource(name)}


def to_amount(name: str, nanos: Nanos) -> int:
    """Convert to the unit that the scheduler counts in: millicores of cpu, whole units of all other
    resources; capped to int64."""
    if name == CPU:
        return quantity.milli_value(nanos)
    return max(-quantity.MAX_INT64, min(quantity.MAX_INT64, quantity.value(nanos)))


def parse_resource_list(manifest: Mapping[str, Any] | None) -> Requests:
    return {name: quantity.parse_quantity(value) for name, value in (manifest or {}).items()}


def is_sidecar(container: Mapping[str, Any]) -> bool:
    """Whether an init container is restartable."""
    return bool(container.get("restartPolicy") == "Always")


def supported_at_pod_level(name: str) -> bool:
    return name in (CPU, MEMORY) or name.startswith("hugepages-")


def pod_level_requests(spec: Mapping[str, Any]) -> Requests:
    """Return the pod-level requests. For their resources they replace the sum of the containers' requests."""
    return _pod_level_amounts(spec, "requests")


def _pod_level_amounts(spec: Mapping[str, Any], field: str) -> Requests:
    given = parse_resource_list((spec.get("resources") or {}).get(field))
    return {name: nanos for name, nanos in given.items() if supported_at_pod_level(name)}


def pod_requests(
    manifest: Mapping[str, Any],
    *,
    use_status: bool,
    missing: Requests | None = None,
    pod_level: bool = True,
    from_claims: Requests | None = None,
) -> Requests:
    """Return the pod's requests, exactly (PodRequests).

    ``use_status``: a container that is being resized counts with the maximum of its requests in the spec, its
    requests in the status and its allocated resources. ``missing``: default requests of containers without
    one. ``pod_level``: whether pod-level requests are used. ``from_claims``: what devices add to the requests
    of the containers; ``use_status`` takes it from the status."""
    spec = manifest["spec"]
    given_to = statuses_with_resources(manifest) if use_status else {}
    infeasible = bool(given_to) and _resize_infeasible(manifest)

    def of(container: Mapping[str, Any], resizable: bool) -> Requests:
        requests = parse_resource_list((container.get("resources") or {}).get("requests"))
        status = given_to.get(container["name"]) if resizable else None
        if status is not None:
            given = parse_resource_list(status["resources"].get("requests"))
            _set_max(given, parse_resource_list(status.get("allocatedResources")))
            if not infeasible:
                _set_max(given, requests)
            requests = given
        return {**missing, **requests} if missing else requests

    total = _aggregate_containers(spec, of)
    _add(total, from_claims or {})
    if use_status:
        for claim in claims_of_nodes(manifest):
            _add(total, parse_resource_list(claim.get("resources")))
    if pod_level:
        total.update(_determined_pod_level_requests(manifest) if use_status else pod_level_requests(spec))
    _add(total, parse_resource_list(spec.get("overhead")))
    return total


def _determined_pod_level_requests(manifest: Mapping[str, Any]) -> Requests:
    """Return the pod-level requests of a pod that may be being resized (since v1.36): the maximum of those of
    the spec, unless the resize is infeasible, those of the status, and the allocated resources. Each resource
    of the spec counts, with 0 where none of these has it."""
    stated = pod_level_requests(manifest["spec"])
    status = manifest.get("status") or {}
    if not stated or status.get("resources") is None:
        return stated
    found = dict.fromkeys(stated, 0)
    if not _resize_infeasible(manifest):
        _set_max(found, stated)
    for given in (status["resources"].get("requests"), status.get("allocatedResources")):
        parsed = parse_resource_list(given)
        _set_max(found, {name: parsed[name] for name in stated if name in parsed})
    return found


def pod_limits(manifest: Mapping[str, Any]) -> Requests:
    """Return the pod's limits, exactly (PodLimits). Resources without a limit are left out."""
    spec = manifest["spec"]

    def of(container: Mapping[str, Any], _resizable: bool) -> Requests:
        return parse_resource_list((container.get("resources") or {}).get("limits"))

    total = _aggregate_containers(spec, of)
    total.update(_pod_level_amounts(spec, "limits"))
    overhead = parse_resource_list(spec.get("overhead"))
    _add(total, {name: nanos for name, nanos in overhead.items() if total.get(name)})
    return total


def qos_class(manifest: Mapping[str, Any]) -> str:
    """Return a pod's quality-of-service class (ComputePodQOS in pkg/apis/core/v1/helper/qos/qos.go)."""
    spec = manifest["spec"]
    parts = (
        [spec["resources"]]
        if spec.get("resources")
        else [c.get("resources", {}) for c in (*spec.get("initContainers", ()), *spec.get("containers", ()))]
    )
    counted = [
        {
            name: quantity.parse_text(text)
            for name, text in part.get(kind, {}).items()
            if name in ("cpu", "memory") and quantity.parse_text(text) > 0
        }
        for part in parts
        for kind in ("requests", "limits")
    ]
    if not any(counted):
        return "BestEffort"
    requests, limits = counted[::2], counted[1::2]
    if all(limit.keys() == {"cpu", "memory"} for limit in limits) and requests == limits:
        return "Guaranteed"
    return "Burstable"


def _aggregate_containers(
    spec: Mapping[str, Any], of: Callable[[Mapping[str, Any], bool], Requests]
) -> Requests:
    """Aggregate the containers' requests or limits: the sum over main containers and sidecars, or the maximum
    during initialization if that is larger (AggregateContainerRequests).

    ``of(container, resizable)`` returns the amounts of one container."""
    total: Requests = {}
    for container in spec.get("containers") or ():
        _add(total, of(container, True))
    sidecars: Requests = {}
    starting: Requests = {}
    for container in spec.get("initContainers") or ():
        each = of(container, is_sidecar(container))
        if is_sidecar(container):
            _add(total, each)
            _add(sidecars, each)
            _set_max(starting, sidecars)
        else:
            _add(each, sidecars)
            _set_max(starting, each)
    _set_max(total, starting)
    return total


def non_zero_requests(manifest: Mapping[str, Any], requests: Requests) -> tuple[int, int]:
    """Return the (milli cpu, memory bytes) with which a pod on a node counts in scoring (calculateResource in
    pkg/scheduler/framework/types.go): with pod-level requests, defaults are given only for what is still
    zero."""
    missing = DEFAULT_REQUESTS
    if pod_level_requests(manifest["spec"]):
        missing = {name: nanos for name, nanos in DEFAULT_REQUESTS.items() if not requests.get(name)}
    if missing and (statuses_with_resources(manifest) or not _all_state_requests(manifest["spec"], missing)):
        requests = pod_requests(manifest, use_status=True, missing=missing)
    return to_amount(CPU, requests.get(CPU, 0)), to_amount(MEMORY, requests.get(MEMORY, 0))


def _all_state_requests(spec: Mapping[str, Any], names: Collection[str]) -> bool:
    """Whether every container has requests for these resources, so that no default is used."""
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    stated = ((container.get("resources") or {}).get("requests") or {} for container in containers)
    return all(name in requests for requests in stated for name in names)


def claims_of_nodes(manifest: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the claims of a pod whose devices are resources of the node (v1.36, with the feature gate
    DRANodeAllocatableResources)."""
    return (manifest.get("status") or {}).get("nodeAllocatableResourceClaimStatuses") or ()


def status_counts(status: Mapping[str, Any]) -> bool:
    """Whether a pod's requests may depend on its status, and not on its spec alone."""
    return bool(status) and bool(
        status.get("resources")
        or status.get("nodeAllocatableResourceClaimStatuses")
        or statuses_with_resources({"status": status})
    )


def statuses_with_resources(manifest: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the container statuses with ``resources``, by container name."""
    status = manifest.get("status") or {}
    both: Iterable[Mapping[str, Any]] = [
        *(status.get("containerStatuses") or ()),
        *(status.get("initContainerStatuses") or ()),
    ]
    return {s["name"]: s for s in both if s.get("resources") is not None}


def _resize_infeasible(manifest: Mapping[str, Any]) -> bool:
    pending = condition(manifest, "PodResizePending")
    return pending is not None and pending.get("reason") == "Infeasible"


def _add(total: Requests, more: Mapping[str, Nanos]) -> None:
    for name, nanos in more.items():
        total[name] = total.get(name, 0) + nanos


def _set_max(total: Requests, other: Mapping[str, Nanos]) -> None:
    for name, nanos in other.items():
        if name not in total or nanos > total[name]:
            total[name] = nanos
