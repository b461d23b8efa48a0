"""The worker process: the Celery task that runs slices, and the signal handlers that start and stop it."""

from functools import partial
from typing import Any, Final

from celery.signals import celeryd_after_setup, worker_shutdown
from django.conf import settings

from schedviz.celery import COMMON_QUEUE, app
from schedviz.loop.driver import Driver
from schedviz.loop.presence import Presence
from schedviz.loop.sweep import SWEEP_SECONDS, sweep
from schedviz.loop.wakes import TASK, Wakes
from schedviz.processes.guarded import Guarded
from schedviz.processes.name import process_name
from schedviz.processes.pulse import Job
from schedviz.store.default import prepare_default_store
from simulator.scheduler.extender_http import HttpTransport
from simulator.simulation import Simulation

POLL_SECONDS: Final = 0.05
"""The interval of :meth:`Wakes.claim`, and so the greatest delay of a wake: one frame, at 20 a second. Each
worker claims for all sandboxes; the message goes to the leader of the sandbox."""


class Worker:
    """The objects of a worker process. A process that only sends tasks has none."""

    def __init__(self) -> None:
        name = process_name()
        store = prepare_default_store()
        wakes = Wakes(store)
        presence = Presence(store, name)
        simulation = partial(Simulation, transport=HttpTransport(settings.EXTENDER_HOSTS))
        self.driver = Driver(store, wakes, presence, simulation)
        jobs = [
            Job(SWEEP_SECONDS, lambda: sweep(store, wakes, name)),
            Job(POLL_SECONDS, wakes.claim),
        ]
        self.process = Guarded(store, "workers", name, presence.beat, jobs)


_worker: Worker | None = None


@celeryd_after_setup.connect
def join(instance: Any, **_: Any) -> None:
    """Start the worker's jobs before it consumes."""
    global _worker  # noqa: PLW0603 (one worker is one process)
    if COMMON_QUEUE in instance.app.amqp.queues.consume_from:
        _worker = Worker()
        _worker.process.start(instance)


@worker_shutdown.connect
def leave(**_: Any) -> None:
    if _worker:
        _worker.process.stop()


@app.task(name=TASK)
def run_slice(name: str, order: int | None) -> None:
    assert _worker, "slices run in workers"
    _worker.driver.slice(name, order)
