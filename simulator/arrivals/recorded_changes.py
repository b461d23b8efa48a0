"""Which recorded changes of an object are played, and what of them is left out.

Played is what a person or an autoscaler changes: scale, templates, cordons, labels and taints of nodes,
removed scheduling gates. What the scheduler, the kubelets and the controllers of the recorded cluster wrote
is neither played nor named: those of the sandbox do their own."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from simulator.api import Manifest
from simulator.objects.conditions import condition_status

PLAYED: Final[Mapping[str, tuple[str, ...]]] = {
    "CronJob": ("spec.schedule", "spec.suspend"),
    "DaemonSet": ("spec.template",),
    "Deployment": ("spec.replicas", "spec.template"),
    "Job": ("spec.parallelism", "spec.suspend"),
    "Node": (
        *("metadata.labels", "spec.taints", "spec.unschedulable"),
        *("status.allocatable", "status.capacity"),
    ),
    "Pod": ("spec.schedulingGates",),
    "PodDisruptionBudget": ("spec",),
    "ReplicaSet": ("spec.replicas",),
    "StatefulSet": ("spec.replicas", "spec.template"),
}
"""The fields of each kind of which changes are played."""
OF_CONTROLLERS: Final = ("Namespace", "PersistentVolume", "PersistentVolumeClaim")
"""Kinds of which controllers write the spec."""


def played_change(old: Manifest, new: Manifest) -> Manifest | None:
    """Return what is played of the change of a recorded object, as its identity and a merge patch; None =
    nothing is."""
    patch: Manifest = {}
    for path in PLAYED.get(new["kind"], ()):
        section, _, field = path.partition(".")
        before, after = _section(old, section), _section(new, section)
        if field:
            before, after = ({key: each[key] for key in (field,) if key in each} for each in (before, after))
        changed = _merge_patch(before, after)
        if changed:
            patch[section] = patch.get(section, {}) | changed
    if not patch:
        return None
    named = {field: new["metadata"][field] for field in ("name", "namespace") if field in new["metadata"]}
    identity = {"apiVersion": new["apiVersion"], "kind": new["kind"]}
    return identity | patch | {"metadata": patch.get("metadata", {}) | named}


def left_out(old: Manifest, new: Manifest) -> Iterator[str]:
    """Yield the changed fields that somebody wrote and that are not played."""
    kind = new["kind"]
    if kind in OF_CONTROLLERS:
        return
    played = {*PLAYED.get(kind, ())}
    in_spec = {*_section(old, "spec"), *_section(new, "spec")}
    for section, fields in (("metadata", ["labels"]), ("spec", sorted(in_spec))):
        before, after = _section(old, section), _section(new, section)
        for field in fields:
            path = f"{section}.{field}"
            if before.get(field) != after.get(field) and not {path, section} & played:
                yield path
    if kind == "Node" and condition_status(old, "Ready") in ("True", ""):
        status = condition_status(new, "Ready")
        if status not in ("True", ""):
            yield f"the condition Ready={status}"


def _section(manifest: Manifest, name: str) -> dict[str, Any]:
    found = manifest.get(name)
    return found if isinstance(found, dict) else {}


def _merge_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON merge patch that makes ``new`` of ``old``."""
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(before, dict) and isinstance(value, dict) and before != value:
            patch[key] = _merge_patch(before, value)
        elif before != value:
            patch[key] = value
    return patch
