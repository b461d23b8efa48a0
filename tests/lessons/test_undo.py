"""Undo puts a sandbox back to before the last edit: objects, queue, time, trace and the number of edits."""

import pytest

from schedviz.api import removal, schedulers, write
from schedviz.lessons.conditions import condition
from schedviz.lessons.learners import new_learner
from schedviz.lessons.lesson import Action, Lesson, Run
from schedviz.lessons.play import play_actions
from schedviz.lessons.read_lesson import read_lesson
from schedviz.lessons.situation import Situation
from schedviz.lessons.start import start_own_lesson
from schedviz.lessons.undo import undo
from schedviz.store import LimitReached, Meta, Sandbox, Store
from schedviz.store import store as store_module
from tests.processes import Process
from tests.waiting import eventually

from .folders import PENDING


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return read_lesson(PENDING)


def state(sandbox: Sandbox) -> tuple[object, ...]:
    """What a page shows, without the numbers that only grow."""
    objects = {
        (resource, key): {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": ""}}
        for resource, found in sandbox.list_all()[0].items()
        for key, manifest in found.items()
    }
    situation = Situation(sandbox, {})
    # A new leader says how its queue begins.
    done = [event for event in situation.trace if event["type"] not in ("LeaderElected", "QueueMoved")]
    queue = {pod: (each.lane, each.attempts, each.since) for pod, each in sandbox.queue_places().items()}
    return objects, done, queue, situation.evicted, situation.edits, sandbox.clock().sim


def run(seconds: float) -> Action:
    return Action(run=Run(seconds=seconds))


def test_the_last_edit_is_undone(store: Store, worker: Process, lesson: Lesson) -> None:
    sandbox = start_own_lesson(store, lesson, new_learner())
    assert undo(store, sandbox) is None
    play_actions(sandbox, [run(1)])
    beginning = state(sandbox)
    play_actions(sandbox, lesson.steps[2].solution)  # creates web, which stays Pending
    before = state(sandbox)
    play_actions(sandbox, lesson.steps[3].solution)  # creates urgent, which preempts batch
    assert Situation(sandbox, {}).evicted
    undone = undo(store, sandbox)
    assert undone is not None
    assert undone.clock().paused
    assert undone.meta() == sandbox.meta()
    eventually(lambda: state(undone) == before, "the queue of the new leader")
    # The sandbox continues as it did the first time.
    play_actions(undone, lesson.steps[3].solution)
    situation = Situation(undone, {})
    assert situation.bound == {"urgent": "node-1"}
    assert [victim["pod"] for victim in situation.evicted] == ["batch"]
    assert situation.edits == 2
    assert situation.holds(condition("!evicted.exists(e, e.breaks_budget)"))
    again = undo(store, undone)
    assert again is not None
    eventually(lambda: state(again) == before, "the queue of the new leader")
    # The edit before that one, which the new sandbox did not see.
    first = undo(store, again)
    assert first is not None
    eventually(lambda: state(first) == beginning, "the queue of the new leader")
    assert undo(store, first) is None
    store.delete(sandbox.name)


def test_an_edit_during_a_pause_is_undone_alone(store: Store, worker: Process, lesson: Lesson) -> None:
    sandbox = start_own_lesson(store, lesson, new_learner())
    play_actions(sandbox, [run(2)])
    for name in ("a", "b"):
        spec = {"containers": [{"name": "c", "image": "x"}]}
        write.create(sandbox, [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}])
    undone = undo(store, sandbox)
    assert undone is not None
    assert sorted(undone.names("pods")) == ["default/a", "default/batch"]
    assert undone.edits() == 1
    # An edit after an undo is the last one; then those before the undo follow.
    removal.delete(undone, "pods", "default/a")
    for names in (["a", "batch"], ["batch"]):
        back = undo(store, undone)
        assert back is not None
        assert sorted(back.names("pods")) == [f"default/{name}" for name in names]
        assert back.edits() == len(names) - 1
    assert undo(store, undone) is None
    store.delete(sandbox.name)


def test_another_configuration_is_undone(store: Store, worker: Process, lesson: Lesson) -> None:
    sandbox = start_own_lesson(store, lesson, new_learner())
    play_actions(sandbox, lesson.steps[2].solution)
    before = sandbox.meta()
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "other"}],
    }
    schedulers.configure(sandbox, configuration, ["profiles"])
    assert sandbox.meta() != before
    undone = undo(store, sandbox)
    assert undone is not None
    assert undone.meta() == before
    assert sorted(undone.names("pods")) == ["default/batch", "default/web"]
    assert undone.edits() == 1
    store.delete(sandbox.name)


def test_no_sandbox_can_be_created_under_the_name_of_one_that_is_replaced(
    store: Store, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = start_own_lesson(store, lesson, new_learner())
    spec = {"containers": [{"name": "c", "image": "x"}]}
    write.create(sandbox, [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}])
    monkeypatch.setattr(store_module, "MAX_SANDBOXES", len(store.names()))
    scripts = store.servers.of(sandbox.name).scripts
    delete = scripts.delete
    refused: list[object] = []

    def then_another_is_created(*args: object, **kwargs: object) -> object:
        reply = delete(*args, **kwargs)  # type: ignore[arg-type] # passed on as they come
        create = store.create

        def create_after_another(*args: object, **kwargs: object) -> Sandbox:
            with pytest.raises(LimitReached) as error:
                create(Meta(f"{sandbox.name}-other"))
            refused.append(error.value)
            return create(*args, **kwargs)  # type: ignore[arg-type] # as well

        monkeypatch.setattr(store, "create", create_after_another)
        return reply

    monkeypatch.setattr(scripts, "delete", then_another_is_created)
    undone = undo(store, sandbox)
    monkeypatch.undo()
    assert undone is not None
    assert refused
    assert sorted(undone.names("pods")) == ["default/batch"]
    store.delete(sandbox.name)
