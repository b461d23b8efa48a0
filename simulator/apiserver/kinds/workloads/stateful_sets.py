"""StatefulSets.

Upstream: pkg/registry/apps/statefulset/strategy.go, pkg/apis/apps/v1/defaults.go and
pkg/apis/apps/validation/validation.go, v1.34.
"""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.kinds.volumes.source_defaults import set_claim_spec_defaults
from simulator.apiserver.kinds.volumes.validation import validate_claim_spec
from simulator.apiserver.kinds.workloads.columns import READY_PODS, container_columns, ready_cell
from simulator.apiserver.kinds.workloads.templates import (
    check_labels_of_template,
    check_long_running,
    check_selector,
    count_faults,
    drop_template_fields,
    is_selector,
    set_template_defaults,
    template_warnings,
    template_warnings_on_update,
    validate_template,
)
from simulator.apiserver.printers.column import AGE, NAME, Column, printer_of
from simulator.apiserver.resource import ScalePaths, built_in
from simulator.apiserver.shapes import each, field, filled, named_by, not_negative, one_of
from simulator.apiserver.status import Cause, forbidden, invalid
from simulator.apiserver.strategy import Strategy, spec_of, status_strategy

_CHANGES: Final = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)
_UPDATE: Final = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)


def _drop_disabled_fields(manifest: Manifest) -> None:
    drop_template_fields(manifest)
    strategy = (manifest.get("spec") or {}).get("updateStrategy") or {}
    (strategy.get("rollingUpdate") or {}).pop("maxUnavailable", None)  # MaxUnavailableStatefulSet


def _set_defaults(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    set_template_defaults(manifest)
    spec.setdefault("podManagementPolicy", "OrderedReady")
    strategy = spec.setdefault("updateStrategy", {})
    if "type" not in strategy:
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("serviceName", "")
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    for claim in spec.get("volumeClaimTemplates", ()):
        claim.setdefault("apiVersion", "v1")
        claim.setdefault("kind", "PersistentVolumeClaim")
        claim.setdefault("metadata", {})
        set_claim_spec_defaults(claim.setdefault("spec", {}))
        claim.setdefault("status", {}).setdefault("phase", "Pending")


def _validate(manifest: Manifest) -> Iterator[Cause]:
    return _spec(manifest["spec"], is_new=True, checks_template=True)


def _validate_updated(manifest: Manifest, old: Manifest) -> Iterator[Cause]:
    """ValidateStatefulSetUpdate: the name of the service and the claims cannot change, and a template that
    was wrong before may stay so."""
    before = old["spec"]
    was_good = is_selector(before.get("selector")) and not any(_template(before))
    return _spec(manifest["spec"], is_new=False, checks_template=was_good)


def _spec(spec: Manifest, *, is_new: bool, checks_template: bool) -> Iterator[Cause]:
    """Yield the faults that ValidateStatefulSetSpec reports. A negative revisionHistoryLimit gives a
    warning."""
    policy = spec["podManagementPolicy"]
    if policy not in ("OrderedReady", "Parallel"):
        yield invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
    yield from _strategy(spec["updateStrategy"], "spec.updateStrategy")
    yield from _RETENTION(spec, "spec")
    if is_new:
        yield from _CLAIMS(spec, "spec")
    yield from _COUNTS(spec, "spec")
    if is_new:
        yield from _SERVICE_NAME(spec, "spec")
    yield from check_selector(spec.get("selector"), "statefulset")
    if not is_selector(spec.get("selector")):
        yield invalid("spec.selector", spec["selector"], "")
    elif checks_template:
        yield from _template(spec)
    yield from check_long_running(spec["template"], "spec.template", "StatefulSet")


def _template(spec: Manifest) -> Iterator[Cause]:
    """ValidatePodTemplateSpecForStatefulSet: its containers may mount the claims as volumes, which stand for
    volumes of the template of the same names (volumesToAddForTemplates)."""
    if spec.get("selector") != {}:
        yield from check_labels_of_template(spec)
    template = spec["template"]
    pod = template.get("spec") or {}
    claims = {
        (claim.get("metadata") or {}).get("name", ""): claim
        for claim in spec.get("volumeClaimTemplates") or ()
    }
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    own = [volume for volume in pod.get("volumes") or () if volume["name"] not in claims]
    yield from validate_template({**template, "spec": {**pod, "volumes": [*volumes, *own]}}, "spec.template")


def _strategy(strategy: Manifest, path: str) -> Iterator[Cause]:
    kind, rolling, at = strategy["type"], strategy.get("rollingUpdate"), f"{path}.rollingUpdate"
    if kind not in ("RollingUpdate", "OnDelete"):
        shown = api_struct("apps.v1.StatefulSetUpdateStrategy", strategy)
        yield invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'", whole=True)
    elif rolling is not None and kind == "OnDelete":
        shown = api_struct("apps.v1.RollingUpdateStatefulSetStrategy", rolling)
        yield invalid(at, shown, "only allowed for updateStrategy 'RollingUpdate'", whole=True)
    elif rolling is not None:
        yield from _PARTITION(rolling, at)


def _validate_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    after, before = (
        {name: value for name, value in each["spec"].items() if name not in _CHANGES} for each in (new, old)
    )
    if after != before:
        yield forbidden("spec", _UPDATE)


_COUNTS: Final = not_negative("replicas", "minReadySeconds", "ordinals.start")
_SERVICE_NAME: Final = filled("serviceName", named_by(names.dns_label))
_CLAIMS: Final = each("volumeClaimTemplates", field("spec", validate_claim_spec))
_PARTITION: Final = not_negative("partition")
_RETAINED: Final = one_of(("Retain", "Delete"), as_given=True)
_RETENTION: Final = field(
    "persistentVolumeClaimRetentionPolicy",
    field("whenDeleted", _RETAINED),
    field("whenScaled", _RETAINED),
)
STATEFUL_SET_STRATEGY: Final = Strategy(
    resource=built_in("apps/v1", "StatefulSet", "sts", has_status=True, scale=ScalePaths()),
    drop_disabled_fields=_drop_disabled_fields,
    set_defaults=_set_defaults,
    name_rule_of_new=names.dns_label,
    validate=_validate,
    warnings_on_create=template_warnings(),
    warnings_on_update=template_warnings_on_update(),
    validate_updated=_validate_updated,
    validate_update=_validate_update,
    update_order="USC",
    desired_state=spec_of,
    subresources={
        "status": status_strategy(
            count_faults(
                *("replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
                *("observedGeneration", "collisionCount"),
                at_most_replicas=(
                    *("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
                ),
                ready="status.readyReplicas",
            )
        )
    },
    printer=printer_of(NAME, Column("Ready", READY_PODS, cell=ready_cell), AGE, *container_columns()),
)
