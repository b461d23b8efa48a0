"""A learner's progress while the sandbox changes."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from schedviz.lessons import evaluate
from schedviz.lessons.catalogue import lessons
from schedviz.lessons.lesson import Action, Lesson, Run
from schedviz.lessons.offline import OfflineSandbox
from schedviz.lessons.progress import STUCK_FAILURES, STUCK_SECONDS, Progress
from schedviz.lessons.read_lesson import read_lesson
from schedviz.lessons.result import Result, result_of
from schedviz.lessons.situation import situation_of
from tests.amounts import examples

from .folders import PENDING

LOOK, PREDICT, CREATE, PREEMPT = range(4)


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return read_lesson(PENDING)


class Learner:
    """A learner with a sandbox on the simulator. Each check takes a second."""

    def __init__(self, lesson: Lesson, step: int = 0) -> None:
        self.lesson = lesson
        self.now = 0.0
        self.sandbox = OfflineSandbox(lesson)
        self.progress = evaluate.begin(lesson, "lesson-pending", 1.0, 0.0)
        self.progress = evaluate.go_to_step(lesson, self.progress, step, 0.0)
        self.look()

    def look(self) -> Progress:
        self.now += 1
        situation = situation_of(self.sandbox, self.progress)
        self.progress = evaluate.evaluate(self.lesson, self.progress, situation, self.now)
        return self.progress

    def play(self, *actions: Action) -> Progress:
        for action in actions:
            self.sandbox.play(action)
            self.look()
        return self.progress


def pod(name: str, cpu: str | None = None, priority: str = "") -> Action:
    resources = {"resources": {"requests": {"cpu": cpu}}} if cpu else {}
    spec: dict[str, object] = {"containers": [{"name": "c", "image": "x", **resources}]}
    if priority:
        spec["priorityClassName"] = priority
    return Action(create={"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})


def run(seconds: float) -> Action:
    return Action(run=Run(seconds=seconds))


def test_a_step_without_question_and_checks_is_complete_at_once(lesson: Lesson) -> None:
    learner = Learner(lesson)
    assert evaluate.is_step_complete(lesson, learner.progress)


def test_the_first_guess_counts(lesson: Lesson) -> None:
    before = Learner(lesson, PREDICT).progress
    assert not evaluate.is_step_complete(lesson, before)
    wrong = evaluate.guess(lesson, before, ["fits"], 9.0)
    assert not wrong.guesses["predict"].right
    assert wrong.failures == 1
    assert evaluate.find_misconceptions(lesson, before, wrong) == ["usage"]
    assert evaluate.guess(lesson, wrong, ["pending"], 10.0) == wrong
    assert evaluate.is_step_complete(lesson, wrong)
    assert evaluate.guess(lesson, before, ["pending"], 9.0).guesses["predict"].right
    for picks in ([], ["nowhere"], ["fits", "pending"]):
        with pytest.raises(ValueError, match="choose one of the choices"):
            evaluate.guess(lesson, before, picks, 9.0)


def test_before_the_learner_has_done_something_a_hint_is_shown_only_to_a_stuck_learner(
    lesson: Lesson,
) -> None:
    learner = Learner(lesson, CREATE)
    assert learner.progress.hint == ""
    assert learner.progress.withheld == "create/tried/absent"
    assert learner.progress.failures == 0
    before = learner.progress
    assert learner.look() == before
    assert learner.progress.shown_hint(1.0) == ""
    assert learner.progress.shown_hint(STUCK_SECONDS) == "create/tried/absent"


def test_a_name_that_is_nearly_right_gets_a_hint_at_once(lesson: Lesson) -> None:
    learner = Learner(lesson, CREATE)
    assert learner.play(pod("webb", "2")).hint == "create/tried/:misnamed:pods:webb:web"
    learner.play(Action(delete="pods/webb"), run(60))
    assert learner.progress.hint == "create/tried/absent"


def test_a_pod_of_an_earlier_step_is_no_wrong_name(lesson: Lesson) -> None:
    learner = Learner(lesson, CREATE)
    learner.play(pod("other", "2"))
    learner.progress = evaluate.go_to_step(lesson, learner.progress, PREEMPT, learner.now)
    assert learner.look().hint != "preempt/bound/:misnamed:pods:other:urgent"
    assert learner.play(pod("urgen", "2")).hint == "preempt/bound/:misnamed:pods:urgen:urgent"


def test_what_the_step_lacks_is_said_when_it_is_reached() -> None:
    lesson = lessons()["nominated-nodes"]
    learner = Learner(lesson)
    learner.play(*lesson.steps[0].solution, run(60))
    assert learner.progress.passed == {"nominate/nominated"}
    learner.progress = evaluate.go_to_step(lesson, learner.progress, 3, learner.now)
    assert learner.look().hint == "overtake/bound/late"
    skipped = Learner(lesson, 3)
    assert skipped.progress.hint == "overtake/bound/:missing:pods:api:"
    assert skipped.progress.failures == 1


def test_what_was_changed_is_said_before_the_hints_of_the_lesson() -> None:
    lesson = lessons()["scores"]
    learner = Learner(lesson, 2)
    cordoned = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}}
    assert learner.play(Action(apply={**cordoned, "spec": {"unschedulable": True}})).hint == (
        "score/bound/:changed:nodes:node-1:"
    )
    assert learner.play(Action(apply={**cordoned, "spec": {"unschedulable": None}})).hint == (
        "score/bound/paused"
    )
    assert learner.play(Action(delete="pods/web")).hint == "score/bound/absent"


def test_nothing_fits_so_the_learner_is_told_to_restart(lesson: Lesson) -> None:
    check = replace(lesson.steps[CREATE].checks[0], expect="false", hints=[])
    step = replace(lesson.steps[CREATE], checks=[check])
    impossible = replace(lesson, steps=[step])
    learner = Learner(impossible)
    assert learner.progress.hint == ""
    assert learner.play(pod("web", "2"), run(5)).hint == "create/tried/:lost:::"


def test_hints_follow_what_the_learner_does(lesson: Lesson) -> None:
    learner = Learner(lesson, CREATE)
    waiting = learner.play(pod("web"))
    assert (waiting.hint, waiting.failures) == ("", 0)  # the pod was not tried yet
    before = learner.progress
    bound = learner.play(run(2))
    assert bound.passed == {"create/tried"}
    assert bound.hint == "create/pending/fits"
    assert bound.failures == 1
    assert evaluate.find_misconceptions(lesson, before, bound) == ["usage"]
    assert learner.look().failures == 1
    deleted = learner.play(Action(delete="pods/web"), run(60))
    assert deleted.hint == "create/pending/absent"
    assert deleted.failures == 2
    pending = learner.play(pod("web", "2"), run(3))
    assert pending.passed == {"create/tried", "create/pending"}
    assert pending.hint == ""
    assert pending.progressed == learner.now
    assert evaluate.is_step_complete(lesson, pending)


def test_a_learner_is_stuck_after_three_failures_or_two_minutes(lesson: Lesson) -> None:
    progress = Learner(lesson, CREATE).progress
    assert not progress.is_stuck(STUCK_SECONDS - 1)
    assert progress.is_stuck(STUCK_SECONDS)
    learner = Learner(lesson, CREATE)
    learner.play(pod("web"), run(2))
    for _ in range(STUCK_FAILURES - 1):
        learner.play(Action(delete="pods/web"), run(60), pod("web"), run(2))
    assert learner.progress.failures >= STUCK_FAILURES
    assert learner.progress.is_stuck(learner.now)


def test_the_last_step_finishes_the_lesson_and_reaches_the_par(lesson: Lesson) -> None:
    learner = Learner(lesson, CREATE)
    learner.play(pod("web", "2"), run(5))
    learner.progress = evaluate.go_to_step(lesson, learner.progress, PREEMPT, learner.now)
    assert not learner.look().finished
    done = learner.play(pod("urgent", "2", "high"), run(60))
    assert evaluate.is_complete(lesson, done)
    assert done.finished
    assert not done.is_stuck(1e9)
    result = result_of(situation_of(learner.sandbox, done))
    assert result == Result(victims=1, nodes=1, edits=2)
    assert lesson.par is not None


def test_a_step_that_does_not_exist_is_refused(lesson: Lesson) -> None:
    with pytest.raises(ValueError, match="the lesson has 4 steps"):
        evaluate.go_to_step(lesson, Learner(lesson).progress, 4, 0.0)


ACTS: list[Callable[[], Action]] = [
    lambda: pod("web"),
    lambda: pod("web", "2"),
    lambda: pod("urgent", "2", "high"),
    lambda: Action(delete="pods/web"),
    lambda: Action(delete="pods/batch"),
    lambda: run(1),
    lambda: run(40),
]


@pytest.mark.sampled
@settings(max_examples=examples(40))
@given(st.lists(st.one_of(st.sampled_from(ACTS), st.integers(0, 3)), max_size=12))
def test_a_passed_step_stays_passed(acts: list[Callable[[], Action] | int]) -> None:
    """After any acts of the learner, at any step."""
    learner = Learner(read_lesson(PENDING), CREATE)
    for act in acts:
        before = learner.progress
        if isinstance(act, int):
            learner.progress = evaluate.go_to_step(learner.lesson, before, act, learner.now)
        else:
            try:
                learner.sandbox.play(act())
            except Exception as refused:  # the API's Status
                assert "exists" in str(refused) or "not found" in str(refused)  # noqa: PT017
        after = learner.look()
        assert before.passed <= after.passed
        assert before.guesses == after.guesses
        assert before.finished in (0.0, after.finished)
        assert learner.look() == after  # nothing happened in between
