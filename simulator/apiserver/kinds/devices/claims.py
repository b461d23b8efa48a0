"""ResourceClaims, ResourceClaimTemplates and DeviceClasses.

Upstream: strategy.go in pkg/registry/resource/{resourceclaim,resourceclaimtemplate,deviceclass},
pkg/apis/resource/v1/defaults.go and pkg/apis/resource/validation/validation.go.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_changes import dropping
from simulator.apiserver.field_checks import IMMUTABLE, NOT_POSITIVE
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.kinds.devices.checks import (
    BINDING_CONDITIONS,
    CONFIGURATION,
    MAX_REQUESTS,
    TOLERATION,
    check_admin_access,
    check_admin_access_of_status,
    check_fully_qualified_name,
    request_names,
    request_references,
)
from simulator.apiserver.kinds.devices.claim_status import (
    drop_statuses_of_released_devices,
    validate_claim_status,
)
from simulator.apiserver.object_meta_validation import validate_template_metadata
from simulator.apiserver.printers.column import AGE, NAME, SHORT_PRINTER, Column, printer_of
from simulator.apiserver.resource import built_in
from simulator.apiserver.served_features import enabled
from simulator.apiserver.shapes import (
    all_of,
    each,
    field,
    filled,
    has,
    in_range,
    items,
    named_by,
    needed,
    one_of,
    when,
    where,
    wrong,
)
from simulator.apiserver.status import NIL, Cause, forbidden, invalid, required, too_long
from simulator.apiserver.strategy import WHOLE_METADATA, Strategy, spec_of, status_strategy
from simulator.apiserver.update_shapes import immutable_struct
from simulator.cel.device_selector import MAX_COST, NEW_SELECTORS, compile_selector
from simulator.objects.metadata import is_terminating
from simulator.objects.pod_requests import is_extended_resource
from simulator.objects.status import status_of

RESOURCE_CLAIMS: Final = built_in("resource.k8s.io/v1", "ResourceClaim", has_status=True)
_CAPACITIES: Final = ("exactly.capacity", "firstAvailable[].capacity")
"""The fields of a request that belong to DRAConsumableCapacity."""
MODES: Final = ("All", "ExactCount")
MAX_EXPRESSION: Final = 10 * 1024
"""Maximum number of bytes of a selector (CELSelectorExpressionMaxLength)."""
_ONE_ATTRIBUTE: Final = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
)
_ONE_KIND: Final = "exactly one of `exactly` or `firstAvailable` is required"


def _check_expression(cel: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateCELSelector reports."""
    expression, path = cel.get("expression") or "", f"{path}.expression"
    if len(expression.encode()) > MAX_EXPRESSION:
        yield too_long(path, MAX_EXPRESSION)
    elif error := (compiled := compile_selector(expression, NEW_SELECTORS)).error:
        yield invalid(path, expression, error)
    elif compiled.estimate_cost() > MAX_COST:
        yield forbidden(path, "too complex, exceeds cost limit")


def _check_kind(request: Manifest, path: str) -> Iterator[Cause]:
    given = [request.get("exactly") is not None, bool(request.get("firstAvailable"))]
    if not any(given):
        yield required(path, _ONE_KIND)
    elif all(given):
        yield invalid(path, NIL, f"{_ONE_KIND}, but multiple fields are set")


_NAME: Final = field("name", named_by(names.dns_label), default="")
_SELECTORS: Final = field("selectors", items(needed("cel", _check_expression), most=MAX_REQUESTS))
_WANTED: Final = all_of(
    needed("deviceClassName", named_by(names.dns_subdomain)),
    _SELECTORS,
    field("allocationMode", one_of(MODES), default="ExactCount"),
    when(
        has("allocationMode", "All"),
        filled("count", wrong("must not be specified when allocationMode is 'All'")),
    ),
    when(has("allocationMode", "ExactCount", None), field("count", in_range(1, detail=NOT_POSITIVE))),
    each("tolerations", TOLERATION),
)
"""validateExactDeviceRequest and validateDeviceSubRequest."""
_REQUESTS: Final = field(
    "requests",
    items(
        _NAME,
        field("firstAvailable", items(_NAME, _WANTED, most=8, unique="name")),
        field("exactly", _WANTED),
        _check_kind,
        most=MAX_REQUESTS,
        unique="name",
    ),
)
"""validateDeviceRequest."""


def _check_attribute(constraint: Manifest, path: str) -> Iterator[Cause]:
    """Check what a constraint compares. One with both attributes is looked at only for the first. The second
    belongs to DRAConsumableCapacity, but is not dropped where that is off."""
    for name in ("matchAttribute", "distinctAttribute"):
        if constraint.get(name) is not None:
            yield from check_fully_qualified_name(constraint[name], f"{path}.{name}")
            return
    if enabled("DRAConsumableCapacity"):
        yield required(path, _ONE_ATTRIBUTE)
    else:
        yield required(f"{path}.matchAttribute")


def _claim_spec(spec: Manifest, path: str) -> Iterable[Cause]:
    """Return the faults that validateDeviceClaim reports."""
    references = request_references(request_names(spec))
    rules = all_of(
        _REQUESTS,
        field("constraints", items(references, _check_attribute, most=MAX_REQUESTS)),
        field("config", items(references, CONFIGURATION, most=MAX_REQUESTS)),
    )
    return rules(spec.get("devices") or {}, f"{path}.devices")


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
    drop_disabled_fields=dropping(
        DRAConsumableCapacity=[
            *(f"spec.devices.requests[].{name}" for name in _CAPACITIES),
            *(f"status.allocation.devices.results[].{name}" for name in ("shareID", "consumedCapacity")),
            "status.devices[].shareID",
        ],
        DRADeviceBindingConditions=[
            "status.allocation.allocationTimestamp",
            *(f"status.allocation.devices.results[].{name}" for name in BINDING_CONDITIONS),
        ],
    ),
    set_defaults=_set_claim_defaults,
    validate=field("spec", _claim_spec),
    validate_in_cluster=lambda claim, cluster: check_admin_access(claim, claim.get("spec") or {}, cluster),
    validate_update=immutable_struct("spec", "resource.v1.ResourceClaimSpec"),
    update_order="MSUCS",
    subresources={
        "status": status_strategy(
            validate_claim_status,
            prepare=drop_statuses_of_released_devices,
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
    drop_disabled_fields=dropping(
        DRAConsumableCapacity=[f"spec.spec.devices.requests[].{name}" for name in _CAPACITIES]
    ),
    set_defaults=_set_template_defaults,
    validate=all_of(field("spec.metadata", validate_template_metadata), field("spec.spec", _claim_spec)),
    validate_in_cluster=lambda template, cluster: check_admin_access(
        template, (template.get("spec") or {}).get("spec") or {}, cluster
    ),
    validate_update=_validate_template_update,
    update_order="MSUCS",
    printer=SHORT_PRINTER,
)
DEVICE_CLASS_STRATEGY: Final = Strategy(
    resource=built_in("resource.k8s.io/v1", "DeviceClass", in_cluster=True),
    drop_disabled_fields=dropping(DRAExtendedResource=["spec.extendedResourceName"]),
    validate=field(
        "spec",
        _SELECTORS,
        field("config", items(CONFIGURATION, most=MAX_REQUESTS)),
        field("extendedResourceName", where(is_extended_resource, "must be a valid extended resource name")),
    ),
    update_order="MSUS",
    desired_state=spec_of,
    printer=SHORT_PRINTER,
)
