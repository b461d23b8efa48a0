"""Time series of a metric in bounded memory."""

from typing import Final

from simulator.api import Micros
from simulator.compare.answer import Curve, Unit

MAX_POINTS: Final = 300
"""Maximum number of points: as many as a plot of a few hundred pixels can show."""


class TimeSeries:
    """A step function. Of the points at which the value changes, the last one in each interval is kept. When
    there are too many points, the interval is doubled. Mean and peak are computed from all values."""

    def __init__(self, name: str, unit: Unit) -> None:
        self._name = name
        self._unit: Unit = unit
        self._points: list[tuple[Micros, float]] = []
        self._interval: Micros = 1
        self._sum = 0.0
        self._since: Micros = 0
        self._time: Micros = 0
        self._value = 0.0
        self._peak = 0.0

    def add(self, time: Micros, value: float) -> None:
        """Add a value. ``time`` is since the start, and must not decrease."""
        if self._points:
            self._sum += self._value * (time - self._time)
        else:
            self._since = time
        self._time = time
        self._peak = max(self._peak, value)
        if self._points and value == self._value:
            return
        self._value = value
        # The first point and the one at the end are kept in addition.
        while not self._keep(time, value):
            self._interval *= 2
            kept, self._points = self._points, self._points[:1]
            for point in kept[1:]:
                self._keep(*point)

    def _keep(self, time: Micros, value: float) -> bool:
        """Add or replace a point. Returns False if there are too many points."""
        if len(self._points) > 1 and self._points[-1][0] // self._interval == time // self._interval:
            self._points[-1] = (time, value)
            return True
        if len(self._points) >= MAX_POINTS - 1:
            return False
        self._points.append((time, value))
        return True

    def curve(self, end: Micros) -> Curve:
        """Return the curve up to ``end``, until which the last value is valid."""
        end = max(end, self._time)
        span = end - self._since
        total = self._sum + self._value * (end - self._time)
        points = [(time, round(value, 2)) for time, value in self._points]
        if points and points[-1][0] < end:
            points.append((end, points[-1][1]))
        return Curve(
            name=self._name,
            unit=self._unit,
            points=points,
            mean=round(total / span, 2) if span else round(self._value, 2),
            peak=round(self._peak, 2),
            last=round(self._value, 2),
        )
