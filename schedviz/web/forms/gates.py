"""The feature gates of a sandbox, beside the form of its scheduler's configuration."""

from collections.abc import Mapping
from typing import Final

import msgspec

from simulator.versions.changes import CHANGES
from simulator.versions.feature_gates import feature_gates
from simulator.versions.features import Features

FIELD: Final = "gate:"
"""The beginning of the names of the fields. The value is ``true`` or ``false``; "" = the default."""


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


def posted_gates(posted: Mapping[str, str]) -> dict[str, bool]:
    """Return the gates that a form sets."""
    found = {field.removeprefix(FIELD): value for field, value in posted.items() if field.startswith(FIELD)}
    return {name: value == "true" for name, value in found.items() if value}
