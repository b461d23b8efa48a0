"""The figures of a comparison: each as a plot, and the same values as a table."""

from collections.abc import Callable
from typing import Final

import msgspec
from django.utils.translation import gettext, gettext_noop

from schedviz.web.compare.plot import Plot, plot
from schedviz.web.text import format as fmt
from simulator.api import SECOND, Micros
from simulator.compare.answer import Comparison, Curve
from simulator.objects import durations

TABLE_ROWS: Final = 11
"""Number of rows of the table below a plot: the start, the end, and each tenth of the time between."""

TITLES: Final = {
    "pending": gettext_noop("Pods pending"),
    "requested": gettext_noop("Requested of {resource}"),
    "fragmentation": gettext_noop("Fragmentation"),
    "load-deviation": gettext_noop("Load deviation between nodes"),
    "zone-deviation": gettext_noop("Load deviation between zones"),
    "preempted": gettext_noop("Pods preempted"),
}
MEANINGS: Final = {
    "pending": gettext_noop("Pods without a node, except pods with a scheduling gate."),
    "requested": gettext_noop(
        "Requests of the pods on ready nodes, as a share of what these nodes have allocatable."
    ),
    "fragmentation": gettext_noop(
        "Share of the free CPU and memory that is on nodes where one more pod of {pod} would not fit. "
        "That is the largest pod of this workload that fits on an empty node. Only ready nodes count."
    ),
    "load-deviation": gettext_noop(
        "Standard deviation of the nodes' load. The load of a node is its requested share of CPU or of "
        "memory, whichever is larger. 0 = all nodes have the same load."
    ),
    "zone-deviation": gettext_noop(
        "Standard deviation of the zones' load. The load of a zone is the mean of its nodes' loads."
    ),
    "preempted": gettext_noop("Victims of preemption so far."),
}
"""The part of the curve's name before the colon -> meaning."""


class FigureRow(msgspec.Struct, frozen=True):
    name: str
    a: str
    b: str
    difference: str


class Figure(msgspec.Struct, frozen=True):
    """One plot, with its explanation and the same values as a table."""

    id: str
    title: str
    meaning: str
    summary: str
    """The plot, described in a sentence."""
    plot: Plot
    rows: list[FigureRow]


def _title(name: str) -> str:
    kind, _, resource = name.partition(":")
    return gettext(TITLES[kind]).format(resource=resource)


def present_figure(a: Curve, b: Curve, found: Comparison) -> Figure:
    kind = a.name.partition(":")[0]
    unit = _unit(a)
    summary = gettext("A: mean %(a)s, at the end %(a_last)s. B: mean %(b)s, at the end %(b_last)s.") % {
        "a": unit(a.mean),
        "a_last": unit(a.last),
        "b": unit(b.mean),
        "b_last": unit(b.last),
    }
    moments = [found.end * number // (TABLE_ROWS - 1) for number in range(TABLE_ROWS)]
    return Figure(
        id=a.name.replace(":", "-").replace("/", "-").replace(".", "-"),
        title=_title(a.name),
        meaning=gettext(MEANINGS[kind]).format(pod=fmt.requests(found.reference)),
        summary=summary,
        plot=plot(a, b, found.end),
        rows=[_row(_moment(each), _at(a, each), _at(b, each), unit) for each in moments],
    )


def _at(curve: Curve, time: Micros) -> float:
    """Return the value of a curve at a time; before its first point, the value of that."""
    value = curve.points[0][1]
    for since, known in curve.points:
        if since > time:
            break
        value = known
    return value


def _moment(time: Micros) -> str:
    return durations.format_duration(time // SECOND * SECOND)


def _unit(curve: Curve) -> Callable[[float], str]:
    if curve.unit == "pods":
        return lambda value: f"{value:g}"
    if curve.unit == "percent":
        return lambda value: f"{value:.1f}\u202f%"
    return lambda value: f"{value:.1f}"


def _row(name: str, a: float, b: float, unit: Callable[[float], str]) -> FigureRow:
    return FigureRow(name, unit(a), unit(b), _signed(b - a, unit))


def _signed(value: float, unit: Callable[[float], str]) -> str:
    value = round(value, 2)
    sign = "+" if value > 0 else "\u2212" if value < 0 else ""
    return sign + unit(abs(value))


def count_row(name: str, a: int, b: int) -> FigureRow:
    return _row(name, a, b, lambda value: fmt.number(int(value)))


def mean_row(a: Curve, b: Curve) -> FigureRow:
    return _row(gettext("%(figure)s, mean") % {"figure": _title(a.name)}, a.mean, b.mean, _unit(a))
