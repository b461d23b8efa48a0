"""The task of a process that answers questions: one question, from the line to its answer."""

from functools import cache

import schedviz.questions.process  # noqa: F401 (its signals)
from schedviz.celery import app
from schedviz.questions.question import TASK, Kind, Questions
from schedviz.questions.thinker import answer
from schedviz.store.default import default_store


@cache
def _questions() -> Questions:
    return Questions(default_store())


@app.task(name=TASK)
def answer_question(kind: Kind, sandbox: str, pod: str, wanted: str) -> None:
    question = _questions().read(kind, sandbox, pod)
    if question is not None and question.id == wanted and not question.finished:
        answer(default_store(), _questions(), question)
