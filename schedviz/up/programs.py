"""The programs that ``manage.py up`` starts."""

import sys

from schedviz.celery import JOB_RUNNER_ARGUMENTS, WORKER_ARGUMENTS
from schedviz.up.supervisor import Program

SERVER = [
    "uvicorn",
    "schedviz.asgi:application",
    "--http=schedviz.asgi:Connection",
    "--log-level=warning",
    "--no-access-log",
    # Open pages hold sockets and streams, which would delay the end. They connect again by themselves.
    "--timeout-graceful-shutdown=1",
]
"""The ASGI server, without its address."""

DEMO = "demo"
"""The sandbox that a first visitor sees."""


def programs(host: str, port: int, workers: int) -> list[Program]:
    """Return the web server, the workers, the job runner, and what makes the sandbox :data:`DEMO`."""
    python = [sys.executable]
    celery = [*python, "-m", "celery", "--app=schedviz", "--quiet"]
    names = [f"worker-{number}" for number in range(1, workers + 1)]
    return [
        Program("web", [*python, "-m", *SERVER, f"--host={host}", f"--port={port}"]),
        *(Program(name, [*celery, *WORKER_ARGUMENTS, f"--hostname={name}"]) for name in names),
        Program("job-runner", [*celery, *JOB_RUNNER_ARGUMENTS, "--hostname=job-runner"]),
        Program("demo", [*python, "-m", "schedviz", "demo"], restarts=False),
    ]
