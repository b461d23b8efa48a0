"""A thinker: the process that answers questions and compares, tied to Celery's signals."""

import os
from typing import Any, Final

from celery.signals import celeryd_after_setup, worker_shutdown

from schedviz.celery import QUESTIONS_QUEUE
from schedviz.processes.guarded import Guarded
from schedviz.processes.name import process_name
from schedviz.store.default import prepare_default_store

NICENESS: Final = 10
"""Where all cores are busy, what moves on the screens goes first."""

_thinker: Guarded | None = None


@celeryd_after_setup.connect
def join(instance: Any, **_: Any) -> None:
    """The process is about to consume."""
    global _thinker  # noqa: PLW0603 (one thinker is one process)
    if QUESTIONS_QUEUE in instance.app.amqp.queues.consume_from:
        os.nice(NICENESS)
        _thinker = Guarded(prepare_default_store(), "thinkers", process_name())
        _thinker.start(instance)


@worker_shutdown.connect
def leave(**_: Any) -> None:
    if _thinker:
        _thinker.stop()


def thinker() -> Guarded:
    assert _thinker, "questions are answered in thinkers"
    return _thinker
