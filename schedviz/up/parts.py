"""What ``manage.py up`` starts and shows, by name."""

import shlex
import sys

from schedviz.celery import JOB_RUNNER_ARGUMENTS, WORKER_ARGUMENTS
from schedviz.up.guardian import GRACE_SECONDS

SERVER = [
    "uvicorn",
    "schedviz.asgi:application",
    "--log-level=warning",
    "--no-access-log",
    # Open pages hold sockets and streams, and would hold up the end: they reconnect by themselves.
    "--timeout-graceful-shutdown=1",
]
"""The ASGI server, without its address."""

DEMO = "demo"
"""The sandbox that a first visitor finds."""


def programs(host: str, port: int, workers: int) -> str:
    """The configuration of Supervisor: https://supervisord.org/configuration.html"""
    # What dies within ten seconds of its start, six times in a row, does so for a reason that stays.
    kept = f"""
autorestart=true
startsecs=10
startretries=5
stopwaitsecs={GRACE_SECONDS:.0f}
{SHOWN}"""
    server = _python("-m", *SERVER, f"--host={host}", f"--port={port}")
    worker = _python("-m", "celery", "--app=schedviz", "--quiet", *WORKER_ARGUMENTS)
    job_runner = _python("-m", "celery", "--app=schedviz", "--quiet", *JOB_RUNNER_ARGUMENTS)
    return f"""
[supervisord]

[program:web]
command={server}
{kept}
[program:worker]
command={worker} --hostname=worker-%(process_num)d
process_name=worker-%(process_num)d
numprocs={workers}
numprocs_start=1
{kept}
[program:job-runner]
command={job_runner} --hostname=job-runner
{kept}
[program:demo]
command={_python("manage.py", "demo")}
autorestart=false
startsecs=0
{SHOWN}
[group:schedviz]
programs=web,worker,job-runner,demo
"""


SHOWN = """
redirect_stderr=true
stdout_events_enabled=true
stdout_logfile=NONE
"""


def _python(*arguments: str) -> str:
    # Supervisor takes a lone percent sign for the start of an expression.
    return shlex.join([sys.executable, *arguments]).replace("%", "%%")
