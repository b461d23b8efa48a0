"""PodDisruptionBudgets (pkg/registry/policy/poddisruptionbudget/strategy.go, and the
Validate...PodDisruptionBudget... functions in pkg/apis/policy/validation/validation.go)."""

from collections.abc import Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.condition_validation import validate_conditions
from simulator.apiserver.enumerations import EVICTION_POLICIES
from simulator.apiserver.field_checks import check_at_most_all, validate_int_or_percent
from simulator.apiserver.printers.column import AGE, NAME, Column, printer_of
from simulator.apiserver.resource import built_in
from simulator.apiserver.selector_validation import validate_label_selector
from simulator.apiserver.shapes import all_of, field, not_negative, one_of
from simulator.apiserver.status import Cause, invalid
from simulator.apiserver.strategy import Strategy, spec_of, status_strategy

DISRUPTION_BUDGETS: Final = built_in("policy/v1", "PodDisruptionBudget", "pdb", has_status=True)
_AMOUNTS: Final = ("minAvailable", "maxUnavailable")


def _not_both(manifest: Manifest, _: str) -> Iterator[Cause]:
    spec = manifest.get("spec", {})
    if all(name in spec for name in _AMOUNTS):
        shown = {
            "MinAvailable": spec["minAvailable"],
            "Selector": spec.get("selector"),
            "MaxUnavailable": spec["maxUnavailable"],
            "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
        }
        yield invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set", whole=True)


_NUMBERS: Final = not_negative(
    *(f"status.{name}" for name in ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"))
)


def _validate_status(new: Manifest, _: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidatePodDisruptionBudgetStatusUpdate reports."""
    yield from _NUMBERS(new)
    yield from validate_conditions(new.get("status", {}).get("conditions") or (), "status.conditions")


def _amount_cell(name: str) -> Any:
    return lambda item, _: str((item.get("spec") or {}).get(name, "N/A"))


DISRUPTION_BUDGET_STRATEGY: Final = Strategy(
    resource=DISRUPTION_BUDGETS,
    # Upstream the spec is not a pointer: a missing one is an empty one, which selects no pod.
    set_defaults=lambda manifest: manifest.setdefault("spec", {}),
    name_rule=names.path_segment,
    validates_metadata=False,
    validate=all_of(
        _not_both,
        *(field(f"spec.{name}", validate_int_or_percent, check_at_most_all) for name in _AMOUNTS),
        field("spec.selector", validate_label_selector),
        field("spec.unhealthyPodEvictionPolicy", one_of(EVICTION_POLICIES)),
    ),
    needs_version=True,
    update_order="S",
    desired_state=spec_of,
    subresources={"status": status_strategy(_validate_status)},
    printer=printer_of(
        NAME,
        Column(
            "Min Available",
            "The minimum number of pods that must be available.",
            cell=_amount_cell("minAvailable"),
        ),
        Column(
            "Max Unavailable",
            "The maximum number of pods that may be unavailable.",
            cell=_amount_cell("maxUnavailable"),
        ),
        Column(
            "Allowed Disruptions",
            "Calculated number of pods that may be disrupted at this time.",
            "integer",
            cell="status.disruptionsAllowed",
            absent=0,
        ),
        AGE,
    ),
)
