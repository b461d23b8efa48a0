"""The task: one turn of one comparison."""

import os
import secrets
import socket
from functools import cache
from typing import Any

from celery.signals import celeryd_after_setup
from kombu import Queue

from schedviz.celery import COMMON_QUEUE, QUESTIONS_QUEUE, app
from schedviz.comparisons.order import LINE_SECONDS, TASK, Orders
from schedviz.comparisons.turns import Turns
from schedviz.store.default import default_store

_own_queue = f"{QUESTIONS_QUEUE}.{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"
"""What this process has in its memory comes back to it alone."""


@celeryd_after_setup.connect
def join(instance: Any, **_: Any) -> None:
    queues = instance.app.amqp.queues
    if COMMON_QUEUE not in queues.consume_from:
        # Bound to no exchange: messages go there by its name.
        queues.select_add(Queue(_own_queue, exchange="", routing_key=_own_queue))


@cache
def _turns() -> Turns:
    return Turns(default_store(), Orders(default_store()))


@app.task(name=TASK)
def take_turn(order: str) -> None:
    if _turns().take(order):
        app.send_task(
            TASK, (order,), queue=_own_queue, exchange="", routing_key=_own_queue, expires=LINE_SECONDS
        )
