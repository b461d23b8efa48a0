"""Validation of updates of the status of Namespaces, Services, PersistentVolumeClaims and ResourceQuotas.

Upstream: the Validate...StatusUpdate functions in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_name
from simulator.apiserver.status import Cause, invalid, not_supported
from simulator.objects import quantity

_RESIZE_STATES: Final = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizePending",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
)


def _claim_of_storage(new: Manifest, _: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidatePersistentVolumeClaimStatusUpdate reports."""
    status = new.get("status", {})
    for name, text in sorted(status.get("capacity", {}).items()):
        yield from _basic_amount(text, f"status.capacity[{name}]")
    for name, state in sorted(status.get("allocatedResourceStatuses", {}).items()):
        path = "status.allocatedResourceStatuses"
        yield from _claim_resource(name, path)
        if state not in _RESIZE_STATES:
            yield not_supported(path, name, _RESIZE_STATES)
    for name, text in sorted(status.get("allocatedResources", {}).items()):
        faults = [*_claim_resource(name, "status.allocatedResources")]
        yield from faults or _basic_amount(text, f"status.allocatedResources[{name}]")


def _basic_amount(text: str, path: str) -> Iterator[Cause]:
    amount = quantity.value(quantity.parse_text(text))
    if amount < 0:
        yield invalid(path, amount, "must be a valid resource quantity")


def _claim_resource(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validatePersistentVolumeClaimResourceKey reports."""
    faults = [*check_name(names.qualified_name, name, path)]
    if not faults and name != "storage" and ("/" not in name or "kubernetes.io/" in name):
        faults = [not_supported(path, name, ("storage",))]
    yield from faults


CORE_STATUS_CHECKS: Final[dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]]] = {
    "persistentvolumeclaims": _claim_of_storage,
}
