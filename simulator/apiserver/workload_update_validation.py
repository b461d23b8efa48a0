"""Validation of updates of workloads: what may not change.

Upstream: the Validate...Update functions in pkg/apis/apps/validation/validation.go and
pkg/apis/batch/validation/validation.go, and ValidateUpdate of the strategies in pkg/registry/apps, v1.34.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.field_checks import IMMUTABLE
from simulator.apiserver.go_structs import api_struct, pod_template_struct
from simulator.apiserver.status import NIL, Cause, forbidden, invalid

_STATEFUL_SET_CHANGES: Final = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)
_STATEFUL_SET_UPDATE: Final = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
_SCHEDULING: Final = ("nodeSelector", "tolerations", "schedulingGates")


def _selector(new: Manifest, old: Manifest) -> Iterator[Cause]:
    if new["spec"].get("selector") != old["spec"].get("selector"):
        yield invalid("spec.selector", new["spec"].get("selector", NIL), IMMUTABLE, whole=True)


def _stateful_set(new: Manifest, old: Manifest) -> Iterator[Cause]:
    after, before = (
        {name: value for name, value in each["spec"].items() if name not in _STATEFUL_SET_CHANGES}
        for each in (new, old)
    )
    if after != before:
        yield forbidden("spec", _STATEFUL_SET_UPDATE)


def _job(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateJobSpecUpdate reports."""
    after, before = new["spec"], old["spec"]
    yield from _completions(after, before)
    yield from _selector(new, old)
    known = before.get("template", {})
    if before.get("suspend") and "startTime" not in old.get("status", {}):
        known = _with_directives_of(known, after.get("template", {}))
    if after.get("template", {}) != known:
        yield invalid("spec.template", pod_template_struct(after["template"]), IMMUTABLE, whole=True)
    for field, type_name in (
        ("completionMode", ""),
        ("podFailurePolicy", "batch.v1.PodFailurePolicy"),
        ("backoffLimitPerIndex", ""),
        ("managedBy", ""),
        ("successPolicy", "batch.v1.SuccessPolicy"),
    ):
        value: Any = after.get(field)
        if value != before.get(field):
            shown = api_struct(type_name, value) if type_name and value is not None else value
            yield invalid(f"spec.{field}", NIL if shown is None else shown, IMMUTABLE, whole=True)


def _completions(after: Manifest, before: Manifest) -> Iterator[Cause]:
    """Yield the faults of completions: an Indexed Job grows and shrinks together with its parallelism
    (validateCompletions)."""
    value = after.get("completions")
    if value == before.get("completions"):
        return
    if after.get("completionMode") != "Indexed":
        yield invalid("spec.completions", NIL if value is None else value, IMMUTABLE)
    elif value is not None and value != after.get("parallelism"):
        yield invalid("spec.completions", value, "can only be modified in tandem with spec.parallelism")


def _with_directives_of(template: Manifest, new: Manifest) -> Manifest:
    """Return the stored template with those fields of the new one that may change while the Job is suspended
    and has not started (validatePodTemplateUpdate)."""
    merged = copy.deepcopy(template)
    for of, given, fields in (
        (merged.setdefault("spec", {}), new.get("spec", {}), _SCHEDULING),
        (merged.setdefault("metadata", {}), new.get("metadata", {}), ("annotations", "labels")),
    ):
        for field in fields:
            of.pop(field, None)
            if field in given:
                of[field] = given[field]
    affinity = {**merged["spec"].pop("affinity", {})}
    affinity.pop("nodeAffinity", None)
    wanted = new.get("spec", {}).get("affinity")
    if wanted is not None and "nodeAffinity" in wanted:
        affinity["nodeAffinity"] = wanted["nodeAffinity"]
    if affinity or wanted is not None:
        merged["spec"]["affinity"] = affinity
    return merged


WORKLOAD_UPDATE_CHECKS: Final[dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]]] = {
    "daemonsets.apps": _selector,
    "deployments.apps": _selector,
    "jobs.batch": _job,
    "replicasets.apps": _selector,
    "statefulsets.apps": _stateful_set,
}
