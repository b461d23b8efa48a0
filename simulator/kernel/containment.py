"""Containment: what an actor does about one object may raise; all other actors and objects go on.

What an actor does once is a :class:`Run`. A run that raises is reported once (in the trace, as an Event of
the object, in the log) and done again with client-go's back-off."""

import re
from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

from simulator.kernel.clock import SECOND, Micros

FIRST_DELAY: Final[Micros] = SECOND // 200
LONGEST_DELAY: Final[Micros] = 1000 * SECOND
"""The longest delay of a failed run. Like client-go's DefaultControllerRateLimiter: a failed run is done
again after 5 ms; the delay doubles with each failure, up to a quarter of an hour."""
MAX_FAILING: Final = 10_000
"""Maximum number of actors whose failures are counted. When there are more, the oldest count is dropped, and
the next failure of that actor is reported as its first."""
MAX_MESSAGE: Final = 1000
"""Maximum number of characters of a failure's message that are kept: it may quote the object."""
MAX_CAUSES: Final = 1_000
"""The maximum number of causes of a run that are looked at."""

T = TypeVar("T")


class Actor(NamedTuple):
    """A component, and the object for which it acts."""

    component: str
    resource: str
    key: str

    def __str__(self) -> str:
        return f"{self.component} {self.key}".rstrip()


class Run(NamedTuple):
    """One run of an actor. ``cause`` is the run at the same moment that led to it, directly or by what it
    wrote; None if there was none (a user wrote, or the time had come)."""

    actor: Actor
    cause: "Run | None" = None

    def by_itself(self) -> int:
        """Return how many runs of the same actor are among its causes."""
        found, cause = 0, self.cause
        for _ in range(MAX_CAUSES):
            if cause is None:
                break
            found += cause.actor == self.actor
            cause = cause.cause
        return found


class Refusal(Exception):
    """The API server refused something, as it may. The text says why, so that no traceback is logged."""


class Containment:
    """Runs actors, so that a failure in one of them does not end the simulation. ``report`` is called with
    the actor and the exception of a failed run."""

    def __init__(self, clock: Callable[[], Micros], report: Callable[[Actor, Exception], None]) -> None:
        self._clock = clock
        self._report = report
        self._failures: dict[Actor, int] = {}
        """Actor that will try again -> the number of its runs in a row that failed."""

    def run(self, actor: Actor, action: Callable[[], T]) -> T | None:
        """Return the action's result, or None if it raised. Each failure is reported."""
        try:
            return action()
        except Exception as fault:
            self._report(actor, fault)
            return None

    def retry(self, actor: Actor, action: Callable[[], object], again: Callable[[Micros], object]) -> None:
        """Run an action that can be done again: see :meth:`failed`."""
        try:
            action()
        except Exception as fault:
            self.failed(actor, fault, again)
        else:
            self.succeeded(actor)

    def failed(self, actor: Actor, fault: Exception, again: Callable[[Micros], object]) -> None:
        """Note that a run raised: ``again`` is called with the time at which it is to be done again. Only the
        first of several failures in a row is reported."""
        failures = self._failures.pop(actor, 0)
        if len(self._failures) >= MAX_FAILING:
            del self._failures[next(iter(self._failures))]
        self._failures[actor] = failures + 1
        if failures == 0:
            self._report(actor, fault)
        again(self._clock() + backoff(failures, FIRST_DELAY, LONGEST_DELAY))

    def succeeded(self, actor: Actor) -> None:
        self._failures.pop(actor, None)

    @property
    def any_failing(self) -> bool:
        """Whether any actor will try again."""
        return bool(self._failures)


def backoff(failures: int, first: Micros, longest: Micros) -> Micros:
    """Return the delay after one more failure than ``failures``: ``first``, doubled for each of these."""
    return min(first << min(failures, 40), longest)


def message_of(fault: Exception) -> str:
    """Return the text of a failure, without the addresses of objects in memory, which differ from run to
    run."""
    text = str(fault) if isinstance(fault, Refusal) else f"{type(fault).__name__}: {fault}"
    return re.sub(r" at 0x[0-9a-f]+", "", text)[:MAX_MESSAGE]
