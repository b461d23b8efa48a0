"""The solution of a step reaches its goal whatever the learner has done before."""

import pytest

from schedviz.api import removal, write
from schedviz.cache import default_caches
from schedviz.lessons import evaluate
from schedviz.lessons.catalogue import lessons
from schedviz.lessons.learners import Learners, new_learner
from schedviz.lessons.offline import NotReached
from schedviz.lessons.progress import Progress
from schedviz.lessons.restart import carry_out
from schedviz.lessons.situation import situation_of
from schedviz.lessons.start import start_own_lesson
from schedviz.store import Store
from tests.processes import Process

LESSON = "taints"
TOLERATE = 2


def begin(store: Store, learner: str) -> Progress:
    """Begin the lesson, at the step TOLERATE."""
    lesson = lessons()[LESSON]
    meta = start_own_lesson(store, lesson, learner).meta()
    progress = evaluate.begin(lesson, meta.name, meta.created, store.wall())
    progress = evaluate.go_to_step(lesson, progress, TOLERATE, store.wall())
    Learners(store.redis).begin(learner, progress)
    return progress


def is_complete(store: Store, learner: str) -> bool:
    lesson = lessons()[LESSON]
    progress = Learners(store.redis).progress(learner, LESSON)
    assert progress is not None
    assert lesson.steps[TOLERATE].id in progress.solved
    present = default_caches().read(progress.sandbox)
    assert present.meta().created == progress.created
    return evaluate.is_step_complete(
        lesson, evaluate.evaluate(lesson, progress, situation_of(present, progress), 0)
    )


def test_a_solution_that_reaches_the_goal_leaves_the_sandbox(store: Store, worker: Process) -> None:
    learner = new_learner()
    progress = begin(store, learner)
    sandbox = store.sandbox(progress.sandbox)
    spec = {"containers": [{"name": "c", "image": "x"}]}
    write.create(sandbox, [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other"}, "spec": spec}])
    assert not carry_out(store, learner, lessons()[LESSON], progress, may_restart=True)
    assert sandbox.get("pods", "default/other")
    assert is_complete(store, learner)
    store.delete(sandbox.name)


def test_the_step_is_restarted_where_the_solution_does_not_reach_the_goal(
    store: Store, worker: Process
) -> None:
    learner = new_learner()
    progress = begin(store, learner)
    sandbox = store.sandbox(progress.sandbox)
    removal.delete(sandbox, "nodes", "node-1")
    removal.delete(sandbox, "nodes", "node-2")
    assert carry_out(store, learner, lessons()[LESSON], progress, may_restart=True)
    assert sandbox.get("nodes", "node-1")
    assert is_complete(store, learner)
    removal.delete(sandbox, "nodes", "node-1")
    removal.delete(sandbox, "nodes", "node-2")
    with pytest.raises(NotReached):
        carry_out(store, learner, lessons()[LESSON], progress, may_restart=False)
    store.delete(sandbox.name)
