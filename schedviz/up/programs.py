"""The programs that ``manage.py up`` starts."""

import sys

from schedviz.celery import JOB_RUNNER_ARGUMENTS, WORKER_ARGUMENTS
from schedviz.up.supervisor import Program

SERVER = "schedviz.server"
"""The module of the web server, without its address."""

DEMO = "demo"
"""The sandbox that a first visitor sees."""


def web_programs(host: str, port: int, processes: int) -> list[Program]:
    """Return the processes of the web server, which share a port if there are several."""
    command = [sys.executable, "-m", SERVER, f"--host={host}", f"--port={port}"]
    if processes == 1:
        return [Program("web", command)]
    return [Program(f"web-{number}", [*command, "--shares-port"]) for number in range(1, processes + 1)]


def programs(host: str, port: int, *, web_processes: int, workers: int) -> list[Program]:
    """Return the web server, the workers, the job runner, and what makes the sandbox :data:`DEMO`."""
    python = [sys.executable]
    celery = [*python, "-m", "celery", "--app=schedviz", "--quiet"]
    names = [f"worker-{number}" for number in range(1, workers + 1)]
    return [
        *web_programs(host, port, web_processes),
        *(Program(name, [*celery, *WORKER_ARGUMENTS, f"--hostname={name}"]) for name in names),
        Program("job-runner", [*celery, *JOB_RUNNER_ARGUMENTS, "--hostname=job-runner"]),
        Program("demo", [*python, "-m", "schedviz", "demo"], restarts=False),
    ]
