"""The interface to which a scheduler reports how long its work took. The simulator reads no clock: the
observer brings one, in seconds of any kind."""

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
