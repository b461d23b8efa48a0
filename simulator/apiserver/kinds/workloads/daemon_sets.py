"""DaemonSets.

Upstream: pkg/registry/apps/daemonset/strategy.go, pkg/apis/apps/v1/{defaults,conversion}.go and
pkg/apis/apps/validation/validation.go, v1.34.
"""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest, Micros
from simulator.apiserver.enumerations import UPDATE_STRATEGIES
from simulator.apiserver.field_checks import amount_of, check_at_most_all, validate_int_or_percent
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.kinds.workloads.columns import (
    LABELS,
    container_columns,
    count_column,
    selector_column,
)
from simulator.apiserver.kinds.workloads.templates import (
    check_labels_of_template,
    check_long_running,
    count_faults,
    drop_template_fields,
    is_selector,
    set_template_defaults,
    template_warnings,
    template_warnings_on_update,
    validate_selector_update,
    validate_template,
)
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.printers.column import AGE, NAME, Column, labels_text, printer_of
from simulator.apiserver.resource import built_in
from simulator.apiserver.selector_validation import validate_label_selector
from simulator.apiserver.shapes import not_negative
from simulator.apiserver.status import Cause, invalid, not_supported, required
from simulator.apiserver.strategy import Strategy, spec_of, status_strategy
from simulator.objects.metadata import TEMPLATE_GENERATION


def _set_defaults(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    set_template_defaults(manifest)
    strategy = spec.setdefault("updateStrategy", {})
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", 10)


def _number_template(daemon_set: Manifest, _: str) -> None:
    """Note that the template of a new DaemonSet is the first. The field of older versions is an
    annotation now (pkg/apis/apps/v1/conversion.go)."""
    daemon_set["metadata"].setdefault("annotations", {})[TEMPLATE_GENERATION] = "1"


def _number_next_template(new: Manifest, old: Manifest, _: Overlay | None = None) -> None:
    """Number the template of a DaemonSet that is updated: one more if it has changed."""
    number = old["metadata"].get("annotations", {}).get(TEMPLATE_GENERATION)
    if number is None:
        return
    if old["spec"].get("template") != new["spec"].get("template"):
        number = str(int(number) + 1) if number.isdecimal() else "1"
    new["metadata"].setdefault("annotations", {})[TEMPLATE_GENERATION] = number


def _prepare_status(prepared: Manifest, old: Manifest) -> Manifest:
    _number_next_template(prepared, old)
    return prepared


def _validate(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateDaemonSetSpec reports."""
    spec = manifest["spec"]
    selector = spec.get("selector")
    yield from validate_label_selector(selector, "spec.selector")
    if is_selector(selector):
        yield from check_labels_of_template(spec)
    if selector is not None and not (selector.get("matchLabels") or selector.get("matchExpressions")):
        yield invalid("spec.selector", selector, "empty selector is invalid for daemonset")
    yield from validate_template(spec["template"], "spec.template")
    yield from check_long_running(spec["template"], "spec.template", "DaemonSet")
    yield from _READY_SECONDS(spec, "spec")
    yield from _strategy(spec["updateStrategy"], "spec.updateStrategy")
    yield from _HISTORY(spec, "spec")


def _strategy(strategy: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateDaemonSetUpdateStrategy reports."""
    if strategy["type"] not in UPDATE_STRATEGIES:
        shown = api_struct("apps.v1.DaemonSetUpdateStrategy", strategy)
        yield not_supported(path, shown, UPDATE_STRATEGIES, as_given=True, whole=True)
    elif strategy["type"] == "RollingUpdate":
        at, rolling = f"{path}.rollingUpdate", strategy["rollingUpdate"]
        fields = ("maxUnavailable", "maxSurge")
        for field in fields:
            yield from validate_int_or_percent(rolling[field], f"{at}.{field}")
        for field in fields:
            yield from check_at_most_all(rolling[field], f"{at}.{field}")
        moving = [amount_of(rolling[field]) != 0 for field in fields]
        if all(moving):
            detail = "may not be set when maxUnavailable is non-zero"
            yield invalid(f"{at}.maxSurge", rolling["maxSurge"], detail)
        elif not any(moving):
            yield required(f"{at}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def _node_selector(item: Manifest, _: Micros) -> str:
    return labels_text((item["spec"]["template"].get("spec") or {}).get("nodeSelector"))


_READY_SECONDS: Final = not_negative("minReadySeconds")
_HISTORY: Final = not_negative("revisionHistoryLimit")
DAEMON_SET_STRATEGY: Final = Strategy(
    resource=built_in("apps/v1", "DaemonSet", "ds", has_status=True),
    drop_disabled_fields=drop_template_fields,
    set_defaults=_set_defaults,
    prepare_for_create=_number_template,
    validate=_validate,
    warnings_on_create=template_warnings(),
    warnings_on_update=template_warnings_on_update(),
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
            prepare=_prepare_status,
        )
    },
    printer=printer_of(
        NAME,
        count_column("Desired", "DaemonSetStatus.desiredNumberScheduled", "desiredNumberScheduled"),
        count_column("Current", "DaemonSetStatus.currentNumberScheduled", "currentNumberScheduled"),
        count_column(
            "Ready",
            "The number of nodes that should be running the daemon pod and have one or more of the daemon "
            "pod running and ready.",
            "numberReady",
        ),
        count_column("Up-to-date", "DaemonSetStatus.updatedNumberScheduled", "updatedNumberScheduled"),
        count_column("Available", "DaemonSetStatus.numberAvailable", "numberAvailable"),
        Column("Node Selector", "PodSpec.nodeSelector", cell=_node_selector),
        AGE,
        *container_columns(),
        selector_column(
            "A label query over pods that are managed by the daemon set. Must match in order to be "
            f"controlled. If empty, defaulted to labels on Pod template. {LABELS}"
        ),
    ),
)
