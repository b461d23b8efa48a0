"""Validation of ResourceClaims, ResourceClaimTemplates and DeviceClasses, beyond their schemas
(pkg/apis/resource/validation/validation.go, v1.34)."""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.device_checks import (
    MAX_REQUESTS,
    check_configuration,
    check_fully_qualified_name,
    check_list,
    check_request_references,
    check_toleration,
    check_unique,
)
from simulator.apiserver.field_checks import check_name, check_required_name
from simulator.apiserver.object_meta_validation import validate_template_metadata
from simulator.apiserver.slice_validation import validate_slice
from simulator.apiserver.status import NIL, Cause, forbidden, invalid, not_supported, required, too_long
from simulator.cel.device_selector import MAX_COST, NEW_SELECTORS, compile_selector

MODES: Final = ("All", "ExactCount")
MAX_EXPRESSION: Final = 10 * 1024
"""Maximum number of bytes of a selector (CELSelectorExpressionMaxLength)."""
_MAX_ALTERNATIVES: Final = 8
_ONE_KIND: Final = "exactly one of `exactly` or `firstAvailable` is required"


def _claim(manifest: Manifest) -> Iterator[Cause]:
    yield from _claim_spec(manifest.get("spec") or {}, "spec")


def _claim_template(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest.get("spec") or {}
    yield from validate_template_metadata(spec.get("metadata") or {}, "spec.metadata")
    yield from _claim_spec(spec.get("spec") or {}, "spec.spec")


def request_names(claim_spec: Manifest) -> set[str]:
    """Return the names by which a claim's requests, and their alternatives, are referred to
    (gatherRequestNames)."""
    known = set[str]()
    for request in (claim_spec.get("devices") or {}).get("requests") or ():
        name = request.get("name", "")
        known |= {name, *(f"{name}/{each.get('name', '')}" for each in request.get("firstAvailable") or ())}
    return known


def _claim_spec(spec: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateDeviceClaim reports."""
    devices, path, known = spec.get("devices") or {}, f"{path}.devices", request_names(spec)

    def constraint(entry: Manifest, at: str) -> Iterator[Cause]:
        yield from check_request_references(entry.get("requests"), known, f"{at}.requests")
        # An entry with both is looked at only for the first. The second belongs to a feature that is off
        # (DRAConsumableCapacity), but is not dropped.
        for field in ("matchAttribute", "distinctAttribute"):
            if entry.get(field) is not None:
                yield from check_fully_qualified_name(entry[field], f"{at}.{field}")
                return
        yield required(f"{at}.matchAttribute")

    def config(entry: Manifest, at: str) -> Iterator[Cause]:
        yield from check_request_references(entry.get("requests"), known, f"{at}.requests")
        yield from check_configuration(entry, at)

    yield from check_list(devices.get("requests"), MAX_REQUESTS, f"{path}.requests", _request)
    yield from check_unique(devices.get("requests"), "name", f"{path}.requests")
    yield from check_list(devices.get("constraints"), MAX_REQUESTS, f"{path}.constraints", constraint)
    yield from check_list(devices.get("config"), MAX_REQUESTS, f"{path}.config", config)


def _request(request: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateDeviceRequest reports."""
    yield from check_name(names.dns_label, request.get("name", ""), f"{path}.name")
    exactly, alternatives = request.get("exactly"), request.get("firstAvailable")
    at = f"{path}.firstAvailable"
    yield from check_list(alternatives, _MAX_ALTERNATIVES, at, _alternative)
    yield from check_unique(alternatives, "name", at)
    if exactly is not None:
        yield from _device_request(exactly, f"{path}.exactly")
    if exactly is None and not alternatives:
        yield required(path, _ONE_KIND)
    elif exactly is not None and alternatives:
        yield invalid(path, NIL, f"{_ONE_KIND}, but multiple fields are set")


def _alternative(request: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateDeviceSubRequest reports."""
    yield from check_name(names.dns_label, request.get("name", ""), f"{path}.name")
    yield from _device_request(request, path)


def _device_request(request: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateExactDeviceRequest reports."""
    device_class = request.get("deviceClassName") or ""
    yield from check_required_name(names.dns_subdomain, device_class, f"{path}.deviceClassName")
    yield from check_list(request.get("selectors"), MAX_REQUESTS, f"{path}.selectors", _selector)
    mode, count = request.get("allocationMode", "ExactCount"), request.get("count")
    if mode not in MODES:
        yield not_supported(f"{path}.allocationMode", mode, MODES)
    elif mode == "All" and count:
        detail = f"must not be specified when allocationMode is '{mode}'"
        yield invalid(f"{path}.count", count, detail)
    elif mode == "ExactCount" and count is not None and count <= 0:
        yield invalid(f"{path}.count", count, "must be greater than zero")
    for index, toleration in enumerate(request.get("tolerations") or ()):
        yield from check_toleration(toleration, f"{path}.tolerations[{index}]")


def _selector(selector: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateSelector reports."""
    at = f"{path}.cel"
    if selector.get("cel") is None:
        yield required(at)
        return
    expression = selector["cel"].get("expression") or ""
    if len(expression.encode()) > MAX_EXPRESSION:
        yield too_long(f"{at}.expression", MAX_EXPRESSION)
    elif error := (compiled := compile_selector(expression, NEW_SELECTORS)).error:
        yield invalid(f"{at}.expression", expression, error)
    elif compiled.estimate_cost() > MAX_COST:
        yield forbidden(f"{at}.expression", "too complex, exceeds cost limit")


def _device_class(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that validateDeviceClassSpec reports."""
    spec = manifest.get("spec") or {}
    yield from check_list(spec.get("selectors"), MAX_REQUESTS, "spec.selectors", _selector)
    yield from check_list(spec.get("config"), MAX_REQUESTS, "spec.config", check_configuration)


DEVICE_CHECKS: dict[str, Callable[[Manifest], Iterator[Cause]]] = {
    "deviceclasses.resource.k8s.io": _device_class,
    "resourceclaims.resource.k8s.io": _claim,
    "resourceclaimtemplates.resource.k8s.io": _claim_template,
    "resourceslices.resource.k8s.io": validate_slice,
}
