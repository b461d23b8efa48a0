"""The progress of a learner in a lesson."""

from typing import Final

import msgspec

from schedviz.lessons.lesson import Check, Par, Step

STUCK_SECONDS: Final = 120.0
"""Seconds without progress after which a learner is stuck."""
STUCK_FAILURES: Final = 3
"""Hints and wrong guesses at one step after which a learner is stuck."""


class Guess(msgspec.Struct, frozen=True):
    """The first guess at the question of a step: it counts, and is not changed any more."""

    picks: list[str]
    right: bool


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """A learner's progress in one lesson. Times are seconds of the wall (Redis's clock)."""

    lesson: str
    sandbox: str
    """The name of the learner's sandbox of the lesson."""
    created: float
    """The value of ``Meta.created`` of the sandbox: a later one may have the same name."""
    step: int = 0
    """The step that the page shows, counted from 0."""
    passed: frozenset[str] = frozenset()
    """The checks (``STEP/CHECK``) that held at least once while their step was shown."""
    guesses: dict[str, Guess] = {}
    """Id of the step -> guess."""
    hint: str = ""
    """The hint (``STEP/CHECK/HINT``) that the page shows; "" = none."""
    first_hint: str | None = None
    """The hint that held when the step was reached, in the same form: it is not shown as ``hint``, because
    the learner has done nothing yet. "" = there was none, or the learner has done something; None = the step
    was not evaluated yet."""
    failures: int = 0
    """Hints shown and wrong guesses at the present step."""
    solved: frozenset[str] = frozenset()
    """Steps whose solution was shown."""
    started: float
    since: float
    """Time at which the step was reached."""
    progressed: float
    """Time at which a step was last reached, a check last passed or a guess last made."""
    finished: float = 0.0
    """Time at which the lesson was finished; 0 = not yet."""
    best: Par | None = None
    """The best result with which the learner has finished a level; None = there is none yet."""

    def is_stuck(self, now: float) -> bool:
        if self.finished:
            return False
        return self.failures >= STUCK_FAILURES or now - self.progressed >= STUCK_SECONDS

    def shown_hint(self, now: float) -> str:
        """Return the hint to show: to a learner who is stuck also the first one."""
        return self.hint or (self.first_hint or "" if self.is_stuck(now) else "")

    def has_passed(self, step: Step, check: Check) -> bool:
        return check_name(step, check) in self.passed


def check_name(step: Step, check: Check) -> str:
    """Return the name of a check: ``STEP/CHECK``."""
    return f"{step.id}/{check.id}"
