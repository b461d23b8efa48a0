"""ResourceClaims, ResourceClaimTemplates and DeviceClasses.

Upstream: strategy.go in pkg/registry/resource/{resourceclaim,resourceclaimtemplate,deviceclass},
pkg/apis/resource/v1/defaults.go and pkg/apis/resource/validation/validation.go, v1.34.
"""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import IMMUTABLE, check_name
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.kinds.devices.admin_access import check_admin_access, check_admin_access_of_status
from simulator.apiserver.kinds.devices.checks import (
    MAX_REQUESTS,
    check_configuration,
    check_fully_qualified_name,
    check_list,
    check_request_references,
    check_toleration,
    check_unique,
    request_names,
)
from simulator.apiserver.kinds.devices.claim_status import (
    drop_statuses_of_released_devices,
    validate_claim_status,
)
from simulator.apiserver.object_meta_validation import validate_template_metadata
from simulator.apiserver.printers.column import AGE, NAME, SHORT_PRINTER, Column, printer_of
from simulator.apiserver.resource import built_in
from simulator.apiserver.shapes import named_by, needed
from simulator.apiserver.status import NIL, Cause, forbidden, invalid, not_supported, required, too_long
from simulator.apiserver.strategy import WHOLE_METADATA, Strategy, spec_of, status_strategy
from simulator.apiserver.update_shapes import immutable_struct
from simulator.cel.device_selector import MAX_COST, NEW_SELECTORS, compile_selector
from simulator.objects.metadata import is_terminating
from simulator.objects.status import status_of

RESOURCE_CLAIMS: Final = built_in("resource.k8s.io/v1", "ResourceClaim", has_status=True)
_RESULT_FIELDS: Final = (
    *("bindingConditions", "bindingFailureConditions"),  # DRADeviceBindingConditions
    *("shareID", "consumedCapacity"),  # DRAConsumableCapacity
)
MODES: Final = ("All", "ExactCount")
MAX_EXPRESSION: Final = 10 * 1024
"""Maximum number of bytes of a selector (CELSelectorExpressionMaxLength)."""
_MAX_ALTERNATIVES: Final = 8
_CLASS_NAME: Final = needed("deviceClassName", named_by(names.dns_subdomain))
_ONE_KIND: Final = "exactly one of `exactly` or `firstAvailable` is required"


def _validate_claim(manifest: Manifest) -> Iterator[Cause]:
    yield from _claim_spec(manifest.get("spec") or {}, "spec")


def _validate_template(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest.get("spec") or {}
    yield from validate_template_metadata(spec.get("metadata") or {}, "spec.metadata")
    yield from _claim_spec(spec.get("spec") or {}, "spec.spec")


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
    yield from _CLASS_NAME(request, path)
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


def _validate_class(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that validateDeviceClassSpec reports."""
    spec = manifest.get("spec") or {}
    yield from check_list(spec.get("selectors"), MAX_REQUESTS, "spec.selectors", _selector)
    yield from check_list(spec.get("config"), MAX_REQUESTS, "spec.config", check_configuration)


def _set_claim_defaults(manifest: Manifest) -> None:
    _set_claim_spec_defaults(manifest.setdefault("spec", {}))
    allocation = (manifest.get("status") or {}).get("allocation")
    if allocation is not None:
        allocation.setdefault("devices", {})


def _set_template_defaults(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    spec.setdefault("metadata", {})
    _set_claim_spec_defaults(spec.setdefault("spec", {}))


def _set_claim_spec_defaults(spec: Manifest) -> None:
    for request in spec.setdefault("devices", {}).get("requests", ()):
        exact = [request["exactly"]] if "exactly" in request else []
        for wanted in (*exact, *request.get("firstAvailable", ())):
            if wanted.setdefault("allocationMode", "ExactCount") == "ExactCount" and not wanted.get("count"):
                wanted["count"] = 1
            for toleration in wanted.get("tolerations", ()):
                toleration.setdefault("operator", "Equal")


def _drop_claim_fields(manifest: Manifest) -> None:
    _drop_request_fields(manifest.get("spec") or {})
    status = manifest.get("status") or {}
    allocation = status.get("allocation") or {}
    allocation.pop("allocationTimestamp", None)  # DRADeviceBindingConditions
    for result in (allocation.get("devices") or {}).get("results", ()):
        for name in _RESULT_FIELDS:
            result.pop(name, None)
    for device in status.get("devices", ()):
        device.pop("shareID", None)  # DRAConsumableCapacity


def _drop_template_fields(manifest: Manifest) -> None:
    _drop_request_fields((manifest.get("spec") or {}).get("spec") or {})


def _drop_request_fields(spec: Manifest) -> None:
    for request in (spec.get("devices") or {}).get("requests", ()):
        for wanted in (request.get("exactly") or {}, *request.get("firstAvailable", ())):
            wanted.pop("capacity", None)  # DRAConsumableCapacity


def _drop_class_fields(manifest: Manifest) -> None:
    (manifest.get("spec") or {}).pop("extendedResourceName", None)  # DRAExtendedResource


def _prepare_status(prepared: Manifest, old: Manifest) -> Manifest:
    drop_statuses_of_released_devices(old, prepared)
    return prepared


def _validate_template_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    after, before = (manifest.get("spec", {}) for manifest in (new, old))
    if after != before:
        claim = api_struct("resource.v1.ResourceClaimSpec", after.get("spec", {}))
        yield invalid("spec", {**after.get("metadata", {}), "Spec": claim}, IMMUTABLE, whole=True)


def claim_state(claim: Manifest) -> str:
    """Return the state of a ResourceClaim: ``pending``, ``allocated``, ``allocated,reserved``,
    ``deleted,...``."""
    states = ["deleted"] if is_terminating(claim) else []
    if status_of(claim).get("allocation") is None:
        states += [] if states else ["pending"]
    else:
        states += ["allocated", "reserved"] if status_of(claim).get("reservedFor") else ["allocated"]
    return ",".join(states)


CLAIM_STRATEGY: Final = Strategy(
    resource=RESOURCE_CLAIMS,
    drop_disabled_fields=_drop_claim_fields,
    set_defaults=_set_claim_defaults,
    validate=_validate_claim,
    validate_in_cluster=lambda claim, cluster: check_admin_access(claim, claim.get("spec") or {}, cluster),
    validate_update=immutable_struct("spec", "resource.v1.ResourceClaimSpec"),
    update_order="MSUCS",
    subresources={
        "status": status_strategy(
            validate_claim_status,
            prepare=_prepare_status,
            validate_in_cluster=check_admin_access_of_status,
            keeps_metadata=WHOLE_METADATA,
        )
    },
    printer=printer_of(
        NAME,
        Column(
            "State",
            "A summary of the current state (allocated, pending, reserved, etc.).",
            cell=lambda item, _: claim_state(item),
        ),
        AGE,
    ),
)
CLAIM_TEMPLATE_STRATEGY: Final = Strategy(
    resource=built_in("resource.k8s.io/v1", "ResourceClaimTemplate"),
    drop_disabled_fields=_drop_template_fields,
    set_defaults=_set_template_defaults,
    validate=_validate_template,
    validate_in_cluster=lambda template, cluster: check_admin_access(
        template, (template.get("spec") or {}).get("spec") or {}, cluster
    ),
    validate_update=_validate_template_update,
    update_order="MSUCS",
    printer=SHORT_PRINTER,
)
DEVICE_CLASS_STRATEGY: Final = Strategy(
    resource=built_in("resource.k8s.io/v1", "DeviceClass", in_cluster=True),
    drop_disabled_fields=_drop_class_fields,
    validate=_validate_class,
    update_order="MSUS",
    desired_state=spec_of,
    printer=SHORT_PRINTER,
)
