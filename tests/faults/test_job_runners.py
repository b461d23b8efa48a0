"""A real job runner that is killed in the middle of a job: the job is asked for again."""

import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from kombu import Connection

from schedviz.api.write import create
from schedviz.bundled_scenarios import FIRST, FOLDER
from schedviz.celery import JOB_RUNNER_ARGUMENTS, app
from schedviz.jobs.comparison_job import COMPARISONS, ComparisonJob, ComparisonRequest, RequestedSide
from schedviz.jobs.job import Job, JobKind, JobState
from schedviz.jobs.job_store import JobStore
from schedviz.jobs.question import QUESTIONS, Question
from schedviz.store import Meta, Store
from schedviz.up.embedded_redis import EmbeddedRedis, free_port, lock
from simulator.queueing.queue_version import QueueVersion
from tests.amounts import long_but_first
from tests.faults.proxy import Command, Proxy
from tests.loop.conftest import node, pod
from tests.processes import CELERY, Process
from tests.waiting import eventually

pytestmark = pytest.mark.alone

StartRunner = Callable[[str], Process]
"""Starts a job runner that reaches Redis by this URL."""


@pytest.fixture
def own_store(tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A Redis in which no other job runner takes the jobs."""
    with lock(tmp_path) as held:
        redis = EmbeddedRedis.start(tmp_path, held, free_port(), "own")
        broker = Connection(redis.url, transport_options=app.conf.broker_transport_options)
        with closing(Store(redis.url)) as store, broker:
            monkeypatch.setattr(app, "send_task", partial(app.send_task, connection=broker))
            yield store
        redis.stop()


@pytest.fixture
def start_runner(tmp_path: Path) -> Iterator[StartRunner]:
    started: list[Process] = []

    def start(url: str) -> Process:
        log = tmp_path / f"job-runner-{len(started)}"
        started.append(Process([*CELERY, *JOB_RUNNER_ARGUMENTS], log, {"REDIS_URL": url}))
        return started[-1]

    yield start
    for process in started:
        process.kill()


def question(store: Store) -> Job:
    sandbox = store.create(Meta("asked", created=1_700_000_000.0))
    [_, pending] = create(sandbox, [node("n"), pod("a", cpu="8")])
    return Question(kind="what-if", sandbox=sandbox.name, pod="default/a", uid=pending["metadata"]["uid"])


def comparison(store: Store) -> Job:
    side = RequestedSide("own", None, QueueVersion.KUBERNETES, 0)
    text = (FOLDER / f"{FIRST}.yaml").read_text()
    return ComparisonJob(request=ComparisonRequest("scenario", FIRST, text, side, side, 10))


def runs(job: Job, command: Command) -> bool:
    """Whether the command says that the job runs."""
    return command[0] == b"SET" and command[1].endswith(f":job:{job.key}".encode())


def begins(job: Job, command: Command) -> bool:
    """Whether the job runner looks whether to stop the job, which has not been noted to run yet."""
    return command[0] == b"EXISTS" and command[1].endswith(f":stop:{job.id}".encode())


class Case(NamedTuple):
    kind: JobKind[Job]
    new_job: Callable[[Store], Job]
    is_meant: Callable[[Job, Command], bool]
    """Whether it is the command after which the job runner is killed."""
    state: JobState
    """The state of the job then."""


@pytest.mark.parametrize(
    "case",
    long_but_first(
        [Case(QUESTIONS, question, runs, "running"), Case(COMPARISONS, comparison, begins, "waiting")]
    ),
    ids=["question", "comparison"],
)
def test_a_job_whose_runner_was_killed_is_asked_again_and_done(
    own_store: Store, start_runner: StartRunner, case: Case
) -> None:
    jobs, job = JobStore(own_store, case.kind), case.new_job(own_store)
    with closing(Proxy(own_store.redis_url)) as proxy:
        runner = start_runner(proxy.url)
        proxy.before_cut = lambda: runner.send(signal.SIGKILL)
        proxy.watch = lambda command: "after" if case.is_meant(job, command) else "pass"
        jobs.submit(job)
        runner.wait()
    stored = jobs.read(job.key)
    assert stored
    assert (stored.state, stored.tries) == (case.state, 0)
    start_runner(own_store.redis_url)
    key = f"schedviz:jobs:{case.kind.name}:job:{job.key}"
    own_store.redis.expire(key, own_store.redis.ttl(key) - case.kind.silent_seconds)  # time passes
    again = jobs.read(job.key)
    assert again
    assert (again.id, again.state, again.tries) == (job.id, "waiting", 1)

    def finished() -> Job | None:
        found = jobs.read(job.key)
        return found if found and found.finished else None

    done = eventually(finished, "it is done")
    assert (done.id, done.state, done.tries) == (job.id, "done", 1)
