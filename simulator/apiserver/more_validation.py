"""Validation of PodDisruptionBudgets and Timetables."""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.enumerations import EVICTION_POLICIES
from simulator.apiserver.selector_validation import validate_label_selector
from simulator.apiserver.status import Cause, invalid, not_supported
from simulator.apiserver.workload_validation import check_at_most_all, validate_int_or_percent
from simulator.objects import durations


def _validate_disruption_budget(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest.get("spec", {})
    if "minAvailable" in spec and "maxUnavailable" in spec:
        shown = {
            "MinAvailable": spec["minAvailable"],
            "Selector": spec.get("selector"),
            "MaxUnavailable": spec["maxUnavailable"],
            "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
        }
        yield invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set", whole=True)
    for field in ("minAvailable", "maxUnavailable"):
        if field in spec:
            yield from validate_int_or_percent(spec[field], f"spec.{field}")
            yield from check_at_most_all(spec[field], f"spec.{field}")
    yield from validate_label_selector(spec.get("selector"), "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy", "IfHealthyBudget")
    if policy not in EVICTION_POLICIES:
        yield not_supported("spec.unhealthyPodEvictionPolicy", policy, EVICTION_POLICIES)


def _timetable(manifest: Manifest) -> Iterator[Cause]:
    for index, entry in enumerate(manifest["spec"]["entries"]):
        for field in ("at", "every", "until"):
            try:
                durations.parse_duration(entry.get(field, "0"))
            except ValueError as error:
                yield invalid(f"spec.entries[{index}].{field}", entry[field], str(error))


MORE_CHECKS: Final[dict[str, Callable[[Manifest], Iterator[Cause]]]] = {
    "poddisruptionbudgets.policy": _validate_disruption_budget,
    "timetables.schedviz": _timetable,
}
