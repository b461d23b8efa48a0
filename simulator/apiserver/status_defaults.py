"""The parts of a status that are never missing: what Go's encoder writes of an empty one, and the phase in
which an object begins (types.go and defaults.go of the API groups, v1.34)."""

import copy
from functools import cache
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.resources import BUILT_IN, PODS
from simulator.apiserver.types.model import ListType, StructType
from simulator.apiserver.types.schema_types import decoded_type
from simulator.apiserver.types.zero_values import keeps_empty, writes_zero, zero_value

_FIRST_PHASES: Final = {
    "namespaces": "Active",
    "persistentvolumeclaims": "Pending",
    "persistentvolumes": "Pending",
}
_KINDS: Final = {resource.id: resource for resource in reversed(BUILT_IN)}


@cache
def _status_type(resource: str) -> StructType | None:
    """Return the type of the status of a resource; None if it has no subresource ``status``."""
    kind = _KINDS.get(resource)
    field = decoded_type(kind).fields.get("status") if kind is not None and kind.has_status else None
    return field.type if field is not None and isinstance(field.type, StructType) else None


@cache
def _first_status(resource: str) -> Manifest | None:
    """Return the status of a new object; None if its kind has none. A pod's is made in its admission."""
    of = None if resource == PODS.id else _status_type(resource)
    if of is None:
        return None
    phase = {"phase": _FIRST_PHASES[resource]} if resource in _FIRST_PHASES else {}
    status: Manifest = zero_value(of)
    return status | phase


def omits_zero(resource: str, field: str) -> bool:
    """Whether Go's encoder leaves a count of 0 out of the status of a resource."""
    of = _status_type(resource)
    return of is not None and field in of.fields and not keeps_empty(of.fields[field])


@cache
def _condition_times(resource: str) -> list[str]:
    """Return the times of a condition that are written as null where they are missing."""
    of = _status_type(resource)
    conditions = of.fields["conditions"].type if of is not None and "conditions" in of.fields else None
    item = conditions.items if isinstance(conditions, ListType) else None
    fields = item.fields.values() if isinstance(item, StructType) else ()
    return [field.name for field in fields if field.type.short_name == "Time" and writes_zero(field)]


_STATE_TIMES = {"running": ("startedAt",), "terminated": ("startedAt", "finishedAt")}


def set_status_defaults(resource: str, manifest: Manifest) -> None:
    """Complete the status in place; create it if the kind always has one."""
    defaults = _first_status(resource)
    if defaults is not None:
        _complete(manifest.setdefault("status", {}), defaults)
    if times := _condition_times(resource):
        for condition in manifest.get("status", {}).get("conditions") or ():
            for time in times:
                condition.setdefault(time, None)


def complete_container_statuses(status: Manifest) -> None:
    """Complete the structs of container statuses that are not pointers, and the times in their states."""
    for kind in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        for container in status.get(kind) or ():
            for field in ("state", "lastState"):
                state = container.setdefault(field, {})
                for name, times in _STATE_TIMES.items():
                    for time in times if isinstance(state.get(name), dict) else ():
                        state[name].setdefault(time, None)


def match_pod_ips(status: Manifest) -> None:
    """Set ``podIP``, which old clients read: the first of ``podIPs`` (conversion.go of core/v1)."""
    first, known = status.get("podIP", ""), status.get("podIPs") or []
    if first and (not known or known[0].get("ip", "") != first):
        status["podIPs"] = [{"ip": first}]
    elif known:
        status["podIP"] = known[0].get("ip", "")


def _complete(status: Manifest, defaults: Manifest) -> None:
    for field, value in defaults.items():
        if field not in status:
            status[field] = copy.deepcopy(value)
        elif isinstance(value, dict):
            _complete(status[field], value)
