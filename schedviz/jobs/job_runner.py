"""A job runner: the process that answers questions and runs comparisons."""

import os
from typing import ClassVar, Final

from kombu import Queue

from schedviz.celery import app
from schedviz.processes.celery_process import CeleryProcess
from schedviz.processes.process_name import make_process_name
from schedviz.processes.role import Role
from schedviz.processes.role_step import RoleStep
from schedviz.store import Store

NICENESS: Final = 10
"""The niceness of job runners: if all cores are busy, workers and web server get processor time first."""

_process: CeleryProcess | None = None


class JobRunnerStep(RoleStep):
    role: ClassVar[Role] = "job-runner"

    def make_process(self, store: Store) -> CeleryProcess:
        global _process  # noqa: PLW0603 (one job runner is one process)
        os.nice(NICENESS)
        _process = CeleryProcess(store, self.role, make_process_name())
        return _process


app.steps["worker"].add(JobRunnerStep)


def own_jobs_queue() -> Queue:
    """Return the queue that only this job runner consumes."""
    assert _process, "jobs run in job runners"
    return _process.queue
