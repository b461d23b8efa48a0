"""Validation of HorizontalPodAutoscalers, beyond their schema.

Upstream: pkg/apis/autoscaling/validation/validation.go, v1.34."""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import NOT_POSITIVE, check_name
from simulator.apiserver.resource_validation import check_container_resource
from simulator.apiserver.selector_validation import validate_label_selector
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported, required
from simulator.objects import quantity

_METRICS: Final = ("ContainerResource", "External", "Object", "Pods", "Resource")
_FIELDS: Final = ("object", "external", "pods", "resource", "containerResource")
_TARGETS: Final = ("AverageValue", "Utilization", "Value")
_SELECT_POLICIES: Final = ("Disabled", "Max", "Min")
_MAX_PERIOD: Final = 1800
_MAX_WINDOW: Final = 3600


def validate_autoscaler(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that validateHorizontalPodAutoscalerSpec reports."""
    spec = manifest["spec"]
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    if least is not None and least < 1:
        yield invalid("spec.minReplicas", least, "must be greater than or equal to 1")
    if most < 1:
        yield invalid("spec.maxReplicas", most, "must be greater than 0")
    if least is not None and most < least:
        yield invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    target = spec.get("scaleTargetRef") or {}
    # Of the kinds without a group, only this one can be scaled.
    needs_group = target.get("kind") != "ReplicationController"
    yield from _reference(target, "spec.scaleTargetRef", needs_group=needs_group)
    for index, metric in enumerate(spec.get("metrics") or ()):
        yield from _metric(metric, f"spec.metrics[{index}]")
    if least == 0 and not any(each["type"] in ("Object", "External") for each in spec.get("metrics") or ()):
        detail = "must specify at least one Object or External metric to support scaling to zero replicas"
        yield forbidden("spec.metrics", detail)
    for direction in ("scaleUp", "scaleDown"):
        rules = (spec.get("behavior") or {}).get(direction)
        if rules is not None:
            yield from _scaling_rules(rules, f"spec.behavior.{direction}")


def _reference(target: Manifest, path: str, *, needs_group: bool) -> Iterator[Cause]:
    """Yield the faults that ValidateCrossVersionObjectReference reports."""
    for field in ("kind", "name"):
        if not target.get(field):
            yield required(f"{path}.{field}")
        else:
            yield from check_name(names.path_segment, target[field], f"{path}.{field}")
    version = target.get("apiVersion", "")
    if version.count("/") > 1:
        yield invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}")
    elif needs_group and not version.rpartition("/")[0]:
        yield invalid(f"{path}.apiVersion", version, "apiVersion must specify API group")


def _metric(metric: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateMetricSpec reports."""
    kind = metric["type"]
    if not kind:
        yield required(f"{path}.type", "must specify a metric source type")
    if kind not in _METRICS:
        yield not_supported(f"{path}.type", kind, _METRICS)
    given = [field for field in _FIELDS if metric.get(field) is not None]
    if given:
        yield from _SOURCES[given[0]](metric[given[0]], f"{path}.{given[0]}")
    expected = kind[:1].lower() + kind[1:]
    if kind in _METRICS and expected not in given:
        yield required(f"{path}.{expected}", "must populate information for the given metric source")
    elif kind not in _METRICS:
        yield not_supported(f"{path}.type", kind, _METRICS)
    if len(given) != 1:
        for field in given:
            if field != expected:
                yield forbidden(f"{path}.{field}", "must populate the given metric source only")


def _object(source: Manifest, path: str) -> Iterator[Cause]:
    target = source.get("target") or {}
    described = source.get("describedObject") or {}
    yield from _reference(described, f"{path}.describedObject", needs_group=False)
    yield from _identifier(source.get("metric") or {}, f"{path}.metric")
    yield from _target(target, f"{path}.target")
    if "value" not in target and "averageValue" not in target:
        yield required(f"{path}.target.averageValue", "must set either a target value or averageValue")


def _external(source: Manifest, path: str) -> Iterator[Cause]:
    target = source.get("target") or {}
    yield from _identifier(source.get("metric") or {}, f"{path}.metric")
    yield from _target(target, f"{path}.target")
    if "value" not in target and "averageValue" not in target:
        detail = "must set either a target value for metric or a per-pod target"
        yield required(f"{path}.target.averageValue", detail)
    elif "value" in target and "averageValue" in target:
        detail = "may not set both a target value for metric and a per-pod target"
        yield forbidden(f"{path}.target.value", detail)


def _pods(source: Manifest, path: str) -> Iterator[Cause]:
    target = source.get("target") or {}
    yield from _identifier(source.get("metric") or {}, f"{path}.metric")
    yield from _target(target, f"{path}.target")
    if "averageValue" not in target:
        yield required(f"{path}.target.averageValue", "must specify a positive target averageValue")


def _resource(source: Manifest, path: str) -> Iterator[Cause]:
    name, target = source.get("name", ""), source.get("target") or {}
    if not name:
        yield required(f"{path}.name", "must specify a resource name")
    yield from _target(target, f"{path}.target")
    yield from _one_target(target, f"{path}.target")


def _container_resource(source: Manifest, path: str) -> Iterator[Cause]:
    name, target = source.get("name", ""), source.get("target") or {}
    if not name:
        yield required(f"{path}.name", "must specify a resource name")
    else:
        yield from check_container_resource(name, f"{path}.name")
    if not source.get("container"):
        yield required(f"{path}.container", "must specify a container")
    else:
        yield from check_name(names.dns_label, source["container"], f"{path}.container")
    yield from _target(target, f"{path}.target")
    yield from _one_target(target, f"{path}.target")


def _one_target(target: Manifest, path: str) -> Iterator[Cause]:
    if "averageUtilization" not in target and "averageValue" not in target:
        detail = "must set either a target raw value or a target utilization"
        yield required(f"{path}.averageUtilization", detail)
    elif "averageUtilization" in target and "averageValue" in target:
        detail = "may not set both a target raw value and a target utilization"
        yield forbidden(f"{path}.averageValue", detail)


def _target(target: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateMetricTarget reports."""
    kind, utilization = target.get("type", ""), target.get("averageUtilization")
    if not kind:
        yield required(f"{path}.type", "must specify a metric target type")
    if kind not in _TARGETS:
        detail = "must be either Utilization, Value, or AverageValue"
        yield invalid(f"{path}.type", kind, detail)
    for field in ("value", "averageValue"):
        if field in target and quantity.parse_text(target[field]) <= 0:
            yield invalid(f"{path}.{field}", target[field], "must be positive")
    if utilization is not None and utilization < 1:
        yield invalid(f"{path}.averageUtilization", utilization, "must be greater than 0")


def _identifier(metric: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateMetricIdentifier reports."""
    if not metric.get("name"):
        yield required(f"{path}.name", "must specify a metric name")
    else:
        yield from check_name(names.path_segment, metric["name"], f"{path}.name")
    yield from validate_label_selector(metric.get("selector"), f"{path}.selector")


def _scaling_rules(rules: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateScalingRules reports."""
    window, at = rules.get("stabilizationWindowSeconds", 0), f"{path}.stabilizationWindowSeconds"
    if window < 0:
        yield invalid(at, window, "must be greater than or equal to zero")
    if window > _MAX_WINDOW:
        yield invalid(at, window, f"must be less than or equal to {_MAX_WINDOW}")
    policy = rules.get("selectPolicy", "Max")
    if policy not in _SELECT_POLICIES:
        yield not_supported(f"{path}.selectPolicy", policy, _SELECT_POLICIES)
    policies = rules.get("policies") or ()
    if not policies:
        yield required(f"{path}.policies", "must specify at least one Policy")
    for index, each in enumerate(policies):
        yield from _scaling_policy(each, f"{path}.policies[{index}]")


def _scaling_policy(policy: Manifest, path: str) -> Iterator[Cause]:
    if policy["type"] not in ("Percent", "Pods"):
        yield not_supported(f"{path}.type", policy["type"], ("Percent", "Pods"))
    for field in ("value", "periodSeconds"):
        if policy[field] <= 0:
            yield invalid(f"{path}.{field}", policy[field], NOT_POSITIVE)
    if policy["periodSeconds"] > _MAX_PERIOD:
        detail = f"must be less than or equal to {_MAX_PERIOD}"
        yield invalid(f"{path}.periodSeconds", policy["periodSeconds"], detail)


_SOURCES: Final[dict[str, Callable[[Manifest, str], Iterator[Cause]]]] = {
    "object": _object,
    "external": _external,
    "pods": _pods,
    "resource": _resource,
    "containerResource": _container_resource,
}
