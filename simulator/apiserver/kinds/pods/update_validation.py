"""Validation of updates of pods: which fields of the spec may change.

Upstream: ValidatePodUpdate in pkg/apis/core/validation/validation.go.
"""

import copy
from collections.abc import Iterator, Sequence
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.go_structs import core_struct, struct_difference
from simulator.apiserver.kinds.pods.annotations import validate_pod_annotations_update
from simulator.apiserver.repeated import identity
from simulator.apiserver.selector_validation import validate_tolerations
from simulator.apiserver.status import NIL, Cause, forbidden, invalid, required

POD_UPDATE: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_MAX_DEADLINE: Final = (1 << 31) - 1
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def validate_pod_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    after, before = new["spec"], old["spec"]
    yield from validate_pod_annotations_update(new, old)
    for kind in ("containers", "initContainers"):
        if len(after.get(kind, ())) != len(before.get(kind, ())):
            yield forbidden(f"spec.{kind}", "pod updates may not add or remove containers")
            return
        yield from _images(after.get(kind, ()), f"spec.{kind}")
    given, known = after.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    path = "spec.activeDeadlineSeconds"
    if given is not None and not 0 <= given <= _MAX_DEADLINE:
        yield invalid(path, given, f"must be between 0 and {_MAX_DEADLINE}, inclusive")
        return
    if known is not None and given is not None and given > known:
        yield invalid(path, given, "must be less than or equal to previous value")
        return
    if known is not None and given is None:
        yield invalid(path, NIL, "must not update from a positive integer to nil value")
    yield from _tolerations(after, before)
    yield from _gates(after, before)
    munged = _with_changeable_fields_of(after, before)
    if before.get("schedulingGates"):
        yield from _placement_of_gated(munged, before)
    if munged != before:
        difference = struct_difference(core_struct("PodSpec", before), core_struct("PodSpec", munged))
        yield forbidden("spec", f"{POD_UPDATE}\n{difference}")


def _images(containers: Sequence[Manifest], path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateContainerUpdates reports, which looks at the images once more."""
    for index, container in enumerate(containers):
        image, at = container.get("image", ""), f"{path}[{index}].image"
        if not image:
            yield required(at)
        if image.strip() != image:
            yield invalid(at, image, "must not have leading or trailing whitespace")


def _with_changeable_fields_of(after: Manifest, before: Manifest) -> Manifest:
    """Return the new spec with those fields of the old one that may change."""
    munged = copy.deepcopy(after)
    for field in ("activeDeadlineSeconds", "tolerations", "schedulingGates"):
        _restore(munged, before, field)
    for kind in ("containers", "initContainers"):
        for container, original in zip(munged.get(kind, ()), before.get(kind, ()), strict=True):
            _restore(container, original, "image")
    if before.get("terminationGracePeriodSeconds", 0) < 0 and after.get("terminationGracePeriodSeconds") == 1:
        _restore(munged, before, "terminationGracePeriodSeconds")
    return munged


def _restore(new: Manifest, old: Manifest, field: str) -> None:
    if field in old:
        new[field] = old[field]
    else:
        new.pop(field, None)


def _tolerations(after: Manifest, before: Manifest) -> Iterator[Cause]:
    """Yield the faults of tolerations, which may be added. Of existing ones only tolerationSeconds may change
    (validateOnlyAddedTolerations, which validates all of them once more)."""
    known, kept = (
        {identity({**item, "tolerationSeconds": None}) for item in spec.get("tolerations", ())}
        for spec in (before, after)
    )
    if not known <= kept:
        yield forbidden(
            "spec.tolerations", "existing toleration can not be modified except its tolerationSeconds"
        )
    else:
        yield from validate_tolerations(after.get("tolerations", []), "spec.tolerations")


def _gates(after: Manifest, before: Manifest) -> Iterator[Cause]:
    known = {gate["name"] for gate in before.get("schedulingGates", ())}
    for index, gate in enumerate(after.get("schedulingGates", ())):
        if gate["name"] not in known:
            detail = f"only deletion is allowed, but found new scheduling gate '{gate['name']}'"
            yield forbidden(f"spec.schedulingGates[{index}].name", detail)


def _placement_of_gated(munged: Manifest, before: Manifest) -> Iterator[Cause]:
    """Yield the faults of the placement of a pod with scheduling gates: its node selector and its node
    affinity may get narrower. Restores both in ``munged``."""
    known, given = before.get("nodeSelector", {}), munged.get("nodeSelector", {})
    if not known.items() <= given.items():
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield invalid("spec.nodeSelector", given or None, detail)
    _restore(munged, before, "nodeSelector")
    old, new = (spec.get("affinity", {}).get("nodeAffinity") for spec in (before, munged))
    if old != new:
        yield from _node_affinity(new or {}, old)
        affinity = munged.get("affinity", {})
        _restore(affinity, before.get("affinity", {}), "nodeAffinity")
        if affinity or "affinity" in before:
            munged["affinity"] = affinity
        else:
            munged.pop("affinity", None)


def _node_affinity(new: Manifest, old: Manifest | None) -> Iterator[Cause]:
    """Yield the faults of terms: those that exist may only get further requirements
    (validateNodeAffinityMutation)."""
    if old is None:
        return
    path = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
    before, after = (affinity.get(_REQUIRED, {}).get("nodeSelectorTerms", []) for affinity in (old, new))
    if before and len(before) != len(after):
        terms = [core_struct("NodeSelectorTerm", term) for term in after] or None
        detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        yield invalid(path, terms, detail, whole=True)
        return
    for index, (term, original) in enumerate(zip(after, before, strict=False)):
        if not _only_adds(term, original):
            detail = "only additions are allowed (no mutations or deletions)"
            yield invalid(f"{path}[{index}]", core_struct("NodeSelectorTerm", term), detail, whole=True)


def _only_adds(term: dict[str, Any], original: dict[str, Any]) -> bool:
    lists = [(term.get(field, []), original.get(field, [])) for field in ("matchExpressions", "matchFields")]
    if not any(known for _, known in lists):
        return not any(given for given, _ in lists)
    return all(given[: len(known)] == known for given, known in lists)
