"""The store for jobs: one job for the same work, bounded numbers, sizes and times."""

from collections.abc import Iterator
from dataclasses import replace as replace_kind

import pytest
from msgspec.structs import replace

from schedviz.bundled_scenarios import FIRST, FOLDER
from schedviz.jobs.comparison_job import COMPARISONS, ComparisonJob, ComparisonRequest, RequestedSide
from schedviz.jobs.comparison_work import comparison_turns
from schedviz.jobs.job import JobKind, JobState
from schedviz.jobs.job_store import RUNNER_LOST, JobStore
from schedviz.jobs.question import QUESTIONS, Question, question_key
from schedviz.jobs.tasks import answer_question
from schedviz.store import Store
from schedviz.store.exceeded import LimitExceeded
from schedviz.store.places import Share
from simulator.queueing.queue_version import QueueVersion
from tests.threads import THREADS, at_once

SIDE = RequestedSide("own", None, QueueVersion.KUBERNETES, 0)
REQUEST = ComparisonRequest("scenario", "taints-and-affinity", "", SIDE, SIDE, 60)
FOUR = [Share("MAX_COMPARISONS", 4)]
ONE = [Share("MAX_COMPARISONS", 1)]


@pytest.fixture(autouse=True)
def prefix(store: Store, sandbox_name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Each test has jobs of its own. A job runner that takes their tasks finds no such jobs."""
    prefix = f"test:{sandbox_name}"
    monkeypatch.setattr("schedviz.jobs.job_store.PREFIX", prefix)
    yield prefix
    store.redis.delete(*store.redis.keys(f"{prefix}:*"))


def question(pod: str, state: JobState = "waiting", **fields: object) -> Question:
    named = Question(kind="what-if", sandbox="demo", pod=pod, uid="u", state=state)
    return replace(named, **fields)


def seconds_left(store: Store, prefix: str, key: str) -> int:
    return store.redis.ttl(f"{prefix}:jobs:question:job:{key}")


def test_one_of_many_concurrent_submissions_of_the_last_comparison_succeeds(store: Store) -> None:
    jobs = JobStore(store, COMPARISONS)
    for _ in range(5):
        submitted = [jobs.submit(ComparisonJob(request=REQUEST)) for _ in range(3)]
        results = at_once(lambda _: jobs.submit(ComparisonJob(request=REQUEST), FOUR))
        last = [result for result in results if isinstance(result, ComparisonJob)]
        assert len(last) == 1, results
        assert sum(isinstance(result, LimitExceeded) for result in results) == THREADS - 1
        for job in [*submitted, *last]:
            jobs.save(replace(job, state="stopped"))


def test_a_running_comparison_counts_and_a_running_question_does_not(store: Store) -> None:
    comparisons = JobStore(store, COMPARISONS)
    first = comparisons.submit(ComparisonJob(request=REQUEST))
    comparisons.save(replace(first, state="running"))
    with pytest.raises(LimitExceeded):
        comparisons.submit(ComparisonJob(request=REQUEST), ONE)
    comparisons.save(replace(first, state="done"))
    comparisons.submit(ComparisonJob(request=REQUEST), ONE)

    questions = JobStore(store, QUESTIONS)
    waiting = questions.submit(question("default/a"))
    with pytest.raises(LimitExceeded):
        questions.submit(question("default/b"), ONE)
    questions.save(replace(waiting, state="running"))
    questions.submit(question("default/b"), ONE)


def test_the_same_question_is_one_job_until_it_is_finished(store: Store) -> None:
    questions = JobStore(store, QUESTIONS)
    first = questions.submit(question("default/a"))
    assert questions.submit(question("default/a")) == first
    assert questions.submit(question("default/a", uid="of a later pod")).id != first.id
    questions.save(replace(first, state="running"))
    assert questions.submit(question("default/a")).id == first.id
    questions.save(replace(first, state="done"))
    assert questions.submit(question("default/a")).id != first.id
    assert question_key("what-if", "demo", "default/a", uid="u") == first.key


def test_a_stop_is_requested_of_one_job_only(store: Store) -> None:
    questions = JobStore(store, QUESTIONS)
    first = questions.submit(question("default/a"))
    questions.request_stop(first)
    assert questions.is_stop_requested(first)
    questions.save(replace(first, state="stopped"))
    assert not questions.is_stop_requested(questions.submit(question("default/a")))


@pytest.mark.parametrize(
    ("state", "seconds"),
    [
        ("waiting", QUESTIONS.waiting_seconds),
        ("running", QUESTIONS.silent_seconds + QUESTIONS.waiting_seconds),
        ("failed", QUESTIONS.kept_seconds),
    ],
)
def test_the_expiry_of_a_job_depends_on_its_state(
    store: Store, prefix: str, state: JobState, seconds: int
) -> None:
    job = question("default/a", state)
    JobStore(store, QUESTIONS).save(job)
    assert 0 < seconds_left(store, prefix, job.key) <= seconds


class Silence:
    """Lets time pass for a stored job, and collects the messages that are sent meanwhile."""

    def __init__(self, store: Store, prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: list[tuple[str, str]] = []
        self._store, self._prefix = store, prefix

        def send(_: str, arguments: tuple[str, str], **__: object) -> None:
            self.sent.append(arguments)

        monkeypatch.setattr("schedviz.jobs.job_store.app.send_task", send)

    def pass_for(self, job: Question | ComparisonJob, seconds: int) -> None:
        kind = "question" if isinstance(job, Question) else "comparison"
        key = f"{self._prefix}:jobs:{kind}:job:{job.key}"
        self._store.redis.expire(key, self._store.redis.ttl(key) - seconds)


@pytest.mark.parametrize("state", ["running", "waiting"])
def test_a_question_whose_job_runner_was_killed_is_asked_again(
    store: Store, prefix: str, monkeypatch: pytest.MonkeyPatch, state: JobState
) -> None:
    """Of a waiting one, the killed job runner had the message."""
    silence, questions = Silence(store, prefix, monkeypatch), JobStore(store, QUESTIONS)
    job = question("default/a", state, tried=7)
    questions.save(job)
    silence.pass_for(job, QUESTIONS.silent_seconds - 5)
    assert questions.read(job.key) == job
    assert not silence.sent
    for tries in range(1, QUESTIONS.tries_at_most + 1):
        silence.pass_for(job, QUESTIONS.silent_seconds)
        again = questions.read(job.key)
        assert again is not None
        assert (again.id, again.state, again.tries) == (job.id, "waiting", tries)
        assert questions.read(job.key) == again, "it is asked once"
        assert silence.sent == [(job.key, job.id)] * tries
        if state == "running":
            questions.save(replace(again, state="running"))
    silence.pass_for(job, QUESTIONS.silent_seconds)
    last = questions.read(job.key)
    assert last is not None
    assert last.state == ("failed" if state == "running" else "waiting"), "it may be what ends the job runner"
    assert len(silence.sent) == QUESTIONS.tries_at_most


def test_a_comparison_whose_job_runner_was_killed_is_asked_again_and_begins_again(
    store: Store, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    silence, jobs = Silence(store, prefix, monkeypatch), JobStore(store, COMPARISONS)
    text = (FOLDER / f"{FIRST}.yaml").read_text()
    job = ComparisonJob(request=replace(REQUEST, text=text, seconds=1), state="running", done=0.7)
    jobs.save(job)
    turns = comparison_turns(store)
    assert turns.run_turn(job.key) is None
    assert jobs.read(job.key) == job, "another job runner runs it"
    silence.pass_for(job, COMPARISONS.silent_seconds)
    again = jobs.read(job.key)
    assert again is not None
    assert (again.id, again.state, again.tries) == (job.id, "waiting", 1)
    assert silence.sent == [(job.key, job.id)]
    while turns.run_turn(job.key):
        pass
    done = jobs.read(job.key)
    assert done is not None
    assert (done.state, done.result is not None) == ("done", True)
    jobs.save(job := replace(job, tries=1))
    silence.pass_for(job, COMPARISONS.silent_seconds)
    last = jobs.read(job.key)
    assert last is not None
    assert (last.state, last.trouble) == ("failed", RUNNER_LOST), "it may be what ends the job runner"


def test_a_message_that_comes_twice_is_answered_once(
    store: Store, monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    answered: list[str] = []
    monkeypatch.setattr("schedviz.jobs.tasks.find_answer", lambda *given: answered.append(given[-1].id))
    job, questions = question("default/a"), JobStore(store, QUESTIONS)
    questions.save(job)
    answer_question(job.key, job.id)
    questions.save(replace(job, state="running"))
    answer_question(job.key, job.id)
    assert answered == [job.id]


def test_the_oldest_finished_jobs_are_deleted(store: Store) -> None:
    questions = JobStore(store, replace_kind(QUESTIONS, kept_at_most=2))
    keys = []
    for number in range(4):
        job = question(f"default/{number}", "done")
        questions.save(job)
        keys.append(job.key)
    assert [questions.read(key) is not None for key in keys] == [False, False, True, True]


def test_a_job_that_is_too_large_fails_and_keeps_no_result(store: Store) -> None:
    kind: JobKind[Question] = replace_kind(QUESTIONS, bytes_at_most=1000)
    questions = JobStore(store, kind)
    job = question("default/a", "done", tried=7)
    questions.save(job)
    assert questions.read(job.key) == job
    too_large = question("default/b", "done", doing="a" * 1000)
    questions.save(too_large)
    stored = questions.read(too_large.key)
    assert stored is not None
    assert (stored.state, stored.trouble, stored.answer) == ("failed", "the answer is too large", None)


def test_a_job_whose_task_cannot_be_sent_is_not_stored(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = JobStore(store, QUESTIONS)

    def fail(*_: object, **__: object) -> None:
        raise ConnectionError

    with monkeypatch.context() as patch:
        patch.setattr("schedviz.jobs.job_store.app.send_task", fail)
        with pytest.raises(ConnectionError):
            questions.submit(question("default/a"))
    assert questions.read(question("default/a").key) is None
    questions.submit(question("default/b"), ONE)
