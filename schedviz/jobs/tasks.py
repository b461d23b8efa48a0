"""The Celery tasks of job runners: one question, and one turn of a comparison."""

from functools import cache

from schedviz.celery import app
from schedviz.jobs.comparison_job import COMPARISONS
from schedviz.jobs.comparison_turns import ComparisonTurns
from schedviz.jobs.find_answer import find_answer
from schedviz.jobs.job_runner import own_jobs_queue
from schedviz.jobs.job_store import JobStore
from schedviz.jobs.question import QUESTIONS
from schedviz.log_context import log_context
from schedviz.store.default import default_store


@cache
def _comparison_turns() -> ComparisonTurns:
    return ComparisonTurns(default_store(), JobStore(default_store(), COMPARISONS))


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
    with log_context(job=job_id):
        job = _comparison_turns().run_turn(key)
    if job:
        # The memory of this process holds both clusters, so only this process can run the next turn.
        JobStore(default_store(), COMPARISONS).send_task(job, own_jobs_queue())
