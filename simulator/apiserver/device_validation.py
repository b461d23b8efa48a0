"""Validation of the kinds of resource.k8s.io, beyond their schemas
(pkg/apis/resource/validation/validation.go, v1.34). The cost of a selector in CEL is not estimated."""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_name
from simulator.apiserver.status import Cause, duplicate, invalid, not_supported, required, too_long
from simulator.cel.device_selector import compile_selector

MODES: Final = ("All", "ExactCount")
NODE_SELECTIONS: Final = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
ATTRIBUTE_TYPES: Final = ("int", "bool", "string", "version")
MAX_EXPRESSION: Final = 10 * 1024
"""Bytes of a selector (CELSelectorExpressionMaxLength)."""


def _claim(manifest: Manifest) -> Iterator[Cause]:
    yield from _claim_spec(manifest.get("spec") or {}, "spec")


def _claim_template(manifest: Manifest) -> Iterator[Cause]:
    yield from _claim_spec((manifest.get("spec") or {}).get("spec") or {}, "spec.spec")


def _claim_spec(spec: Manifest, path: str) -> Iterator[Cause]:
    """validateDeviceClaim."""
    devices, path = spec.get("devices") or {}, f"{path}.devices"
    known: set[str] = set()
    for index, request in enumerate(devices.get("requests") or ()):
        at = f"{path}.requests[{index}]"
        name = request.get("name", "")
        if name in known:
            yield duplicate(f"{at}.name", name)
        known.add(name)
        known |= {f"{name}/{each.get('name', '')}" for each in request.get("firstAvailable") or ()}
        yield from _request(request, at)
    for field in ("constraints", "config"):
        for index, entry in enumerate(devices.get(field) or ()):
            for number, name in enumerate(entry.get("requests") or ()):
                if name not in known:
                    yield invalid(
                        f"{path}.{field}[{index}].requests[{number}]",
                        name,
                        "must be the name of a request in the claim or the name of a request and a "
                        "subrequest separated by '/'",
                    )


def _request(request: Manifest, path: str) -> Iterator[Cause]:
    """validateDeviceRequest."""
    name = request.get("name", "")
    yield from check_name(names.dns_label, name, f"{path}.name")
    exactly, alternatives = request.get("exactly"), request.get("firstAvailable")
    if (exactly is None) == (not alternatives):
        detail = "exactly one of `exactly` or `firstAvailable` is required"
        yield required(path, detail) if exactly is None else invalid(path, "", detail)
    if exactly is not None:
        yield from _device_request(exactly, f"{path}.exactly")
    for index, each in enumerate(alternatives or ()):
        at = f"{path}.firstAvailable[{index}]"
        yield from check_name(names.dns_label, each.get("name", ""), f"{at}.name")
        yield from _device_request(each, at)


def _device_request(request: Manifest, path: str) -> Iterator[Cause]:
    device_class = request.get("deviceClassName") or ""
    if not device_class:
        yield required(f"{path}.deviceClassName")
    else:
        yield from check_name(names.dns_subdomain, device_class, f"{path}.deviceClassName")
    yield from _selectors(request, path)
    mode, count = request.get("allocationMode", "ExactCount"), request.get("count")
    if mode not in MODES:
        yield not_supported(f"{path}.allocationMode", mode, MODES)
    elif mode == "All" and count:
        detail = f"must not be specified when allocationMode is '{mode}'"
        yield invalid(f"{path}.count", count, detail)
    elif mode == "ExactCount" and count is not None and count <= 0:
        yield invalid(f"{path}.count", count, "must be greater than zero")


def _selectors(holder: Manifest, path: str) -> Iterator[Cause]:
    """validateSelectorSlice."""
    for index, selector in enumerate(holder.get("selectors") or ()):
        at = f"{path}.selectors[{index}].cel"
        if selector.get("cel") is None:
            yield required(at)
            continue
        expression = selector["cel"].get("expression") or ""
        if len(expression.encode()) > MAX_EXPRESSION:
            yield too_long(f"{at}.expression", MAX_EXPRESSION)
        elif error := compile_selector(expression).error:
            yield invalid(f"{at}.expression", expression, error)


def _device_class(manifest: Manifest) -> Iterator[Cause]:
    """ValidateDeviceClass."""
    yield from _selectors(manifest.get("spec") or {}, "spec")


def _slice(manifest: Manifest) -> Iterator[Cause]:
    """ValidateResourceSlice."""
    spec = manifest["spec"]
    yield from check_name(names.dns_subdomain, spec.get("driver", ""), "spec.driver")
    pool = spec.get("pool") or {}
    if not pool.get("name"):
        yield required("spec.pool.name")
    if (pool.get("resourceSliceCount") or 0) <= 0:
        count = pool.get("resourceSliceCount") or 0
        yield invalid("spec.pool.resourceSliceCount", count, "must be greater than zero")
    if (pool.get("generation") or 0) < 0:
        yield invalid("spec.pool.generation", pool["generation"], "must be greater than or equal to zero")
    given = [name for name in NODE_SELECTIONS if spec.get(name)]
    if len(given) != 1:
        choices = ", ".join(f"`{name}`" for name in NODE_SELECTIONS)
        detail = f"exactly one of {choices} is required"
        shown = "{" + ", ".join(given) + "}"
        yield required("spec", detail) if not given else invalid("spec", shown, detail)
    seen: set[str] = set()
    for index, device in enumerate(spec.get("devices") or ()):
        yield from _device(device, f"spec.devices[{index}]", seen)


def _device(device: Manifest, path: str, seen: set[str]) -> Iterator[Cause]:
    name = device.get("name", "")
    yield from check_name(names.dns_label, name, f"{path}.name")
    if name in seen:
        yield duplicate(f"{path}.name", name)
    seen.add(name)
    for key, attribute in sorted((device.get("attributes") or {}).items()):
        given = [kind for kind in ATTRIBUTE_TYPES if attribute.get(kind) is not None]
        detail = "exactly one value must be specified"
        if not given:
            yield required(f"{path}.attributes[{key}]", detail)
        elif len(given) > 1:
            yield invalid(f"{path}.attributes[{key}]", "", detail)


DEVICE_CHECKS: dict[str, Callable[[Manifest], Iterator[Cause]]] = {
    "deviceclasses.resource.k8s.io": _device_class,
    "resourceclaims.resource.k8s.io": _claim,
    "resourceclaimtemplates.resource.k8s.io": _claim_template,
    "resourceslices.resource.k8s.io": _slice,
}
