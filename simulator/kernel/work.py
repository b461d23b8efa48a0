"""The bound of the work that one request, or one search of the scheduler, may do in all.

Work is counted, not timed: the same input is refused on every machine, and a replay is the same. What can
take long for a small input spends work: evaluations of CEL with the conversion of their values, patterns, and
the search of the devices for a claim."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

REQUEST_WORK: Final = 2_000_000
"""The work of a request: some 2 s of CPU. A unit takes about a microsecond: 0.3 to 3 for 30 kinds of
expressions."""


class OutOfWork(Exception):
    """The work that was allowed is done."""

    def __init__(self) -> None:
        super().__init__("the request ran out of its budget of work")


class Abandoned(Exception):
    """Nobody waits for the result any more."""


class Waiting:
    """Whether somebody waits for the result of the work. Another thread may end it."""

    __slots__ = ("has_ended",)

    def __init__(self) -> None:
        self.has_ended = False

    def check(self) -> None:
        """Raises Abandoned."""
        if self.has_ended:
            raise Abandoned


class Work:
    """What remains of the work that is allowed."""

    __slots__ = ("left", "waiting")

    def __init__(self, units: int, waiting: Waiting | None = None) -> None:
        self.left = units
        self.waiting = waiting or Waiting()

    def spend(self, units: int) -> None:
        """Raises OutOfWork, from then on at each call, and Abandoned."""
        self.waiting.check()
        self.left -= units
        if self.left < 0:
            raise OutOfWork


_current: ContextVar[Work | None] = ContextVar("work", default=None)


@contextmanager
def limit_work(units: int = REQUEST_WORK, waiting: Waiting | None = None) -> Iterator[Work]:
    """Allow so much work to all that is done within. Within another limit, that one holds, too."""
    outer = _current.get()
    work = Work(units, waiting) if outer is None else Work(min(units, outer.left), outer.waiting)
    token = _current.set(work)
    before = work.left
    try:
        yield work
    finally:
        _current.reset(token)
        if outer is not None:
            outer.left -= before - work.left


@contextmanager
def measure_work(units: int) -> Iterator[Work]:
    """Allow so much work to what is done within, whatever other limit there is, and count it nowhere else:
    for what is kept for others, so that it is the same for all."""
    token = _current.set(work := Work(units))
    try:
        yield work
    finally:
        _current.reset(token)


def spend_work(units: int) -> None:
    """Count work that is done now. Raises OutOfWork, Abandoned. Without a limit, nothing is counted."""
    work = _current.get()
    if work is not None:
        work.spend(units)


def check_waiting() -> None:
    """Raises Abandoned. For work that takes long and is not counted."""
    work = _current.get()
    if work is not None:
        work.waiting.check()
