"""The Celery application. A task runs a slice of a sandbox, answers a question, or runs a turn of a
comparison. All state is in the store."""

import os
import warnings
from typing import Final

from celery import Celery
from celery.exceptions import SecurityWarning
from celery.signals import setup_logging
from click import Choice, Option

from schedviz.processes.message_queues import KEY_PREFIX, SLICES_QUEUE
from schedviz.processes.role import ROLES
from schedviz.redis_url import for_kombu, socket_options

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
# A worker serves no URL, so it need not import the views, as Django's system checks would.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

from django.conf import settings

CELERY_ARGUMENTS: Final = [
    "worker",
    # One process, which uses one core. A worker keeps the Simulations of its sandboxes in memory; start more
    # workers to use more cores.
    "--pool=solo",
    # Heartbeats in the store say which processes are alive; Celery's own search takes a second at the start.
    "--without-gossip",
    "--without-mingle",
    "--without-heartbeat",
    "--loglevel=WARNING",
]

WORKER_ARGUMENTS: Final = [*CELERY_ARGUMENTS, "--role=worker"]
"""The arguments after ``celery --app=schedviz`` that start a worker."""

JOB_RUNNER_ARGUMENTS: Final = [*CELERY_ARGUMENTS, "--role=job-runner"]
"""The arguments after ``celery --app=schedviz`` that start a job runner."""

# Celery warns about running as root because of pickle; messages are JSON here.
warnings.filterwarnings("ignore", category=SecurityWarning)

# With a receiver of this signal Celery leaves the logging as the settings have it, and does not log what is
# printed.
setup_logging.connect(lambda **_: None, weak=False)

app = Celery("schedviz")
app.conf.update(
    broker_url=for_kombu(settings.REDIS_URL),
    broker_transport_options={
        "global_keyprefix": KEY_PREFIX,
        # Without them kombu waits for ever.
        **socket_options(settings.REDIS_URL),
    },
    broker_connection_retry_on_startup=True,
    # A worker never stops trying to connect to Redis.
    broker_connection_max_retries=None,
    # A Redis that refuses writes, without memory or disk, does not end a worker either: it reconnects until
    # writes succeed.
    broker_channel_error_retry=True,
    # The results are in the store; no process waits for a task's return value.
    task_ignore_result=True,
    task_default_queue=SLICES_QUEUE,
    # One message at a time, so that a killed worker loses no messages of other sandboxes.
    worker_prefetch_multiplier=1,
    worker_enable_remote_control=False,
    worker_cancel_long_running_tasks_on_connection_loss=False,
)
app.autodiscover_tasks(["schedviz.loop", "schedviz.jobs"])
app.user_options["worker"].add(
    Option(["--role"], type=Choice(ROLES), default=ROLES[0], show_default=True, help="What the process runs.")
)
