"""The task: one turn of one comparison."""

from functools import cache
from typing import Any

from schedviz.celery import app
from schedviz.comparisons.order import TASK, Orders
from schedviz.comparisons.turns import Turns
from schedviz.questions.process import thinker
from schedviz.store.default import default_store


@cache
def _turns() -> Turns:
    return Turns(default_store(), Orders(default_store()))


@app.task(name=TASK)
def take_turn(order: str) -> None:
    if _turns().take(order):
        # What this process has in its memory comes back to it alone.
        queue: Any = thinker().queue  # a Queue is taken too, whatever the type stubs say
        app.send_task(TASK, (order,), queue=queue)
