"""DaemonSets.

Upstream: pkg/registry/apps/daemonset/strategy.go, pkg/apis/apps/v1/{defaults,conversion}.go and
pkg/apis/apps/validation/validation.go.
"""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.enumerations import UPDATE_STRATEGIES
from simulator.apiserver.field_changes import complete
from simulator.apiserver.field_checks import amount_of, check_at_most_all, validate_int_or_percent
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.kinds.workloads.templates import (
    LABELS,
    check_labels_of_template,
    container_columns,
    count_faults,
    drop_template_fields,
    is_selector,
    long_running,
    selector_column,
    set_template_defaults,
    template_warnings,
    validate_selector_update,
    validate_template,
)
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.printers.column import AGE, NAME, Column, labels_text, printer_of
from simulator.apiserver.resource import built_in
from simulator.apiserver.selector_validation import validate_label_selector
from simulator.apiserver.shapes import all_of, field, not_negative
from simulator.apiserver.status import Cause, invalid, not_supported, required
from simulator.apiserver.strategy import Strategy, spec_of, status_strategy
from simulator.objects.metadata import TEMPLATE_GENERATION


def _set_defaults(manifest: Manifest) -> None:
    complete(manifest, {"spec": {"updateStrategy": {"type": "RollingUpdate"}, "revisionHistoryLimit": 10}})
    if manifest["spec"]["updateStrategy"]["type"] == "RollingUpdate":
        complete(manifest["spec"]["updateStrategy"], {"rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}})
    set_template_defaults(manifest)


def _number_template(daemon_set: Manifest, _: str) -> None:
    """Note that the template of a new DaemonSet is the first. The field of older versions is an
    annotation now (pkg/apis/apps/v1/conversion.go)."""
    daemon_set["metadata"].setdefault("annotations", {})[TEMPLATE_GENERATION] = "1"


def _number_next_template(new: Manifest, old: Manifest, _: Overlay | None = None) -> Manifest:
    """Number the template of a DaemonSet that is updated: one more if it has changed. Returns the DaemonSet,
    which is changed in place."""
    number = old["metadata"].get("annotations", {}).get(TEMPLATE_GENERATION)
    if number is not None:
        if old["spec"].get("template") != new["spec"].get("template"):
            number = str(int(number) + 1) if number.isdecimal() else "1"
        new["metadata"].setdefault("annotations", {})[TEMPLATE_GENERATION] = number
    return new


def _check_selector(spec: Manifest, path: str) -> Iterator[Cause]:
    selector, at = spec.get("selector"), f"{path}.selector"
    yield from validate_label_selector(selector, at)
    if is_selector(selector):
        yield from check_labels_of_template(spec, path)
    if selector is not None and not (selector.get("matchLabels") or selector.get("matchExpressions")):
        yield invalid(at, selector, "empty selector is invalid for daemonset")


_FIELDS: Final = ("maxUnavailable", "maxSurge")
_AMOUNTS: Final = all_of(
    *(field(name, check) for check in (validate_int_or_percent, check_at_most_all) for name in _FIELDS)
)


def _strategy(strategy: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateDaemonSetUpdateStrategy reports."""
    if strategy["type"] not in UPDATE_STRATEGIES:
        shown = api_struct("apps.v1.DaemonSetUpdateStrategy", strategy)
        yield not_supported(path, shown, UPDATE_STRATEGIES, as_given=True, whole=True)
    elif strategy["type"] == "RollingUpdate":
        at, rolling = f"{path}.rollingUpdate", strategy["rollingUpdate"]
        yield from _AMOUNTS(rolling, at)
        moving = [amount_of(rolling[name]) != 0 for name in _FIELDS]
        if all(moving):
            detail = "may not be set when maxUnavailable is non-zero"
            yield invalid(f"{at}.maxSurge", rolling["maxSurge"], detail)
        elif not any(moving):
            yield required(f"{at}.maxUnavailable", "cannot be 0 when maxSurge is 0")


DAEMON_SET_STRATEGY: Final = Strategy(
    resource=built_in("apps/v1", "DaemonSet", "ds", has_status=True),
    drop_disabled_fields=drop_template_fields,
    set_defaults=_set_defaults,
    prepare_for_create=_number_template,
    validate=field(
        "spec",
        _check_selector,
        field("template", validate_template, long_running("DaemonSet")),
        not_negative("minReadySeconds"),
        field("updateStrategy", _strategy),
        not_negative("revisionHistoryLimit"),
    ),
    warnings=template_warnings(),
    begin_update=_number_next_template,
    validate_update=validate_selector_update,
    update_order="USC",
    desired_state=spec_of,
    subresources={
        "status": status_strategy(
            count_faults(
                *("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady"),
                *("observedGeneration", "updatedNumberScheduled", "numberAvailable", "numberUnavailable"),
                "collisionCount",
            ),
            prepare=_number_next_template,
        )
    },
    printer=printer_of(
        NAME,
        Column("Desired", "DaemonSetStatus.desiredNumberScheduled", "integer", absent=0),
        Column("Current", "DaemonSetStatus.currentNumberScheduled", "integer", absent=0),
        Column(
            "Ready",
            "DaemonSetStatus.numberReady",
            "integer",
            absent=0,
            older="The number of nodes that should be running the daemon pod and have one or more of the "
            "daemon pod running and ready.",
        ),
        Column("Up-to-date", "DaemonSetStatus.updatedNumberScheduled", "integer", absent=0),
        Column("Available", "DaemonSetStatus.numberAvailable", "integer", absent=0),
        Column(
            "Node Selector", "PodSpec.nodeSelector", cell="spec.template.spec.nodeSelector", show=labels_text
        ),
        AGE,
        *container_columns(),
        selector_column(
            "DaemonSetSpec.selector",
            older="A label query over pods that are managed by the daemon set. Must match in order to be "
            f"controlled. If empty, defaulted to labels on Pod template. {LABELS}",
        ),
    ),
)
