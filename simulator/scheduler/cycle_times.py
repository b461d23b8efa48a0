"""The durations of the parts of one scheduling cycle, by the clock of an observer."""

from collections.abc import Callable, Iterator

from simulator.framework.observer import AttemptResult, Observer


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
