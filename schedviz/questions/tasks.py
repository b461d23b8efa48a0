"""The task of a process that answers questions: one question, from the line to its answer."""

import os
from functools import cache
from typing import Any, Final

from celery.signals import celeryd_after_setup

from schedviz.celery import COMMON_QUEUE, app
from schedviz.questions.question import TASK, Kind, Questions
from schedviz.questions.thinker import answer
from schedviz.store.default import default_store

NICENESS: Final = 10
"""Where all cores are busy, what moves on the screens goes first."""


@celeryd_after_setup.connect
def step_back(instance: Any, **_: Any) -> None:
    if COMMON_QUEUE not in instance.app.amqp.queues.consume_from:
        os.nice(NICENESS)


@cache
def _questions() -> Questions:
    return Questions(default_store())


@app.task(name=TASK)
def answer_question(kind: Kind, sandbox: str, pod: str, wanted: str) -> None:
    question = _questions().read(kind, sandbox, pod)
    if question is not None and question.id == wanted and not question.finished:
        answer(default_store(), _questions(), question)
