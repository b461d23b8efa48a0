"""Conversion of HorizontalPodAutoscalers between v2, in which they are stored, and v1.

v1 has one metric, the utilization of CPU; all else that it cannot say is in annotations, as JSON. Upstream:
pkg/apis/autoscaling/v1/conversion.go and staging/src/k8s.io/api/autoscaling/v1/types.go, v1.34.
"""

import json
from collections.abc import Iterable
from typing import Any, Final

from simulator.api import Manifest

METRICS: Final = "autoscaling.alpha.kubernetes.io/metrics"
CURRENT_METRICS: Final = "autoscaling.alpha.kubernetes.io/current-metrics"
CONDITIONS: Final = "autoscaling.alpha.kubernetes.io/conditions"
BEHAVIOR: Final = "autoscaling.alpha.kubernetes.io/behavior"
_ANNOTATIONS: Final = (METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR)
_SPEC_FIELDS: Final = ("scaleTargetRef", "minReplicas", "maxReplicas")
_STATUS_FIELDS: Final = ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")
_METRIC: Final = {
    "object": {
        "target": "describedObject",
        "metricName": "metric.name",
        "{}Value": "{}.value",
        "selector": "metric.selector",
        "averageValue": "{}.averageValue",
    },
    "pods": {
        "metricName": "metric.name",
        "{}AverageValue": "{}.averageValue",
        "selector": "metric.selector",
    },
    "resource": {
        "name": "name",
        "{}AverageUtilization": "{}.averageUtilization",
        "{}AverageValue": "{}.averageValue",
    },
    "containerResource": {
        "name": "name",
        "{}AverageUtilization": "{}.averageUtilization",
        "{}AverageValue": "{}.averageValue",
        "container": "container",
    },
    "external": {
        "metricName": "metric.name",
        "metricSelector": "metric.selector",
        "{}Value": "{}.value",
        "{}AverageValue": "{}.averageValue",
    },
}
"""Source of a metric -> the fields of v1 with their places in v2. For ``{}`` put ``target`` in a spec,
``current`` in a status."""
_RULES: Final = ("stabilizationWindowSeconds", "selectPolicy", "policies", "tolerance")
_POLICY: Final = ("type", "value", "periodSeconds")


def to_autoscaler_v1(stored: Manifest) -> Manifest:
    """Return a stored autoscaler in the form of v1."""
    spec, status = stored.get("spec") or {}, stored.get("status") or {}
    cpu = next((each for each in spec.get("metrics") or () if _is_cpu(each)), None)
    shown_spec = _only(spec, _SPEC_FIELDS)
    if cpu is not None and (utilization := _utilization(cpu, "target")) is not None:
        shown_spec["targetCPUUtilizationPercentage"] = utilization
    shown_status = {"currentReplicas": 0, "desiredReplicas": 0, **_only(status, _STATUS_FIELDS)}
    for metric in status.get("currentMetrics") or ():
        if _is_cpu(metric) and (utilization := _utilization(metric, "current")) is not None:
            shown_status["currentCPUUtilizationPercentage"] = utilization
    annotations = {**stored["metadata"].get("annotations", {}), **_annotations(spec, status)}
    metadata = {**stored["metadata"], "annotations": annotations} if annotations else stored["metadata"]
    return {**stored, "metadata": metadata, "spec": shown_spec, "status": shown_status}


def to_autoscaler(given: Manifest) -> Manifest:
    """Return an autoscaler of v1 in its stored form. An annotation that is no JSON counts as missing."""
    metadata, spec, status = given.get("metadata") or {}, given.get("spec") or {}, given.get("status") or {}
    annotations: dict[str, str] = metadata.get("annotations") or {}
    metrics = [_metric_v2(each, "target") for each in _read_list(annotations, METRICS)]
    utilization = spec.get("targetCPUUtilizationPercentage")
    if utilization is not None:
        target = {"type": "Utilization", "averageUtilization": utilization}
        metrics.append({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    stored_spec = _only(spec, _SPEC_FIELDS)
    if metrics:
        stored_spec["metrics"] = metrics
    behavior = _read(annotations, BEHAVIOR)
    if isinstance(behavior, dict):
        stored_spec["behavior"] = _lowered(behavior)
    kept = {name: value for name, value in annotations.items() if name not in _ANNOTATIONS}
    stored = {**given, "metadata": _with_annotations(metadata, kept), "spec": stored_spec}
    if "status" not in given:
        return stored
    stored_status = _only(status, _STATUS_FIELDS)
    current = [_metric_v2(each, "current") for each in _read_list(annotations, CURRENT_METRICS)]
    utilization = status.get("currentCPUUtilizationPercentage")
    if not current and utilization is not None:
        resource = {"name": "cpu", "current": {"averageUtilization": utilization}}
        current = [{"type": "Resource", "resource": resource}]
    if current:
        stored_status["currentMetrics"] = current
    conditions = _read_list(annotations, CONDITIONS)
    if conditions:
        stored_status["conditions"] = conditions
    return {**stored, "status": stored_status}


def _annotations(spec: Manifest, status: Manifest) -> dict[str, str]:
    """Return the annotations of v1 for the fields that v1 does not have."""
    metrics = spec.get("metrics") or ()
    others = [each for each in metrics if not _is_cpu(each) or _utilization(each, "target") is None]
    found = {
        METRICS: [_metric_v1(each, "target") for each in others],
        CURRENT_METRICS: [_metric_v1(each, "current") for each in status.get("currentMetrics") or ()],
        CONDITIONS: status.get("conditions") or [],
        BEHAVIOR: _raised(spec["behavior"]) if spec.get("behavior") else {},
    }
    return {name: json.dumps(value, separators=(",", ":")) for name, value in found.items() if value}


def _is_cpu(metric: Manifest) -> bool:
    return metric.get("type") == "Resource" and (metric.get("resource") or {}).get("name") == "cpu"


def _utilization(metric: Manifest, kind: str) -> int | None:
    found: int | None = (metric["resource"].get(kind) or {}).get("averageUtilization")
    return found


def _metric_v1(metric: Manifest, kind: str) -> Manifest:
    """Return a metric in the form of v1. ``kind``: ``target`` or ``current``."""
    shown: Manifest = {"type": metric["type"]}
    for source, fields in _METRIC.items():
        if source in metric:
            found = {name.format(kind): _at(metric[source], at.format(kind)) for name, at in fields.items()}
            if source == "object" and found[f"{kind}Value"] is None:
                found[f"{kind}Value"] = "0"  # no pointer in v1
            shown[source] = {name: value for name, value in found.items() if value is not None}
    return shown


def _metric_v2(metric: Any, kind: str) -> Manifest:
    stored: Manifest = {"type": metric.get("type", "")} if isinstance(metric, dict) else {"type": ""}
    for source, fields in _METRIC.items():
        given = metric.get(source) if isinstance(metric, dict) else None
        if isinstance(given, dict):
            of: Manifest = {}
            for name, at in fields.items():
                if (value := given.get(name.format(kind))) is not None:
                    _put(of, at.format(kind), value)
            stored[source] = of if kind == "current" else _with_target_type(of)
    return stored


def _with_target_type(source: Manifest) -> Manifest:
    target = source.get("target") or {}
    if "averageUtilization" in target:
        kind = "Utilization"
    elif "averageValue" in target:
        kind = "AverageValue"
        target = {name: value for name, value in target.items() if name != "value"}
    else:
        kind = "Value"
    return {**source, "target": {"type": kind, **target}}


def _at(value: Manifest, path: str) -> Any:
    first, dot, rest = path.partition(".")
    found = value.get(first)
    return _at(found or {}, rest) if dot else found


def _put(value: Manifest, path: str, item: Any) -> None:
    first, dot, rest = path.partition(".")
    if dot:
        _put(value.setdefault(first, {}), rest, item)
    else:
        value[first] = item


def _raised(behavior: Manifest) -> Manifest:
    """Return the behavior with the names of Go, as its internal type has no others."""
    return {
        _go_name(name): {
            _go_name(field): [
                {_go_name(each): policy.get(each) for each in _POLICY} for policy in rules.get(field) or ()
            ]
            if field == "policies"
            else rules.get(field)
            for field in _RULES
        }
        if (rules := behavior.get(name)) is not None
        else None
        for name in ("scaleUp", "scaleDown")
    }


def _go_name(field: str) -> str:
    return field[0].upper() + field[1:]


def _lowered(value: Any) -> Any:
    match value:
        case dict():
            return {
                name[:1].lower() + name[1:]: _lowered(each)
                for name, each in value.items()
                if each is not None
            }
        case list():
            return [*map(_lowered, value)]
    return value


def _read(annotations: dict[str, str], name: str) -> Any:
    try:
        return json.loads(annotations.get(name, ""))
    except ValueError:
        return None


def _read_list(annotations: dict[str, str], name: str) -> list[Any]:
    found = _read(annotations, name)
    return found if isinstance(found, list) else []


def _only(value: Manifest, fields: Iterable[str]) -> Manifest:
    return {name: value[name] for name in fields if name in value}


def _with_annotations(metadata: Manifest, annotations: dict[str, str]) -> Manifest:
    kept = {name: value for name, value in metadata.items() if name != "annotations"}
    return {**kept, "annotations": annotations} if annotations else kept
