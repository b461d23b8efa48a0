"""The Celery tasks of job runners: one question about a pod, and one turn of a comparison, of a played
workload or of a question about a cluster."""

from functools import cache

from schedviz.celery import app
from schedviz.jobs.asked_job import ASKED, AskedJob
from schedviz.jobs.asked_work import asked_turns
from schedviz.jobs.comparison_job import COMPARISONS, ComparisonJob
from schedviz.jobs.comparison_work import comparison_turns
from schedviz.jobs.find_answer import find_answer
from schedviz.jobs.job import J
from schedviz.jobs.job_runner import own_jobs_queue
from schedviz.jobs.job_store import JobStore
from schedviz.jobs.job_turns import JobTurns
from schedviz.jobs.played_job import PLAYED, PlayedJob
from schedviz.jobs.played_work import played_turns
from schedviz.jobs.question import QUESTIONS
from schedviz.log_context import log_context
from schedviz.store.default import default_store


@cache
def _comparison_turns() -> JobTurns[ComparisonJob]:
    return comparison_turns(default_store())


@cache
def _asked_turns() -> JobTurns[AskedJob]:
    return asked_turns(default_store())


@cache
def _played_turns() -> JobTurns[PlayedJob]:
    return played_turns(default_store())


@app.task(name=QUESTIONS.task)
def answer_question(key: str, job_id: str) -> None:
    questions = JobStore(default_store(), QUESTIONS)
    question = questions.read(key, asks_again=False)
    # The message may come twice.
    if question is not None and question.id == job_id and question.state == "waiting":
        with log_context(job=job_id):
            find_answer(default_store(), questions, question)


@app.task(name=COMPARISONS.task)
def run_comparison_turn(key: str, job_id: str) -> None:
    _run_turn(_comparison_turns(), JobStore(default_store(), COMPARISONS), key, job_id)


@app.task(name=ASKED.task)
def run_asked_turn(key: str, job_id: str) -> None:
    _run_turn(_asked_turns(), JobStore(default_store(), ASKED), key, job_id)


@app.task(name=PLAYED.task)
def run_played_turn(key: str, job_id: str) -> None:
    _run_turn(_played_turns(), JobStore(default_store(), PLAYED), key, job_id)


def _run_turn(turns: JobTurns[J], jobs: JobStore[J], key: str, job_id: str) -> None:
    with log_context(job=job_id):
        job = turns.run_turn(key)
    if job:
        # The memory of this process holds its clusters, so only this process can run the next turn.
        jobs.send_task(job, own_jobs_queue())
