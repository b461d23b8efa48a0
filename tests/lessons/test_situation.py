"""The variables of conditions, which are the same for a sandbox in the store with a real worker and
offline."""

from pathlib import Path

import pytest

from schedviz.api import removal, write
from schedviz.cache import default_caches
from schedviz.lessons import catalogue, evaluate
from schedviz.lessons.conditions import Condition, ConditionError, condition
from schedviz.lessons.learners import new_learner
from schedviz.lessons.lesson import Lesson
from schedviz.lessons.offline import OfflineSandbox
from schedviz.lessons.play import play_actions
from schedviz.lessons.progress import Progress
from schedviz.lessons.read_lesson import read_lesson
from schedviz.lessons.situation import Situation, situation_of
from schedviz.lessons.start import is_own_sandbox, own_sandbox, start_own_lesson
from schedviz.store import Store
from tests.processes import Process

from .folders import PENDING, copy_lesson


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return read_lesson(PENDING)


@pytest.fixture
def played(lesson: Lesson) -> OfflineSandbox:
    sandbox = OfflineSandbox(lesson)
    for step in lesson.steps:
        for action in step.solution:
            sandbox.play(action)
    return sandbox


@pytest.mark.parametrize(
    "text",
    [
        "bound == {'urgent': 'node-1'}",
        "waiting == {'web': 'activeQ'}",
        "nominated == {}",
        "evicted.size() == 1 && evicted[0].pod == 'batch' && evicted[0].preemptor == 'urgent'",
        "evicted[0].node == 'node-1' && !evicted[0].breaks_budget && evicted[0].seconds > 0.0",
        "attempts['urgent'] == 2",
        "edits == 2",
        "seconds > 5.0 && seconds < 120.0",
        "guesses['predict'] == ['pending']",
        "nodes['node-1'].status.capacity.cpu == '4'",
        "priorityclasses['high'].value == 1000",
        "'system-node-critical' in priorityclasses",
        "deployments == {} && jobs == {} && poddisruptionbudgets == {}",
        "trace.exists(t, t.type == 'Nominated' && t.pod == 'urgent' && t.victims == ['batch'])",
        "trace.exists(t, t.type == 'Bound' && t.pod == 'urgent' && t.seconds > 5.0)",
        "trace.exists(t, t.type == 'QueueMoved' && has(t.backoff_until) && t.seconds >= 0.0)",
        "pods['urgent'].metadata.namespace == 'default'",
    ],
)
def test_the_variables(lesson: Lesson, played: OfflineSandbox, text: str) -> None:
    progress = evaluate.guess(
        lesson, evaluate.go_to_step(lesson, evaluate.begin(lesson, "x", 1, 0), 1, 0), ["pending"], 0
    )
    assert situation_of(played, progress).holds(condition(text)), text


def test_a_condition_that_fails_with_an_error_does_not_hold(played: OfflineSandbox) -> None:
    situation = Situation(played, {})
    for text in ("bound['nobody'] == 'x'", "pods['web'].spec.nothing == 1", "pods['web']", "nodes['x'].a"):
        assert not situation.holds(condition(text))
    many = "trace.all(a, trace.all(b, trace.all(c, true)))"
    assert not situation.holds(condition(many))  # too many iterations


def test_a_condition_is_bounded() -> None:
    with pytest.raises(ConditionError, match="1,000 characters"):
        Condition("true" + " && true" * 200)


def test_a_real_sandbox_gives_the_same(store: Store, worker: Process, lesson: Lesson) -> None:
    """The solutions, played with a worker and offline, give the same situation, and complete the lesson."""
    learner = new_learner()
    sandbox = start_own_lesson(store, lesson, learner)
    assert sandbox.clock().paused
    assert sandbox.name == own_sandbox(lesson, learner)
    assert is_own_sandbox(sandbox.meta())
    offline = OfflineSandbox(lesson)
    progress = evaluate.begin(lesson, sandbox.name, sandbox.meta().created, 0)
    for number, step in enumerate(lesson.steps):
        progress = evaluate.go_to_step(lesson, progress, number, 0)
        play_actions(sandbox, step.solution)
        for action in step.solution:
            offline.play(action)
        current = default_caches().read(sandbox.name)
        progress = evaluate.evaluate(lesson, progress, situation_of(current, progress), 0)
        if step.question:
            progress = evaluate.guess(lesson, progress, step.question.right, 0)
        assert evaluate.is_step_complete(lesson, progress), (step.id, progress)
    assert progress.finished == 0.0 or evaluate.is_complete(lesson, progress)
    for source in (default_caches().read(sandbox.name), sandbox):
        live, expected = Situation(source, {}), Situation(offline, {})
        for name in ("bound", "waiting", "nominated", "attempts", "edits"):
            assert getattr(live, name) == getattr(expected, name), name
        assert [victim["pod"] for victim in live.evicted] == ["batch"]
        kinds = [event["type"] for event in live.trace if event["type"] != "LeaderElected"]
        assert kinds[:20] == [event["type"] for event in expected.trace][:20]
    assert sandbox.clock().paused
    store.delete(sandbox.name)


def test_only_writes_of_others_than_the_leader_are_edits(
    store: Store, worker: Process, lesson: Lesson
) -> None:
    sandbox = start_own_lesson(store, lesson, new_learner())
    assert sandbox.edits() == 0
    play_actions(sandbox, lesson.steps[2].solution)
    assert sandbox.edits() == 1
    assert default_caches().read(sandbox.name).edits() == 1
    write.patch(sandbox, "pods", "default/web", {"metadata": {"labels": {"a": "b"}}})
    removal.delete(sandbox, "pods", "default/web")
    assert default_caches().read(sandbox.name).edits() == 3
    store.delete(sandbox.name)


def test_the_lesson_of_a_sandbox(store: Store, lesson: Lesson, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = start_own_lesson(store, lesson, new_learner())
    monkeypatch.setattr(catalogue, "lessons", lambda: {"pending": lesson})
    assert catalogue.lesson_in(sandbox.meta()) == lesson
    assert isinstance(evaluate.begin(lesson, sandbox.name, sandbox.meta().created, 0), Progress)
    store.delete(sandbox.name)


def test_a_victim_that_violates_a_budget_is_recognised(tmp_path: Path) -> None:
    """The Decision of the preemptor's cycle says so."""
    budget = """
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: batch}
spec: {minAvailable: 1, selector: {matchLabels: {app: batch}}}
---
apiVersion: v1
kind: Pod
metadata: {name: batch, labels: {app: batch}}
"""
    pod = "\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: batch}\n"
    sandbox = OfflineSandbox(read_lesson(copy_lesson(tmp_path, ("cluster.yaml", pod, budget))))
    for action in read_lesson(PENDING).steps[3].solution:
        sandbox.play(action)
    situation = Situation(sandbox, {})
    assert situation.holds(condition("evicted[0].breaks_budget && evicted[0].pod == 'batch'"))
    assert situation.holds(condition("poddisruptionbudgets['batch'].spec.minAvailable == 1"))


def test_a_group_that_is_retried_without_end_does_not_go_on() -> None:
    lesson = catalogue.lessons()["pod-groups"]
    sandbox = OfflineSandbox(lesson)
    step = next(each for each in lesson.steps if each.id == "try")
    for action in step.solution:
        sandbox.play(action)
    assert Situation(sandbox, {}).waiting["train-1"] == "backoffQ"
    assert Situation(sandbox, {}).settled
