"""StatefulSets.

Upstream: pkg/registry/apps/statefulset/strategy.go, pkg/apis/apps/v1/defaults.go and
pkg/apis/apps/validation/validation.go.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_changes import complete, dropping
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.kinds.volumes.source_defaults import set_claim_spec_defaults
from simulator.apiserver.kinds.volumes.validation import validate_claim_spec
from simulator.apiserver.kinds.workloads.templates import (
    READY_PODS,
    check_labels_of_template,
    container_columns,
    count_faults,
    drop_template_fields,
    is_selector,
    long_running,
    ready_cell,
    selector_of,
    set_template_defaults,
    template_warnings,
    validate_template,
)
from simulator.apiserver.printers.column import AGE, NAME, Column, printer_of
from simulator.apiserver.resource import ScalePaths, built_in
from simulator.apiserver.shapes import Rule, each, field, filled, named_by, not_negative, one_of, where
from simulator.apiserver.status import Cause, forbidden, invalid
from simulator.apiserver.strategy import Strategy, spec_of, status_strategy

_POLICIES: Final = ("OrderedReady", "Parallel")
_CHANGES: Final = (
    *("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"),
    *("persistentVolumeClaimRetentionPolicy", "minReadySeconds"),
)
_UPDATE: Final = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)


_DEFAULTS: Final[Manifest] = {
    "replicas": 1,
    "podManagementPolicy": "OrderedReady",
    "revisionHistoryLimit": 10,
    "serviceName": "",
    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
}
_CLAIM_DEFAULTS: Final[Manifest] = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {},
    "spec": {},
    "status": {"phase": "Pending"},
}
_drop_unavailable: Final = dropping(
    MaxUnavailableStatefulSet=["spec.updateStrategy.rollingUpdate.maxUnavailable"]
)


def _drop_disabled_fields(manifest: Manifest, old: Manifest | None) -> None:
    drop_template_fields(manifest, old)
    _drop_unavailable(manifest, old)


def _set_defaults(manifest: Manifest) -> None:
    complete(manifest, {"spec": {**_DEFAULTS, "updateStrategy": {}}})
    spec = manifest["spec"]
    strategy = spec["updateStrategy"]
    if "type" not in strategy:
        complete(strategy, {"type": "RollingUpdate", "rollingUpdate": {}})
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)
    set_template_defaults(manifest)
    for claim in spec.get("volumeClaimTemplates", ()):
        complete(claim, _CLAIM_DEFAULTS)
        set_claim_spec_defaults(claim["spec"])


def _validate_updated(manifest: Manifest, old: Manifest) -> Iterable[Cause]:
    """ValidateStatefulSetUpdate: the name of the service and the claims cannot change, and a template that
    was wrong before may stay so."""
    before = old["spec"]
    was_good = is_selector(before.get("selector")) and not any(_template(before, "spec"))
    return _rules(is_new=False, checks_template=was_good)(manifest)


def _rules(*, is_new: bool, checks_template: bool) -> Rule:
    """Return the rules of ValidateStatefulSetSpec. A negative revisionHistoryLimit gives a warning."""

    def check_template(spec: Manifest, path: str) -> Iterable[Cause]:
        if not is_selector(spec.get("selector")):
            return (invalid(f"{path}.selector", spec["selector"], ""),)
        return _template(spec, path) if checks_template else ()

    return field(
        "spec",
        field("podManagementPolicy", where(_POLICIES.__contains__, "must be 'OrderedReady' or 'Parallel'")),
        field("updateStrategy", _strategy),
        *(
            field(f"persistentVolumeClaimRetentionPolicy.{name}", one_of(("Retain", "Delete"), as_given=True))
            for name in ("whenDeleted", "whenScaled")
        ),
        *([each("volumeClaimTemplates", field("spec", validate_claim_spec))] if is_new else ()),
        not_negative("replicas", "minReadySeconds", "ordinals.start"),
        *([filled("serviceName", named_by(names.dns_label))] if is_new else ()),
        selector_of("statefulset"),
        check_template,
        field("template", long_running("StatefulSet")),
    )


def _template(spec: Manifest, path: str) -> Iterator[Cause]:
    """ValidatePodTemplateSpecForStatefulSet: its containers may mount the claims as volumes, which stand for
    volumes of the template of the same names (volumesToAddForTemplates)."""
    if spec.get("selector") != {}:
        yield from check_labels_of_template(spec, path)
    template = spec["template"]
    pod = template.get("spec") or {}
    claims = {
        (claim.get("metadata") or {}).get("name", ""): claim
        for claim in spec.get("volumeClaimTemplates") or ()
    }
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    own = [volume for volume in pod.get("volumes") or () if volume["name"] not in claims]
    with_claims = {**template, "spec": {**pod, "volumes": [*volumes, *own]}}
    yield from validate_template(with_claims, f"{path}.template")


def _strategy(strategy: Manifest, path: str) -> Iterator[Cause]:
    kind, rolling, at = strategy["type"], strategy.get("rollingUpdate"), f"{path}.rollingUpdate"
    if kind not in ("RollingUpdate", "OnDelete"):
        shown = api_struct("apps.v1.StatefulSetUpdateStrategy", strategy)
        yield invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'", whole=True)
    elif rolling is not None and kind == "OnDelete":
        shown = api_struct("apps.v1.RollingUpdateStatefulSetStrategy", rolling)
        yield invalid(at, shown, "only allowed for updateStrategy 'RollingUpdate'", whole=True)
    elif rolling is not None:
        yield from not_negative("partition")(rolling, at)


def _validate_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    after, before = (
        {name: value for name, value in each["spec"].items() if name not in _CHANGES} for each in (new, old)
    )
    if after != before:
        yield forbidden("spec", _UPDATE)


_COUNTED: Final = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
STATEFUL_SET_STRATEGY: Final = Strategy(
    resource=built_in("apps/v1", "StatefulSet", "sts", has_status=True, scale=ScalePaths()),
    drop_disabled_fields=_drop_disabled_fields,
    set_defaults=_set_defaults,
    name_rule_of_new=names.dns_label,
    validate=_rules(is_new=True, checks_template=True),
    warnings=template_warnings(),
    validate_updated=_validate_updated,
    validate_update=_validate_update,
    update_order="USC",
    desired_state=spec_of,
    subresources={
        "status": status_strategy(
            count_faults(
                *("replicas", *_COUNTED, "observedGeneration", "collisionCount"),
                at_most_replicas=_COUNTED,
                ready="status.readyReplicas",
            )
        )
    },
    printer=printer_of(NAME, Column("Ready", READY_PODS, cell=ready_cell), AGE, *container_columns()),
)
