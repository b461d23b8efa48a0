"""Restarts a step of a lesson, and carries out its solution."""

from contextlib import suppress

from msgspec.structs import replace

from schedviz.cache import default_caches
from schedviz.lessons.evaluate import evaluate, restart_from_step, show_solution
from schedviz.lessons.learners import Learners
from schedviz.lessons.lesson import Lesson
from schedviz.lessons.offline import NotReached
from schedviz.lessons.play import play_actions
from schedviz.lessons.progress import Progress
from schedviz.lessons.situation import situation_of
from schedviz.lessons.state import create_with_state, state_at_step
from schedviz.store import Sandbox, Store
from simulator.apiserver.status import StatusError


def restart_step(store: Store, learner: str, lesson: Lesson, progress: Progress) -> Sandbox:
    """Create the learner's sandbox again, with the state after the solutions of the steps before the present
    one, and paused. The guesses stay. Raises NoProgress, StatusError, NotReached."""
    sandbox, created = store.sandbox(progress.sandbox), store.wall()
    state = state_at_step(lesson, progress.step, created, sandbox.meta().seed)
    speed = sandbox.clock()

    def change(before: Progress) -> Progress:
        moved = replace(before, created=created)
        return restart_from_step(lesson, moved, before.step, created, keep_guesses=True)

    # A page that is loaded when the sandbox exists finds the progress in it.
    Learners(store.redis).update(learner, lesson, change)
    return create_with_state(store, sandbox.name, state, speed)


def carry_out(store: Store, learner: str, lesson: Lesson, progress: Progress, *, may_restart: bool) -> bool:
    """Play the solution of the learner's step. If it does not lead to the goal, because the sandbox is not as
    the solution needs it, restart the step and play it again. may_restart: whether this is allowed. Returns
    whether the step was restarted. Raises NoProgress, StatusError, NotReached."""
    step = lesson.steps[progress.step]
    sandbox = store.sandbox(progress.sandbox)
    with suppress(*((StatusError, NotReached) if may_restart else ())):
        play_actions(sandbox, step.solution)
        if not may_restart or _reaches_goal(lesson, progress):
            Learners(store.redis).update(learner, lesson, lambda each: show_solution(lesson, each))
            return False
    play_actions(restart_step(store, learner, lesson, progress), step.solution)
    Learners(store.redis).update(learner, lesson, lambda each: show_solution(lesson, each))
    return True


def _reaches_goal(lesson: Lesson, progress: Progress) -> bool:
    """Whether the checks of the step hold in the sandbox, or held before. A question is not asked about."""
    present = default_caches().read(progress.sandbox)
    after = evaluate(lesson, progress, situation_of(present, progress), 0)
    step = lesson.steps[progress.step]
    return all(after.has_passed(step, check) for check in step.checks)
