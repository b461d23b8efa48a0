"""A worker: the process that runs slices, and the Celery task of a slice."""

from typing import ClassVar, Final

from django.conf import settings

from schedviz.celery import app
from schedviz.loop.driver import Driver
from schedviz.loop.observer import WorkObserver, measured_plugins
from schedviz.loop.presence import Presence
from schedviz.loop.slice_message import TASK
from schedviz.loop.sweep import SWEEP_SECONDS, sweep
from schedviz.loop.wakes import Wakes
from schedviz.metrics.registry import MEASURES
from schedviz.processes.celery_process import CeleryProcess
from schedviz.processes.periodic import PeriodicCall
from schedviz.processes.process_name import make_process_name
from schedviz.processes.role import Role
from schedviz.processes.role_step import RoleStep
from schedviz.store import Store
from schedviz.tracing import trace_part
from simulator.api import Storage
from simulator.apiserver.component_writes import MakeServer
from simulator.scheduler.extender_http import HttpTransport
from simulator.simulation import Options, Simulation

POLL_SECONDS: Final = 0.05
"""The interval of :meth:`Wakes.claim`, and so the greatest delay of a wake: one frame, at 20 a second. Each
worker claims for all sandboxes; the message goes to the leader of the sandbox."""


_driver: Driver | None = None


class WorkerStep(RoleStep):
    role: ClassVar[Role] = "worker"

    def make_process(self, store: Store) -> CeleryProcess:
        global _driver  # noqa: PLW0603 (one worker is one process)
        name = make_process_name()
        wakes = Wakes(store)
        presence = Presence(store, name)
        _driver = Driver(store, wakes, presence, make_simulation)
        MEASURES.append(_driver.measure)
        calls = [
            PeriodicCall(SWEEP_SECONDS, lambda: sweep(store, wakes, name)),
            PeriodicCall(POLL_SECONDS, wakes.claim),
        ]
        return CeleryProcess(store, self.role, name, presence.beat, calls)


app.steps["worker"].add(WorkerStep)


def make_simulation(storage: Storage, make_server: MakeServer, options: Options) -> Simulation:
    """Return the simulation of a sandbox, whose plugins are measured and whose extenders are called."""
    return Simulation(
        storage,
        make_server,
        options,
        plugins=measured_plugins(options.features()),
        transport=HttpTransport(settings.EXTENDER_HOSTS),
        observer=WorkObserver(),
    )


@app.task(name=TASK)
def run_slice(name: str, order: int | None, parent: str = "") -> None:
    assert _driver, "slices run in workers"
    with trace_part("slice", parent, sandbox=name):
        _driver.slice(name, order)
