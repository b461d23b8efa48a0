"""The feature gates of each version (pkg/features/kube_features.go), read from ``feature_gates.txt``."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

ALL: Final = {"AllAlpha": "alpha", "AllBeta": "beta"}
"""The gates that set all gates of a stage which are not set themselves."""


GENERIC_WORKLOAD: Final = "GenericWorkload"
GANG_SCHEDULING: Final = "GangScheduling"
WORKLOAD_AWARE_PREEMPTION: Final = "WorkloadAwarePreemption"
TOPOLOGY_AWARE_SCHEDULING: Final = "TopologyAwareWorkloadScheduling"
WORKLOAD_WITH_JOB: Final = "WorkloadWithJob"
GANG_GATES: Final = (GANG_SCHEDULING, GENERIC_WORKLOAD)
POD_GROUP_GATES: Final = (*GANG_GATES, TOPOLOGY_AWARE_SCHEDULING, WORKLOAD_AWARE_PREEMPTION)
"""The gates of all that the scheduler does with pod groups."""
WITHOUT_POD_GROUPS: Final = ("v1.35",)
"""The versions that have the gates of gangs, but whose pod groups are not modelled: those of v1.35 have
another API."""


class FeatureGate(NamedTuple):
    stage: str
    """``alpha``, ``beta``, ``ga`` or ``deprecated``."""
    default: bool
    locked: bool
    """Whether the gate cannot be set to another value than its default."""
    depends_on: tuple[str, ...]
    """The gates that must be on where this one is. A gate that the version does not have any more is on."""


class FeatureGateError(ValueError):
    """A gate cannot be set so; the text is that of kube-scheduler."""


@cache
def feature_gates(version: str) -> Mapping[str, FeatureGate]:
    """Return the gates of a version (``v1.36``), by name."""
    lines = Path(__file__).with_name("feature_gates.txt").read_text().splitlines()[1:]
    column = lines[0].split().index(version)
    columns = len(lines[0].removesuffix("depends on").split())
    found = {}
    for line in lines[1:]:
        words = line.split()
        if words[column] != "-":
            stage, _, default = words[column].partition(":")
            depends_on = tuple(words[columns:]) if version != "v1.34" else ()
            found[words[0]] = FeatureGate(stage, default.startswith("on"), default.endswith("!"), depends_on)
    return found


def can_be_on(version: str, gate: str) -> bool:
    """Return whether a gate can be switched on in a version."""
    return gate in feature_gates(version) and not (gate in GANG_GATES and version in WITHOUT_POD_GROUPS)


def check_gates(version: str, given: Mapping[str, bool]) -> dict[str, bool]:
    """Return the values of all gates of a version where these are set (setUnsafe and validateDependencies in
    staging/src/k8s.io/component-base/featuregate/feature_gate.go). Raises FeatureGateError."""
    gates = feature_gates(version)
    values = {name: gate.default for name, gate in gates.items()}
    for name, value in given.items():
        if name not in gates:
            raise FeatureGateError(f"unrecognized feature gate: {name}")
        if gates[name].locked and value != gates[name].default:
            default = str(gates[name].default).lower()
            raise FeatureGateError(
                f"cannot set feature gate {name} to {str(value).lower()}, feature is locked to {default}"
            )
        if name in ALL:
            stage = ALL[name]
            values |= {other: value for other, gate in gates.items() if gate.stage == stage}
    values |= given
    for name in GANG_GATES if version in WITHOUT_POD_GROUPS else ():
        if given.get(name):
            raise FeatureGateError(f"{name}: pod groups are modelled as v1.36 has them, not as {version}")
        values[name] = False
    for name, gate in sorted(gates.items()):
        missing = [other for other in gate.depends_on if not values.get(other, True)]
        if values[name] and missing:
            raise FeatureGateError(
                f"{name} is enabled, but depends on features that are disabled: [{' '.join(missing)}]"
            )
    return values
