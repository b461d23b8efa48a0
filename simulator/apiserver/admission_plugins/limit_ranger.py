"""The LimitRanger admission plugin: the LimitRanges of a namespace give containers default requests and
limits, and bound those of new pods and claims.

Upstream: plugin/pkg/admission/limitranger/admission.go. It walks Go maps, whose order is random; here
the names of resources are sorted, and the LimitRanges are in the order of their names.
"""

from collections.abc import Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.admission_plugins.plugin import AdmissionPlugin, Attributes
from simulator.apiserver.amounts import Amounts, Texts
from simulator.apiserver.kinds.pods.strategy import PODS
from simulator.apiserver.kinds.quotas import LIMIT_RANGES
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.status import Forbidden
from simulator.objects import quantity
from simulator.objects.metadata import name_of, namespace_of
from simulator.objects.pod_requests import pod_limits, pod_requests
from simulator.objects.quantity import NANO, Nanos

CLAIMS: Final = "persistentvolumeclaims"
_ANNOTATION: Final = "kubernetes.io/limit-ranger"


class LimitRanger(AdmissionPlugin):
    name = "LimitRanger"
    handles = {PODS.id: ("CREATE",), CLAIMS: ("CREATE", "UPDATE")}

    def admit(self, request: Attributes) -> None:
        if request.resource == PODS:
            _set_default_resources(request.object, request.overlay)

    def validate(self, request: Attributes) -> None:
        # A pod that comes by the page or a file with a node runs already.
        was_placed = not request.is_strict and request.object["spec"].get("nodeName")
        if not was_placed:
            _check_limits(request.resource.id, request.object, request.overlay)


def _set_default_resources(pod: Manifest, overlay: Overlay) -> None:
    """Set the requests and limits that containers lack, and say so in an annotation (PodMutateLimitFunc)."""
    for limit_range in _limit_ranges(pod, overlay):
        limits, requests = _defaults(limit_range)
        changes = [
            text
            for field, kind in (("containers", "container"), ("initContainers", "init container"))
            for container in pod["spec"].get(field) or ()
            for text in _set_defaults_of(container, kind, limits, requests)
        ]
        if changes:
            annotations = pod["metadata"].setdefault("annotations", {})
            annotations[_ANNOTATION] = f"LimitRanger plugin set: {'; '.join(changes)}"


def _check_limits(resource: str, manifest: Manifest, overlay: Overlay) -> None:
    """Check a new pod or claim. Raises Forbidden for the first LimitRange that it exceeds."""
    check = {PODS.id: _check_pod, CLAIMS: _check_claim}[resource]
    for limit_range in _limit_ranges(manifest, overlay):
        items = limit_range["spec"].get("limits") or ()
        errors = [*dict.fromkeys(error for item in items for error in check(item, manifest))]
        if errors:
            detail = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
            raise Forbidden(resource, manifest["metadata"].get("name", ""), detail)


def _limit_ranges(manifest: Manifest, overlay: Overlay) -> list[Manifest]:
    return sorted(overlay.list(LIMIT_RANGES.id, namespace_of(manifest)), key=name_of)


def _defaults(limit_range: Manifest) -> tuple[Texts, Texts]:
    """Return the default limits and requests of a container."""
    limits: Texts = {}
    requests: Texts = {}
    for item in limit_range["spec"].get("limits") or ():
        if item["type"] == "Container":
            limits |= item.get("default") or {}
            requests |= item.get("defaultRequest") or {}
    return limits, requests


def _set_defaults_of(container: Manifest, kind: str, limits: Texts, requests: Texts) -> Iterator[str]:
    for field, word, defaults in (("requests", "request", requests), ("limits", "limit", limits)):
        stated = (container.get("resources") or {}).get(field) or {}
        missing = sorted(defaults.keys() - stated.keys())
        if missing:
            resources = container.setdefault("resources", {})
            resources[field] = {**stated, **{name: defaults[name] for name in missing}}
            yield f"{', '.join(missing)} {word} for {kind} {container['name']}"


def _check_pod(item: Manifest, pod: Manifest) -> Iterator[str]:
    spec = pod["spec"]
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    stated = [container.get("resources") or {} for container in containers]
    match item["type"]:
        case "Container":
            for each in stated:
                yield from _check_amounts(
                    item, Amounts.of(each.get("requests")), Amounts.of(each.get("limits"))
                )
        case "Pod":
            requests = [each.get("requests") or {} for each in stated]
            limits = [each.get("limits") or {} for each in stated]
            yield from _check_amounts(
                item,
                Amounts.sum_of(pod_requests(pod, use_status=False), requests),
                Amounts.sum_of(pod_limits(pod), limits),
            )


def _check_claim(item: Manifest, claim: Manifest) -> Iterator[str]:
    if item["type"] != "PersistentVolumeClaim":
        return
    requests = Amounts.of((claim["spec"].get("resources") or {}).get("requests"))
    for name, enforced in _sorted(item, "min"):
        yield from _min_errors(item["type"], name, enforced, requests, Amounts({}, {}))
    for name, enforced in _sorted(item, "max"):
        yield from _max_request_errors(item["type"], name, enforced, requests)


def _check_amounts(item: Manifest, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, enforced in _sorted(item, "min"):
        yield from _min_errors(item["type"], name, enforced, requests, limits)
    for name, enforced in _sorted(item, "max"):
        yield from _max_errors(item["type"], name, enforced, requests, limits)
    for name, enforced in _sorted(item, "maxLimitRequestRatio"):
        yield from _ratio_errors(item["type"], name, enforced, requests, limits)


def _sorted(item: Manifest, field: str) -> list[tuple[str, Any]]:
    return sorted((item.get(field) or {}).items())


def _min_errors(kind: str, name: str, enforced: Any, requests: Amounts, limits: Amounts) -> Iterator[str]:
    """Yield the first error of a minimum (minConstraint)."""
    least, prefix = (
        _milli(quantity.parse_quantity(enforced)),
        f"minimum {name} usage per {kind} is {enforced}",
    )
    if name not in requests.amounts:
        yield f"{prefix}.  No request is specified"
    elif _milli(requests.amounts[name]) < least:
        yield f"{prefix}, but request is {requests.text(name)}"
    elif name in limits.amounts and _milli(limits.amounts[name]) < least:
        yield f"{prefix}, but limit is {limits.text(name)}"


def _max_errors(kind: str, name: str, enforced: Any, requests: Amounts, limits: Amounts) -> Iterator[str]:
    """Yield the first error of a maximum (maxConstraint)."""
    most, prefix = _milli(quantity.parse_quantity(enforced)), f"maximum {name} usage per {kind} is {enforced}"
    if name not in limits.amounts:
        yield f"{prefix}.  No limit is specified"
    elif _milli(limits.amounts[name]) > most:
        yield f"{prefix}, but limit is {limits.text(name)}"
    elif name in requests.amounts and _milli(requests.amounts[name]) > most:
        yield f"{prefix}, but request is {requests.text(name)}"


def _max_request_errors(kind: str, name: str, enforced: Any, requests: Amounts) -> Iterator[str]:
    """Yield the errors of a maximum of requests (maxRequestConstraint)."""
    most, prefix = _milli(quantity.parse_quantity(enforced)), f"maximum {name} usage per {kind} is {enforced}"
    if name not in requests.amounts:
        yield f"{prefix}.  No request is specified"
    elif _milli(requests.amounts[name]) > most:
        yield f"{prefix}, but request is {requests.text(name)}"


def _ratio_errors(kind: str, name: str, enforced: Any, requests: Amounts, limits: Amounts) -> Iterator[str]:
    """Yield the errors of a ratio of limits and requests (limitRequestRatioConstraint)."""
    prefix = f"{name} max limit to request ratio per {kind} is {enforced}"
    request, limit = (_milli(each.amounts.get(name, 0)) for each in (requests, limits))
    if not request:
        yield f"{prefix}, but no request is specified or request is 0"
    elif not limit:
        yield f"{prefix}, but no limit is specified or limit is 0"
    elif limit / request * 1000 > _milli(quantity.parse_quantity(enforced)):
        yield f"{prefix}, but provided ratio is {limit / request:f}"


def _milli(nanos: Nanos) -> int:
    """Return thousandths, rounded up."""
    return -(-nanos // (NANO // 1000))
