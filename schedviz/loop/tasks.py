"""The worker process: Celery's signals and its one task, tied to the loop."""

import os
import secrets
import socket
from functools import partial
from typing import Any

from celery.signals import celeryd_after_setup, worker_shutdown
from django.conf import settings

from schedviz.celery import COMMON_QUEUE, app, own_queue
from schedviz.loop.driver import Driver
from schedviz.loop.presence import Presence
from schedviz.loop.pulse import Pulse
from schedviz.loop.wakes import TASK, Wakes
from schedviz.store.default import default_store
from simulator.scheduler.extender_http import HttpTransport
from simulator.simulation import Simulation


class Worker:
    """What makes this process a worker; there is none in processes that only send."""

    def __init__(self) -> None:
        # Random at the end: a container that starts again has the host name and the process id that it had
        # before.
        self.name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"
        store = default_store()
        wakes = Wakes(store)
        presence = Presence(store, self.name)
        simulation = partial(Simulation, transport=HttpTransport(settings.EXTENDER_HOSTS))
        self.driver = Driver(store, wakes, presence, simulation)
        self.pulse = Pulse(store, wakes, presence, self.driver)


_worker: Worker | None = None


@celeryd_after_setup.connect
def join(instance: Any, **_: Any) -> None:
    """The worker is about to consume: give it its own queue beside the common one, and a pulse."""
    global _worker  # noqa: PLW0603 (one worker is one process)
    if COMMON_QUEUE not in instance.app.amqp.queues.consume_from:
        return  # it answers questions, and leads nobody
    _worker = Worker()
    instance.app.amqp.queues.select_add(own_queue(_worker.name))
    _worker.pulse.start()


@worker_shutdown.connect
def leave(**_: Any) -> None:
    if _worker:
        _worker.pulse.stop()


@app.task(name=TASK)
def run_slice(name: str, asked: int) -> None:
    assert _worker, "slices run in workers"
    _worker.driver.slice(name, asked)
