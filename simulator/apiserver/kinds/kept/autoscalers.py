"""The rows of HorizontalPodAutoscalers."""

from typing import Final

from simulator.api import Manifest, Micros
from simulator.apiserver.printers.column import AGE, NAME, NONE, UNKNOWN, UNSET, Column, printer_of
from simulator.apiserver.shapes import value_at

SHOWN: Final = 2
"""The maximum of metrics in the column."""
_OF_RESOURCES: Final = ("Resource", "ContainerResource")
_AVERAGED: Final = (*_OF_RESOURCES, "Pods")
"""Types of metrics whose amount is always an average."""
_TYPES: Final = (*_AVERAGED, "External", "Object")
_NIL: Final = "<nil>"
"""The text that Go writes for a missing amount."""


def _target(item: Manifest, _: Micros) -> str:
    target = value_at(item, "spec.scaleTargetRef") or {}
    return f"{target.get('kind', '')}/{target.get('name', '')}"


def _metrics(item: Manifest, _: Micros) -> str:
    """Return the first metrics, each with the current value at the same place (formatHPAMetrics)."""
    metrics = value_at(item, "spec.metrics") or []
    currents = value_at(item, "status.currentMetrics") or []
    known = [*currents, *({} for _ in metrics[len(currents) :])]
    texts = [_metric(metric, current) for metric, current in zip(metrics, known, strict=False)]
    more = f" + {len(texts) - SHOWN} more..." if len(texts) > SHOWN else ""
    return ", ".join(texts[:SHOWN]) + more if texts else NONE


def _metric(metric: Manifest, current: Manifest) -> str:
    kind = metric.get("type", "")
    if kind not in _TYPES:
        return "<unknown type>"
    field = kind[:1].lower() + kind[1:]
    source, measured = metric.get(field) or {}, current.get(field)
    target, value = source.get("target") or {}, (measured or {}).get("current") or {}
    name = f"{source.get('name', '')}: " if kind in _OF_RESOURCES else ""
    if target.get("averageValue") is not None or kind == "Pods":
        otherwise = _NIL if measured and kind in _AVERAGED else UNKNOWN
        average = "" if kind in _AVERAGED else " (avg)"
        return f"{name}{value.get('averageValue', otherwise)}/{target.get('averageValue', _NIL)}{average}"
    if kind in _OF_RESOURCES:
        share, wanted = (each.get("averageUtilization") for each in (value, target))
        return f"{name}{_percent(share, UNKNOWN)}/{_percent(wanted, '<auto>')}"
    return f"{value.get('value', _NIL) if measured else UNKNOWN}/{target.get('value', _NIL)}"


def _percent(share: int | None, otherwise: str) -> str:
    return otherwise if share is None else f"{share}%"


def _least(item: Manifest, _: Micros) -> str:
    least = value_at(item, "spec.minReplicas")
    return UNSET if least is None else str(least)


AUTOSCALER_PRINTER: Final = printer_of(
    NAME,
    Column("Reference", "HorizontalPodAutoscalerSpec.scaleTargetRef", cell=_target),
    Column(
        "Targets",
        "HorizontalPodAutoscalerSpec.metrics",
        older="metrics contains the specifications for which to use to calculate the desired replica count "
        "(the maximum replica count across all metrics will be used).  The desired replica count is "
        "calculated multiplying the ratio between the target value and the current value by the "
        "current number of pods.  Ergo, metrics used must decrease as the pod count is increased, "
        "and vice-versa.  See the individual metric source types for more information about how each "
        "type of metric must respond.",
        cell=_metrics,
    ),
    Column("MinPods", "HorizontalPodAutoscalerSpec.minReplicas", cell=_least),
    Column("MaxPods", "HorizontalPodAutoscalerSpec.maxReplicas", cell="spec.maxReplicas", absent=0),
    Column(
        "Replicas", "HorizontalPodAutoscalerStatus.currentReplicas", cell="status.currentReplicas", absent=0
    ),
    AGE,
)
