"""Which pods ``kubectl drain`` evicts (kubectl/pkg/drain/filters.go): not those of DaemonSets and static
pods; those without a controller only with --force, those with emptyDir volumes only with
--delete-emptydir-data."""

from typing import Literal

from simulator.api import Manifest
from simulator.apiserver.kinds.pods.annotations import MIRROR
from simulator.objects.metadata import annotations_of, is_terminating
from simulator.objects.owner_references import controller_of
from simulator.objects.status import FINISHED_PHASES, phase_of

Kept = Literal["daemon", "static", "leaving", "no owner", "local storage"]
"""Why a drain does not evict a pod. ``leaving``: it is being deleted already."""


def kept_by_drain(pod: Manifest, *, force: bool, delete_local: bool, owner_kind: str = "") -> Kept | None:
    """Return why a pod stays; None = it is evicted. owner_kind: that of a controller that is
    not among the objects."""
    controller = controller_of(pod)
    kind = owner_kind if controller is None else controller["kind"]
    finished = phase_of(pod) in FINISHED_PHASES
    if kind == "DaemonSet" and not finished:
        return "daemon"
    if MIRROR in annotations_of(pod):
        return "static"
    if is_terminating(pod):
        return "leaving"
    if finished:
        return None
    if any("emptyDir" in volume for volume in pod["spec"].get("volumes") or ()) and not delete_local:
        return "local storage"
    return None if kind or force else "no owner"
