"""The values that a process yields, and those that it gets back."""

from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeVar

from simulator.kernel.clock import Micros


class Point(NamedTuple):
    """Stop before this extension point, so that a user can step from point to point."""

    name: str
    cycle: int
    pod: str
    """The key of the pod: ``namespace/name``."""
    so_far: Callable[[], Any] | None = None
    """Makes the record of what the cycle has found until now; None once the whole record has been made."""


class Due(NamedTuple):
    """The result of ``yield Wait(until=time)`` when the time has come. The process may run later than
    ``time``, where a change from outside was seen first; it compares with the clock if that matters."""

    time: Micros


class Signal:
    """Wakes the process that waits for it, once, with a value."""

    def __init__(self) -> None:
        self.fired = False
        self.value: Any = None
        self.wake: Callable[[Any], object] | None = None
        """The function that is called with the value when the signal is fired; it is set while a process
        waits."""

    def fire(self, value: object = None) -> None:
        """Wake the process that waits, or the next one that will. Only the first call has an effect."""
        if self.fired:
            return
        self.fired, self.value = True, value
        if self.wake is not None:
            self.wake(value)


class Wait(NamedTuple):
    """Go on at ``until`` with a :class:`Due`, or with a signal's value as soon as it is fired. The process
    goes on in an entry of its own, after what is due before it at that moment."""

    until: Micros | None = None
    signal: Signal | None = None


class Write(NamedTuple):
    """Write ``change``, in the terms of the environment, and go on with the outcome."""

    change: Any


class Written(NamedTuple):
    """The write succeeded, or there was nothing to change."""


class Refused(NamedTuple):
    """The write was refused, or given up. ``reason`` is the API's Status reason, "" if it has none."""

    reason: str
    message: str


Outcome = Written | Refused
Request = Point | Wait | Write

R = TypeVar("R")
Steps = Generator[Request, Any, R]
"""The generator of a process, or a part of one (``yield from``) that returns R."""
