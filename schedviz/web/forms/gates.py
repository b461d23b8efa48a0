"""The feature gates of a sandbox, beside the form of its scheduler's configuration."""

from collections.abc import Mapping
from typing import Final

import msgspec

from simulator.versions.changes import CHANGES
from simulator.versions.feature_gates import POD_GROUP_GATES, WORKLOAD_WITH_JOB, feature_gates
from simulator.versions.features import Features
from simulator.versions.kubernetes_version import KubernetesVersion

FIELD: Final = "gate:"
"""The beginning of the names of the fields. The value is ``true`` or ``false``; "" = the default."""
POD_GROUPS_ON: Final = "pod-groups-on"
POD_GROUPS_OFF: Final = "pod-groups-off"


class GateField(msgspec.Struct, frozen=True):
    name: str
    stage: str
    default: bool
    value: str


class GatesView(msgspec.Struct, frozen=True):
    version: str
    fields: list[GateField]
    error: str = ""


def present_gates(features: Features, posted: Mapping[str, bool] | None = None, error: str = "") -> GatesView:
    """Return the gates that change what a sandbox does, those that can be set, and any other that is set.
    ``posted``: the values of a form that was refused; None = those of ``features``."""
    known = feature_gates(features.version.name)
    values = features.gates if posted is None else posted
    modelled = {change.name for change in CHANGES if change.kind == "gate"}
    names = sorted(name for name in known if name in values or (name in modelled and not known[name].locked))
    fields = [
        GateField(name, known[name].stage, known[name].default, str(values.get(name, "")).lower())
        for name in names
    ]
    return GatesView(features.version.patch, fields, error)


def has_pod_groups(version: KubernetesVersion) -> bool:
    return feature_gates(version.name).keys() >= {*POD_GROUP_GATES}


def posted_gates(posted: Mapping[str, str], before: Mapping[str, bool]) -> dict[str, bool]:
    """Return the gates that a form sets. before: those that are set."""
    if posted["do"] == POD_GROUPS_ON:
        return {**before, **dict.fromkeys(POD_GROUP_GATES, True)}
    if posted["do"] == POD_GROUPS_OFF:
        off = (*POD_GROUP_GATES, WORKLOAD_WITH_JOB)
        return {name: value for name, value in before.items() if name not in off}
    found = {field.removeprefix(FIELD): value for field, value in posted.items() if field.startswith(FIELD)}
    return {name: value == "true" for name, value in found.items() if value}
