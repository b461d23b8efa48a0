"""What a pod requests: staging/src/k8s.io/component-helpers/resource/helpers.go, v1.34.

Sums and maxima are taken over exact quantities (nano-units) and rounded up once at the end, as upstream does.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from simulator.objects import quantity
from simulator.objects.quantity import Nanos

CPU, MEMORY, EPHEMERAL_STORAGE, PODS = "cpu", "memory", "ephemeral-storage", "pods"

Requests = dict[str, Nanos]

# What a container without a request is taken to need when nodes are scored (never when they are filtered), so
# that such pods do not all land on one node: pkg/scheduler/util/pod_resources.go.
DEFAULT_MILLI_CPU_REQUEST = 100
DEFAULT_MEMORY_REQUEST = 200 * 1024 * 1024
DEFAULT_REQUESTS: Requests = {
    CPU: DEFAULT_MILLI_CPU_REQUEST * quantity.NANO // 1000,
    MEMORY: DEFAULT_MEMORY_REQUEST * quantity.NANO,
}

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", re.ASCII)
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)


def is_extended_resource(name: str) -> bool:
    """IsExtendedResourceName: a domain that is not kubernetes.io's, and a valid quota name."""
    if is_native_resource(name) or name.startswith("requests."):
        return False
    domain, _, rest = f"requests.{name}".partition("/")
    return len(domain) <= 253 and bool(_DOMAIN.fullmatch(domain)) and bool(_NAME.fullmatch(rest))


def is_native_resource(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def is_scalar_resource(name: str) -> bool:
    """IsScalarResourceName: what the scheduler counts beside cpu, memory, ephemeral-storage and pods."""
    return (
        name.startswith(("hugepages-", "attachable-volumes-"))
        or "kubernetes.io/" in name
        or is_extended_resource(name)
    )


def counted(name: str) -> bool:
    return name in (CPU, MEMORY, EPHEMERAL_STORAGE) or is_scalar_resource(name)


def amounts(requests: Mapping[str, Nanos]) -> dict[str, int]:
    """What the scheduler counts: cpu in milli, the rest in whole units (Resource.Add)."""
    return {name: amount(name, nanos) for name, nanos in requests.items() if counted(name)}


def amount(name: str, nanos: Nanos) -> int:
    """Within int64, even where a sum of quantities is not."""
    if name == CPU:
        return quantity.milli_value(nanos)
    return max(-quantity.MAX_INT64, min(quantity.MAX_INT64, quantity.value(nanos)))


def parse_list(manifest: Mapping[str, Any] | None) -> Requests:
    """A ResourceList."""
    return {name: quantity.parse(value) for name, value in (manifest or {}).items()}


def is_sidecar(container: Mapping[str, Any]) -> bool:
    """A restartable init container."""
    return bool(container.get("restartPolicy") == "Always")


def supported_at_pod_level(name: str) -> bool:
    return name in (CPU, MEMORY) or name.startswith("hugepages-")


def pod_level_requests(spec: Mapping[str, Any]) -> Requests:
    """Requests of the pod as a whole, which replace the containers' sum for the resources that they name."""
    return _pod_level(spec, "requests")


def _pod_level(spec: Mapping[str, Any], field: str) -> Requests:
    given = parse_list((spec.get("resources") or {}).get(field))
    return {name: nanos for name, nanos in given.items() if supported_at_pod_level(name)}


def pod_requests(
    manifest: Mapping[str, Any],
    *,
    use_status: bool,
    missing: Requests | None = None,
    pod_level: bool = True,
) -> Requests:
    """PodRequests, exact. With ``use_status`` a container that is being resized counts at the most of what it
    asks, is given and has; ``missing`` gives containers a request where they state none; without
    ``pod_level`` only the containers' requests count."""
    spec = manifest["spec"]
    given_to = statuses(manifest) if use_status else {}
    infeasible = bool(given_to) and _resize_infeasible(manifest)

    def of(container: Mapping[str, Any], resizable: bool) -> Requests:
        requests = parse_list((container.get("resources") or {}).get("requests"))
        status = given_to.get(container["name"]) if resizable else None
        if status is not None:
            given = parse_list(status["resources"].get("requests"))
            _maximise(given, parse_list(status.get("allocatedResources")))
            if not infeasible:
                _maximise(given, requests)
            requests = given
        return {**missing, **requests} if missing else requests

    total = _over_containers(spec, of)
    if pod_level:
        total.update(pod_level_requests(spec))
    _add(total, parse_list(spec.get("overhead")))
    return total


def pod_limits(manifest: Mapping[str, Any]) -> Requests:
    """PodLimits, exact: as kubectl describe node adds them up. Resources without a limit are left out."""
    spec = manifest["spec"]

    def of(container: Mapping[str, Any], _resizable: bool) -> Requests:
        return parse_list((container.get("resources") or {}).get("limits"))

    total = _over_containers(spec, of)
    total.update(_pod_level(spec, "limits"))
    overhead = parse_list(spec.get("overhead"))
    _add(total, {name: nanos for name, nanos in overhead.items() if total.get(name)})
    return total


def _over_containers(spec: Mapping[str, Any], of: Callable[[Mapping[str, Any], bool], Requests]) -> Requests:
    """What is given for each container (``of``; whether it can be resized) over the pod's life: the sum of
    those that run together, or what starting takes where that is more."""
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
            _maximise(starting, sidecars)
        else:
            _add(each, sidecars)
            _maximise(starting, each)
    _maximise(total, starting)
    return total


def non_zero_requests(manifest: Mapping[str, Any], requests: Requests) -> tuple[int, int]:
    """(milli cpu, memory bytes) that a pod on a node counts for in scoring (calculateResource in
    pkg/scheduler/framework/types.go): with pod-level requests, defaults are given only for what is still
    zero."""
    missing = DEFAULT_REQUESTS
    if pod_level_requests(manifest["spec"]):
        missing = {name: nanos for name, nanos in DEFAULT_REQUESTS.items() if not requests.get(name)}
    if missing and (statuses(manifest) or not _all_stated(manifest["spec"], missing)):
        requests = pod_requests(manifest, use_status=True, missing=missing)
    return amount(CPU, requests.get(CPU, 0)), amount(MEMORY, requests.get(MEMORY, 0))


def _all_stated(spec: Mapping[str, Any], names: Collection[str]) -> bool:
    """Every container states a request for these resources, so that no default could count."""
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    stated = ((container.get("resources") or {}).get("requests") or {} for container in containers)
    return all(name in requests for requests in stated for name in names)


def statuses(manifest: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Statuses that say what a container was given, by container."""
    status = manifest.get("status") or {}
    both: Iterable[Mapping[str, Any]] = [
        *(status.get("containerStatuses") or ()),
        *(status.get("initContainerStatuses") or ()),
    ]
    return {s["name"]: s for s in both if s.get("resources") is not None}


def _resize_infeasible(manifest: Mapping[str, Any]) -> bool:
    for condition in (manifest.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "PodResizePending":
            return bool(condition.get("reason") == "Infeasible")
    return False


def _add(total: Requests, more: Mapping[str, Nanos]) -> None:
    for name, nanos in more.items():
        total[name] = total.get(name, 0) + nanos


def _maximise(total: Requests, other: Mapping[str, Nanos]) -> None:
    for name, nanos in other.items():
        if name not in total or nanos > total[name]:
            total[name] = nanos
