"""The interface to which a scheduler reports how long its work took, and the times of one cycle. The
simulator reads no clock: the observer brings one, in seconds of any kind."""

from collections.abc import Callable, Iterator
from typing import Literal, Protocol

AttemptResult = Literal["scheduled", "unschedulable", "error"]


class Observer(Protocol):
    def now(self) -> float:
        """Return the time of the observer's clock."""

    def cycle_began(self, cycle: int) -> None:
        """Observe that a scheduling cycle begins."""

    def point_ran(self, profile: str, point: str, status: str, seconds: float) -> None:
        """Observe that all plugins of an extension point were run for one pod. ``status``: the code of the
        result."""

    def cycle_ended(self, profile: str, result: AttemptResult, seconds: float) -> None:
        """Observe that a scheduling cycle ended. ``seconds``: of its own work, without the times at which it
        stood at a point."""


class NoObserver:
    """An observer that drops everything."""

    def now(self) -> float:
        return 0.0

    def cycle_began(self, cycle: int) -> None:
        pass

    def point_ran(self, profile: str, point: str, status: str, seconds: float) -> None:
        pass

    def cycle_ended(self, profile: str, result: AttemptResult, seconds: float) -> None:
        pass


class CycleTimes:
    def __init__(self, observer: Observer, profile: str, cycle: int) -> None:
        self._observer = observer
        self._profile = profile
        self._seconds = 0.0
        """Seconds of work so far."""
        self._since = observer.now()
        observer.cycle_began(cycle)

    def points(self, run: Iterator[str], status: Callable[[str], str]) -> Iterator[str]:
        """Yields the points of ``run`` (:meth:`Attempt.run`), and measures each until the next one. The time
        at which the cycle stands at a point does not count. ``status``: the status of a point that was
        run."""
        point = ""
        for following in run:
            self._note(point, status)
            point = following
            try:
                yield following
            finally:
                self._since = self._observer.now()
        self._note(point, status)

    def ended(self, result: AttemptResult) -> None:
        seconds = self._seconds + self._observer.now() - self._since
        self._observer.cycle_ended(self._profile, result, seconds)

    def _note(self, point: str, status: Callable[[str], str]) -> None:
        now = self._observer.now()
        seconds, self._since = now - self._since, now
        self._seconds += seconds
        if point:
            self._observer.point_ran(self._profile, point, status(point), seconds)
