"""What is stored of a learner, and that concurrent changes are not lost."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace

from schedviz.lessons import evaluate
from schedviz.lessons import learners as learners_module
from schedviz.lessons.learners import KEPT_SECONDS, Learners, NoProgress, new_learner
from schedviz.lessons.lesson import Lesson
from schedviz.lessons.progress import Progress
from schedviz.lessons.read_lesson import read_lesson
from schedviz.store import Store

from .folders import PENDING


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return read_lesson(PENDING)


@pytest.fixture
def learners(store: Store) -> Learners:
    return Learners(store.redis)


@pytest.fixture
def learner() -> str:
    return new_learner()


@pytest.fixture
def progress(lesson: Lesson, learners: Learners, learner: str) -> Progress:
    begun = evaluate.begin(lesson, "lesson-pending-0123456789ab", 1.5, 2.5)
    learners.begin(learner, begun)
    return begun


def test_an_id_has_a_form_and_is_never_the_same() -> None:
    found = {new_learner() for _ in range(100)}
    assert len(found) == 100
    assert all(learners_module.LEARNER.fullmatch(each) for each in found)


def test_the_progress_is_stored_and_expires(
    store: Store, learners: Learners, learner: str, progress: Progress
) -> None:
    assert learners.progress(learner, "pending") == progress
    assert learners.progress(learner, "other") is None
    assert learners.all_progress(learner) == {"pending": progress}
    stranger = new_learner()
    assert learners.all_progress_of([learner, stranger]) == {learner: {"pending": progress}, stranger: {}}
    assert learners.progress_of([stranger, learner], "pending") == {learner: progress}
    ttl = store.redis.ttl(f"schedviz:learner:{learner}")
    assert KEPT_SECONDS - 60 < ttl <= KEPT_SECONDS
    learners.forget([learner])
    assert learners.progress(learner, "pending") is None


def test_a_learner_who_has_not_begun_has_no_progress(lesson: Lesson, learners: Learners) -> None:
    with pytest.raises(NoProgress):
        learners.update(new_learner(), lesson, lambda progress: progress)


def test_concurrent_changes_are_not_lost(
    lesson: Lesson, learners: Learners, learner: str, progress: Progress
) -> None:
    def add(number: int) -> None:
        learners.update(
            learner, lesson, lambda before: replace(before, passed=before.passed | {f"create/{number}"})
        )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(40)))
    stored = learners.progress(learner, "pending")
    assert stored is not None
    assert len(stored.passed) == 40
    assert not learners.store(learner, lesson, progress, replace(progress, step=1))
    assert learners.store(learner, lesson, stored, replace(stored, step=1))
    after = learners.progress(learner, "pending")
    assert after is not None
    assert after.step == 1


def test_the_lesson_is_offered_after_three_equal_misconceptions(
    lesson: Lesson,
    learners: Learners,
    learner: str,
    progress: Progress,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    corrects = replace(lesson, name="requests")
    monkeypatch.setattr(learners_module, "lessons", lambda: {"pending": lesson, "requests": corrects})
    for number in range(1, 4):
        assert learners.offered_lesson(learner) is None
        learners.begin(learner, progress)
        learners.update(learner, lesson, lambda before: evaluate.go_to_step(lesson, before, 1, 3.0))
        learners.update(learner, lesson, lambda before: evaluate.guess(lesson, before, ["fits"], 4.0))
        assert learners.misconceptions(learner) == {"usage": number}
    assert learners.offered_lesson(learner) == corrects  # the learner is in the other one
    learners.begin(learner, replace(progress, lesson="requests"))
    assert learners.offered_lesson(learner) is None


def test_progress_of_an_older_version_counts_as_none(store: Store, learners: Learners, learner: str) -> None:
    store.redis.hset(f"schedviz:learner:{learner}", "pending", b'{"lesson": 1}')
    assert learners.all_progress(learner) == {}
    assert learners.progress(learner, "pending") is None


def test_the_fields_of_deleted_lessons_are_bounded(
    store: Store, learners: Learners, learner: str, progress: Progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = f"schedviz:learner:{learner}"
    store.redis.hset(
        key, mapping={f"gone-{number}": "{}" for number in range(learners_module.FIELDS_AT_MOST)}
    )
    store.redis.hset(key, "misconception:usage", 2)
    monkeypatch.setattr(learners_module, "lessons", lambda: {"pending": object()})
    learners.begin(learner, progress)
    assert {field.decode() for field in store.redis.hkeys(key)} == {"pending", "misconception:usage"}
