"""Reduction of requests, in the units of the manifest."""

from typing import Any, NamedTuple

from simulator.api import Manifest
from simulator.objects import pod_requests, quantity
from simulator.objects.quantity import NANO, Nanos
from simulator.what_if.edit import mutable_copy

MILLI = NANO // 1000
STEPS = {"k": NANO * 10**3, "M": NANO * 10**6, "Ki": NANO << 10, "Mi": NANO << 20}
"""A request with a larger suffix (Gi, G) is reduced in steps of Mi or M, because a step of a whole Gi would
be too large."""
STEP_SUFFIXES = {"G": "M", "T": "M", "P": "M", "E": "M", "Gi": "Mi", "Ti": "Mi", "Pi": "Mi", "Ei": "Mi"}


class LoweredRequests(NamedTuple):
    """A pod with reduced requests."""

    manifest: Manifest
    before: str
    after: str
    """The request that was reduced, or the pod's total if several were reduced, after the reduction.
    ``before``: the same amount before it."""
    step: str
    """The unit of which the reduced request is a multiple."""


def to_nanos(resource: str, amount: int) -> Nanos:
    """Convert an amount as the scheduler counts it (cpu in millicores, all others in units) to nano-units."""
    return amount * (MILLI if resource == pod_requests.CPU else NANO)


def format_amount(resource: str, amount: Nanos, *, binary: bool) -> str:
    """Format an amount as a canonical quantity. ``binary``: with a suffix such as Mi if the amount is a
    multiple of 1024."""
    amount = min(amount, quantity.MAX_NANOS - 1)
    whole, fraction = divmod(amount, NANO)
    if binary and resource != pod_requests.CPU and not fraction and whole and whole % 1024 == 0:
        return quantity.canonical(f"{whole // 1024}Ki")
    return quantity.canonical(f"{amount}n")


def request_step(resource: str, written: str) -> Nanos:
    """Return the step by which a request in this notation is reduced. It is at least what the scheduler
    counts in: millicores of cpu, whole units of all other resources."""
    if resource == pod_requests.CPU:
        return MILLI
    suffix = written.lstrip("+-0123456789.")
    return STEPS.get(STEP_SUFFIXES.get(suffix, suffix), NANO)


def lower_requests(manifest: Manifest, resource: str, most: int) -> LoweredRequests | None:
    """Return the pod with a total request of at most ``most`` (in the unit of :func:`to_nanos`).

    The largest request is reduced first, and as few containers as possible are changed. None if the pod's
    overhead alone is larger, or if nothing has to be reduced."""
    new = mutable_copy(manifest)
    spec = new["spec"]
    budget = to_nanos(resource, most) - quantity.parse_quantity((spec.get("overhead") or {}).get(resource, 0))
    if budget < 0:
        return None
    cuts: list[_Reduction] = []
    whole = resource in pod_requests.pod_level_requests(spec)
    if whole:
        cuts += _reduce(spec["resources"], resource, budget)
        budget = min(budget, quantity.parse_quantity(spec["resources"]["requests"][resource]))
    asking = [container for container in spec.get("containers") or () if _has_request(container, resource)]
    starting = spec.get("initContainers") or ()
    sidecars = [c for c in starting if pod_requests.is_sidecar(c) and _has_request(c, resource)]
    excess = sum(_request(c, resource) for c in (*asking, *sidecars)) - budget
    for container in sorted((*asking, *sidecars), key=lambda c: -_request(c, resource)):
        if excess <= 0:
            break
        before = _request(container, resource)
        cuts += _reduce(container["resources"], resource, max(0, before - excess))
        excess -= before - _request(container, resource)
    running = 0
    for container in starting:
        if not _has_request(container, resource):
            continue
        if pod_requests.is_sidecar(container):
            running += _request(container, resource)
        else:
            cuts += _reduce(container["resources"], resource, budget - running)
    if not cuts:
        return None
    shown = cuts[0] if whole else cuts[-1]
    binary = shown.before.endswith("i")
    before_text, after_text = shown.before, str(shown.resources["requests"][resource])
    if len(cuts) > 1 and not whole:
        before_text = format_amount(resource, _total_request(manifest, resource), binary=binary)
        after_text = format_amount(resource, _total_request(new, resource), binary=binary)
    return LoweredRequests(new, before_text, after_text, format_amount(resource, shown.step, binary=binary))


class _Reduction(NamedTuple):
    resources: Any
    """The ``resources`` of the manifest that were changed: a container's or the pod's."""
    before: str
    step: Nanos


def _has_request(container: Manifest, resource: str) -> bool:
    return resource in ((container.get("resources") or {}).get("requests") or {})


def _request(container: Manifest, resource: str) -> Nanos:
    return quantity.parse_quantity(container["resources"]["requests"][resource])


def _total_request(manifest: Manifest, resource: str) -> Nanos:
    return pod_requests.pod_requests(manifest, use_status=False).get(resource, 0)


def _reduce(resources: Any, resource: str, most: Nanos) -> list[_Reduction]:
    """Reduce one request to a multiple of its step, at most ``most``. Returns [] if it is not larger."""
    written = str(resources["requests"][resource])
    if quantity.parse_quantity(written) <= most:
        return []
    step = request_step(resource, written)
    _set_request(resources, resource, most - most % step, binary=written.endswith("i"))
    return [_Reduction(resources, written, step)]


def _set_request(resources: Any, resource: str, amount: Nanos, *, binary: bool) -> None:
    resources["requests"][resource] = format_amount(resource, amount, binary=binary)
    overcommitted = resource in pod_requests.BASIC_RESOURCES
    if not overcommitted and resource in (resources.get("limits") or {}):
        # For resources that cannot be overcommitted, the limit must equal the request.
        resources["limits"][resource] = resources["requests"][resource]
