"""Requests made smaller, in the units that people write them in."""

from typing import Any, NamedTuple

from simulator.api import Manifest
from simulator.objects import pod_requests, quantity
from simulator.objects.quantity import NANO, Nanos
from simulator.what_if.edit import changed

MILLI = NANO // 1000
STEPS = {"k": NANO * 10**3, "M": NANO * 10**6, "Ki": NANO << 10, "Mi": NANO << 20}
"""A larger suffix (Gi, G) is stepped down in its millions: nobody wants to lose the better part of a Gi."""
LARGER = {"G": "M", "T": "M", "P": "M", "E": "M", "Gi": "Mi", "Ti": "Mi", "Pi": "Mi", "Ei": "Mi"}


class Lowered(NamedTuple):
    """A pod that requests less."""

    manifest: Manifest
    before: str
    after: str
    """Of the one request that was cut; of the pod's sum, where there are several."""
    step: str
    """What a request was cut in whole numbers of."""


def nanos(resource: str, amount: int) -> Nanos:
    """An amount as the scheduler counts it (cpu in millicores, the rest in units), exactly."""
    return amount * (MILLI if resource == pod_requests.CPU else NANO)


def text(resource: str, amount: Nanos, *, binary: bool) -> str:
    amount = min(amount, quantity.MAX_NANOS - 1)
    whole, fraction = divmod(amount, NANO)
    if binary and resource != pod_requests.CPU and not fraction and whole and whole % 1024 == 0:
        return quantity.canonical(f"{whole // 1024}Ki")
    return quantity.canonical(f"{amount}n")


def step_of(resource: str, written: str) -> Nanos:
    """What a request that is written like this is lowered by: the scheduler counts no finer than millicores
    and whole units."""
    if resource == pod_requests.CPU:
        return MILLI
    suffix = written.lstrip("+-0123456789.")
    return STEPS.get(LARGER.get(suffix, suffix), NANO)


def lowered(manifest: Manifest, resource: str, most: int) -> Lowered | None:
    """The pod requesting at most this amount (see :func:`nanos`) altogether: the largest request is cut
    first, and no more containers than need be. None where its overhead alone is more."""
    new = changed(manifest)
    spec = new["spec"]
    budget = nanos(resource, most) - quantity.parse((spec.get("overhead") or {}).get(resource, 0))
    if budget < 0:
        return None
    cuts: list[_Cut] = []
    whole = resource in pod_requests.pod_level_requests(spec)
    if whole:
        cuts += _cut(spec["resources"], resource, budget)
        budget = min(budget, quantity.parse(spec["resources"]["requests"][resource]))
    asking = [container for container in spec.get("containers") or () if _asks(container, resource)]
    starting = spec.get("initContainers") or ()
    sidecars = [c for c in starting if pod_requests.is_sidecar(c) and _asks(c, resource)]
    excess = sum(_request(c, resource) for c in (*asking, *sidecars)) - budget
    for container in sorted((*asking, *sidecars), key=lambda c: -_request(c, resource)):
        if excess <= 0:
            break
        before = _request(container, resource)
        cuts += _cut(container["resources"], resource, max(0, before - excess))
        excess -= before - _request(container, resource)
    running = 0
    for container in starting:
        if not _asks(container, resource):
            continue
        if pod_requests.is_sidecar(container):
            running += _request(container, resource)
        else:
            cuts += _cut(container["resources"], resource, budget - running)
    if not cuts:
        return None
    shown = cuts[0] if whole else cuts[-1]
    binary = shown.before.endswith("i")
    before_text, after_text = shown.before, str(shown.resources["requests"][resource])
    if len(cuts) > 1 and not whole:
        before_text = text(resource, _total(manifest, resource), binary=binary)
        after_text = text(resource, _total(new, resource), binary=binary)
    return Lowered(new, before_text, after_text, text(resource, shown.step, binary=binary))


class _Cut(NamedTuple):
    resources: Any
    """The manifest's ``resources``, of a container or of the pod as a whole."""
    before: str
    step: Nanos


def _asks(container: Manifest, resource: str) -> bool:
    return resource in ((container.get("resources") or {}).get("requests") or {})


def _request(container: Manifest, resource: str) -> Nanos:
    return quantity.parse(container["resources"]["requests"][resource])


def _total(manifest: Manifest, resource: str) -> Nanos:
    return pod_requests.pod_requests(manifest, use_status=False).get(resource, 0)


def _cut(resources: Any, resource: str, most: Nanos) -> list[_Cut]:
    """Lower one request to what is a whole number of its steps."""
    written = str(resources["requests"][resource])
    if quantity.parse(written) <= most:
        return []
    step = step_of(resource, written)
    _write(resources, resource, most - most % step, binary=written.endswith("i"))
    return [_Cut(resources, written, step)]


def _write(resources: Any, resource: str, amount: Nanos, *, binary: bool) -> None:
    resources["requests"][resource] = text(resource, amount, binary=binary)
    overcommitted = resource in (pod_requests.CPU, pod_requests.MEMORY, pod_requests.EPHEMERAL_STORAGE)
    if not overcommitted and resource in (resources.get("limits") or {}):
        # Of all others a container may use no more, and no less, than it requests.
        resources["limits"][resource] = resources["requests"][resource]
