"""PriorityClasses.

Upstream: pkg/registry/scheduling/priorityclass/strategy.go, pkg/apis/scheduling/v1/{defaults,helpers}.go and
pkg/apis/scheduling/validation/validation.go.
"""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.enumerations import PREEMPTION_POLICIES
from simulator.apiserver.field_checks import check_choice
from simulator.apiserver.printers.column import AGE, NAME, Column, printer_of
from simulator.apiserver.resource import built_in
from simulator.apiserver.status import Cause, forbidden
from simulator.apiserver.strategy import Strategy
from simulator.apiserver.update_shapes import all_of_update, immutable
from simulator.objects.pod import SYSTEM_CRITICAL_PRIORITY

PRIORITY_CLASSES: Final = built_in("scheduling.k8s.io/v1", "PriorityClass", "pc", in_cluster=True)
PREEMPT: Final = "PreemptLowerPriority"
MAX_USER_PRIORITY: Final = 1_000_000_000
"""The highest priority that users may define (HighestUserDefinablePriority). Higher values are reserved for
the system priority classes."""
SYSTEM_CLASSES: Final = {
    "system-cluster-critical": SYSTEM_CRITICAL_PRIORITY,
    "system-node-critical": SYSTEM_CRITICAL_PRIORITY + 1000,
}
"""The system priority classes and their values."""
_DESCRIPTIONS: Final = {
    "system-cluster-critical": (
        "Used for system critical pods that must run in the cluster, but can be moved to another node if "
        "necessary."
    ),
    "system-node-critical": "Used for system critical pods that must not be moved from their current node.",
}


def system_priority_class(name: str) -> Manifest:
    return {
        "apiVersion": PRIORITY_CLASSES.api_version,
        "kind": PRIORITY_CLASSES.kind,
        "metadata": {"name": name},
        "value": SYSTEM_CLASSES[name],
        "description": _DESCRIPTIONS[name],
        "preemptionPolicy": PREEMPT,
    }


def _validate(manifest: Manifest) -> Iterator[Cause]:
    name, value = manifest["metadata"].get("name", ""), manifest["value"]
    if name.startswith("system-"):
        if problem := _system_class_problem(manifest, name):
            detail = "priority class names with 'system-' prefix are reserved for system use only. error: "
            yield forbidden("metadata.name", detail + problem)
    elif value > MAX_USER_PRIORITY:
        yield forbidden("value", f"maximum allowed value of a user defined priority is {MAX_USER_PRIORITY}")
    policy = manifest["preemptionPolicy"]
    yield from check_choice(policy, PREEMPTION_POLICIES, "preemptionPolicy", as_given=True)


def _system_class_problem(manifest: Manifest, name: str) -> str:
    """Return the error of a class that is none of the system; "" if it is one
    (IsKnownSystemPriorityClass)."""
    if name not in SYSTEM_CLASSES:
        return f"{name} is not a known system priority class"
    if manifest["value"] != SYSTEM_CLASSES[name]:
        return f"value of {name} PriorityClass must be {SYSTEM_CLASSES[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if manifest.get("globalDefault") else ""


PRIORITY_CLASS_STRATEGY: Final = Strategy(
    resource=PRIORITY_CLASSES,
    first_objects=[*map(system_priority_class, SYSTEM_CLASSES)],
    set_defaults=lambda manifest: manifest.setdefault("preemptionPolicy", PREEMPT),
    validate=_validate,
    validate_update=all_of_update(
        immutable("value", detail="may not be changed in an update.", forbids=True),
        immutable("preemptionPolicy"),
    ),
    update_order="UC",
    undeletable=dict.fromkeys(SYSTEM_CLASSES, "this is a system priority class and cannot be deleted"),
    desired_state=lambda _: None,  # the first generation stays
    printer=printer_of(
        NAME,
        Column("Value", "PriorityClass.value", "integer", cell="value"),
        Column(
            "Global-Default", "PriorityClass.globalDefault", "boolean", cell="globalDefault", absent=False
        ),
        AGE,
        Column("PreemptionPolicy", "PriorityClass.preemptionPolicy", cell="preemptionPolicy"),
    ),
)
