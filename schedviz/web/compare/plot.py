"""The plot of one step curve or two over the same time, as an SVG."""

from collections.abc import Iterable, Sequence
from math import floor, log10
from typing import Final

import msgspec

from simulator.api import Micros
from simulator.compare.answer import Curve
from simulator.objects import durations

WIDTH: Final = 340
HEIGHT: Final = 170
LEFT: Final = 42
"""The vertical axis. Its numbers are to the left."""
RIGHT: Final = 320
"""The end of the horizontal axis. The names of the curves are to the right."""
TOP: Final = 10
BOTTOM: Final = 146
APART: Final = 13
"""The smallest vertical distance between the names of the two curves, so that they do not overlap."""
TICKS: Final = 2


class Tick(msgspec.Struct, frozen=True):
    at: float
    label: str


class PlotLine(msgspec.Struct, frozen=True):
    name: str
    """The name of the side; A and B are drawn differently."""
    path: str
    """An SVG path."""
    label_at: float | None
    """The height of the name beside its end; None = there is one line only."""


class Plot(msgspec.Struct, frozen=True):
    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    x: list[Tick]
    y: list[Tick]
    lines: list[PlotLine]


def plot(curves: Sequence[tuple[str, Curve]], end: Micros) -> Plot:
    """curves: those of one side or two, each with the name of its side."""
    top = round_up(max(value for _, curve in curves for _, value in curve.points))
    ends = _label_heights([_y(curve.last, top) for _, curve in curves])
    suffix = "%" if curves[0][1].unit == "percent" else ""
    return Plot(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=RIGHT,
        top=TOP,
        bottom=BOTTOM,
        x=[
            Tick(
                _x(end * number // TICKS, end),
                durations.format_duration(end * number // TICKS // 1_000_000 * 1_000_000),
            )
            for number in range(TICKS + 1)
        ],
        y=[
            Tick(_y(top * number / TICKS, top), f"{top * number / TICKS:g}{suffix}")
            for number in range(TICKS + 1)
        ],
        lines=[
            PlotLine(name, _path(curve.points, end, top), at)
            for (name, curve), at in zip(curves, ends, strict=True)
        ],
    )


def _label_heights(ends: list[float]) -> list[float | None]:
    """Return where the names of lines that end at these heights are written, without overlaps."""
    if len(ends) == 1:
        return [None]
    first, second = ends
    if abs(first - second) < APART:
        above = min(max((first + second - APART) / 2, TOP), BOTTOM - APART)
        first, second = (above, above + APART) if first <= second else (above + APART, above)
    return [round(first, 1), round(second, 1)]


def round_up(value: float) -> float:
    """Return the smallest number not below the value that is 1, 2 or 5 times a power of ten; 1 for 0."""
    if value <= 0:
        return 1.0
    power = 10.0 ** floor(log10(value))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9))


def _path(points: Iterable[tuple[Micros, float]], end: Micros, top: float) -> str:
    """Return the path of a step curve: horizontal to the time of the next point, then vertical."""
    parts: list[str] = []
    for time, value in points:
        across, up = f"{_x(time, end):g}", f"{_y(value, top):g}"
        parts.append(f"H{across}V{up}" if parts else f"M{across} {up}")
    return "".join(parts)


def _x(time: Micros, end: Micros) -> float:
    return round(LEFT + (RIGHT - LEFT) * time / (end or 1), 1)


def _y(value: float, top: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * value / top, 1)
