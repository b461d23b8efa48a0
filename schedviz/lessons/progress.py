"""The progress of a learner in a lesson."""

from typing import Final

import msgspec

from schedviz.lessons.lesson import Par, Step, StepCheck

STUCK_SECONDS: Final = 120.0
"""Seconds without progress after which a learner is stuck."""
STUCK_FAILURES: Final = 3
"""Hints and wrong guesses at one step after which a learner is stuck."""


class Guess(msgspec.Struct, frozen=True):
    """The first guess at the question of a step: it counts, and is not changed any more."""

    picks: list[str]
    right: bool
    collected: bool = False
    """Whether it was submitted while the teacher of a room collected the answers."""


class Reached(msgspec.Struct, frozen=True, kw_only=True):
    """The sandbox when a step was reached, and when the learner last changed it."""

    changes: int
    """Number of changes (:attr:`~schedviz.lessons.situation.Situation.changes`) before the step. Undo takes
    back none of them."""
    others: list[str]
    """The objects that the learner had created, and that no step asks for, as ``VARIABLE/NAME``."""
    changed: int
    """Number of changes now."""
    seconds: float
    """Simulated seconds at which it was seen that this number had changed."""


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
    reached: Reached | None = None
    """The sandbox when the step was reached; None = the step was not evaluated yet."""
    hint: str = ""
    """The hint (``STEP/CHECK/HINT``) that the page shows; "" = none. HINT is the id of a hint of the lesson,
    or a written :class:`~schedviz.lessons.general_hints.GeneralHint`."""
    withheld: str = ""
    """A hint that holds, in the same form, and is not shown as ``hint``: the learner has done nothing yet,
    or does what the step asks for. Only learners who are stuck see it."""
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
        """Return the hint to show: to a learner who is stuck also one that is withheld."""
        return self.hint or (self.withheld if self.is_stuck(now) else "")

    def has_passed(self, step: Step, check: StepCheck) -> bool:
        return check_name(step, check) in self.passed


def check_name(step: Step, check: StepCheck) -> str:
    """Return the name of a check: ``STEP/CHECK``."""
    return f"{step.id}/{check.id}"
