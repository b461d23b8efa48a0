"""The figures of a run or of a comparison: each as a plot, and the same values as a table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
from django.utils.translation import gettext, gettext_noop

from schedviz.web.compare.plot import Plot, plot
from schedviz.web.text import format as fmt
from simulator.api import SECOND, Micros
from simulator.compare.answer import Curve, RunOutcome
from simulator.compare.observer import curve_names
from simulator.compare.waiting_pods import ERROR, IN_QUEUE, OTHER, PREEMPTING
from simulator.objects import durations

TABLE_ROWS: Final = 11
"""Number of rows of the table below a plot: the start, the end, and each tenth of the time between."""

TITLES: Final = {
    "pending": gettext_noop("Pods pending"),
    "pending-cause": gettext_noop("Pods pending: {resource}"),
    "requested": gettext_noop("Requested of {resource}"),
    "fragmentation": gettext_noop("Fragmentation"),
    "unusable": gettext_noop("Free, but of no use to pods that wait"),
    "load-deviation": gettext_noop("Load deviation between nodes"),
    "zone-deviation": gettext_noop("Load deviation between zones"),
    "preempted": gettext_noop("Pods preempted"),
    "evicted": gettext_noop("Pods evicted from their nodes"),
    "waits": gettext_noop("Time to bind: share of the pods"),
}
MEANINGS: Final = {
    "pending": gettext_noop("Pods without a node, except pods with a scheduling gate."),
    "pending-cause": gettext_noop(
        "Pods without a node by what rejected them on most nodes in their last attempt."
    ),
    "requested": gettext_noop(
        "Requests of the pods on ready nodes, as a share of what these nodes have allocatable."
    ),
    "fragmentation": gettext_noop(
        "Share of the free CPU and memory that is on nodes where one more pod of {pod} would not fit. "
        "That is the largest pod of this workload that fits on an empty node. Only ready nodes count."
    ),
    "unusable": gettext_noop(
        "Share of the free CPU and memory that is on nodes where no waiting pod has enough of what it "
        "requests. 0 while no pod waits."
    ),
    "load-deviation": gettext_noop(
        "Standard deviation of the nodes' load. The load of a node is its requested share of CPU or of "
        "memory, whichever is larger. 0 = all nodes have the same load."
    ),
    "zone-deviation": gettext_noop(
        "Standard deviation of the zones' load. The load of a zone is the mean of its nodes' loads."
    ),
    "preempted": gettext_noop("Victims of preemption so far."),
    "evicted": gettext_noop("Pods so far that kubelets, taints or drains evicted."),
    "waits": gettext_noop("Of the pods that were bound, the share that waited at most so long."),
}
"""The kind of a curve -> meaning."""

CAUSES: Final = {
    IN_QUEUE: gettext_noop("not tried yet"),
    PREEMPTING: gettext_noop("its victims are being removed"),
    ERROR: gettext_noop("an error"),
    OTHER: gettext_noop("other causes"),
}
"""The causes that are not in the scheduler's words."""


class FigureRow(msgspec.Struct, frozen=True):
    name: str
    cells: list[str]
    """The value of each side, and of two sides the difference."""


class Figure(msgspec.Struct, frozen=True):
    """One plot, with its explanation and the same values as a table."""

    id: str
    title: str
    meaning: str
    summary: str
    """The plot, described in a sentence."""
    plot: Plot
    heads: list[str]
    """The headings of the cells of the rows."""
    rows: list[FigureRow]


def column_heads(sides: Sequence[str]) -> list[str]:
    """Return the headings of the cells of rows."""
    return [*sides, f"{sides[1]} \u2212 {sides[0]}"] if len(sides) == 2 else [gettext("value")]


def _title(name: str) -> str:
    _, _, resource = name.partition(":")
    return gettext(TITLES[_kind(name)]).format(
        resource=gettext(CAUSES.get(resource, resource)) if resource else ""
    )


def _kind(name: str) -> str:
    """Return the kind of a curve: the part of its name before the colon."""
    kind, colon, _ = name.partition(":")
    return "pending-cause" if kind == "pending" and colon else kind


def present_figures(
    sides: Mapping[str, RunOutcome], end: Micros, reference: Mapping[str, int]
) -> list[Figure]:
    """Return the figures of one side or two. sides: by name; end: the time that was run; reference: the
    requests of the reference pod."""
    figures = [present_figure(curves, end, reference) for curves in curves_of(sides, end)]
    waits = [(name, side.distribution) for name, side in sides.items() if side.distribution is not None]
    if waits:
        longest = max(curve.points[-1][0] for _, curve in waits) or 1
        whole = [
            (name, msgspec.structs.replace(curve, points=[*curve.points, (longest, 100.0)]))
            for name, curve in waits
        ]
        figures.append(present_figure(whole, longest, reference))
    return figures


def curves_of(sides: Mapping[str, RunOutcome], end: Micros) -> Iterator[list[tuple[str, Curve]]]:
    """Yield the curves of each metric, one of each side. A metric that a side does not have is 0 there."""
    for name in curve_names(sides.values()):
        found = [(side, outcome.curve(name)) for side, outcome in sides.items()]
        known = next(curve for _, curve in found if curve is not None)
        zero = Curve(name, known.unit, [(0, 0.0), (end, 0.0)], mean=0.0, peak=0.0, last=0.0)
        yield [(side, curve or zero) for side, curve in found]


def present_figure(curves: Sequence[tuple[str, Curve]], end: Micros, reference: Mapping[str, int]) -> Figure:
    """curves: those of a metric, each with the name of its side."""
    name = curves[0][1].name
    unit = _unit(curves[0][1])
    sides = [side for side, _ in curves]
    text = gettext("%(side)s: mean %(mean)s, at the end %(last)s.")
    if len(curves) == 1:
        text = gettext("Mean %(mean)s, at the end %(last)s.")
    if name == "waits":
        text = gettext("%(side)s: mean %(mean)s.")
    summaries = (
        text
        % {
            "side": side,
            "mean": _moment(round(curve.mean)) if name == "waits" else unit(curve.mean),
            "last": unit(curve.last),
        }
        for side, curve in curves
    )
    moments = [end * number // (TABLE_ROWS - 1) for number in range(TABLE_ROWS)]
    return Figure(
        id="".join(each if each.isalnum() else "-" for each in name),
        title=_title(name),
        meaning=gettext(MEANINGS[_kind(name)]).format(pod=fmt.requests(dict(reference))),
        summary=" ".join(summaries),
        plot=plot(curves, end),
        heads=column_heads(sides),
        rows=[_row(_moment(each), [_at(curve, each) for _, curve in curves], unit) for each in moments],
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
    unit = SECOND if time >= 10 * SECOND else SECOND // 1000
    return durations.format_duration(time // unit * unit)


def _unit(curve: Curve) -> Callable[[float], str]:
    if curve.unit == "pods":
        return lambda value: f"{value:g}"
    if curve.unit == "percent":
        return lambda value: f"{value:.1f}\u202f%"
    return lambda value: f"{value:.1f}"


def _row(name: str, values: Sequence[float], unit: Callable[[float], str]) -> FigureRow:
    difference = [_signed(values[1] - values[0], unit)] if len(values) == 2 else []
    return FigureRow(name, [*map(unit, values), *difference])


def _signed(value: float, unit: Callable[[float], str]) -> str:
    value = round(value, 2)
    sign = "+" if value > 0 else "\u2212" if value < 0 else ""
    return sign + unit(abs(value))


def count_row(name: str, values: Sequence[int]) -> FigureRow:
    return _row(name, values, lambda value: fmt.number(int(value)))


def mean_row(curves: Sequence[tuple[str, Curve]]) -> FigureRow:
    first = curves[0][1]
    name = gettext("%(figure)s, mean") % {"figure": _title(first.name)}
    return _row(name, [curve.mean for _, curve in curves], _unit(first))


def total_rows(outcomes: Sequence[RunOutcome], *, with_cycles: bool = True) -> list[FigureRow]:
    """Return the counts of one side or two."""
    rows = [
        count_row(gettext("Scheduling cycles"), [each.cycles for each in outcomes]),
        count_row(gettext("Pods bound"), [each.bound for each in outcomes]),
        count_row(gettext("Pods preempted"), [each.preempted for each in outcomes]),
    ]
    return rows if with_cycles else rows[1:]
