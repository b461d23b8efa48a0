"""The Celery application. A task runs one slice of a sandbox's loop, one question about a sandbox, or a part
of a comparison. All state is in the store."""

import os
import warnings

from celery import Celery
from celery.exceptions import SecurityWarning
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
# A worker serves no URL, so it need not import the views, as Django's system checks would.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

from django.conf import settings

KEY_PREFIX = "schedviz:celery:"
"""Prefix of every key of the broker."""

COMMON_QUEUE = "slices"
"""Queue for the slices of sandboxes without a leader. All workers consume it."""

QUESTIONS_QUEUE = "questions"
"""Queue for explanations and what-if searches, which take seconds each. Other processes than the workers
consume it, so that no slice waits for one."""

WORKER_ARGUMENTS = [
    "worker",
    # Each worker is one process that uses one core and keeps the Simulations of its sandboxes in memory.
    # Start more workers to use more cores.
    "--pool=solo",
    # Workers find each other by heartbeats in the store; Celery's own search takes a second at the start.
    "--without-gossip",
    "--without-mingle",
    "--without-heartbeat",
    "--loglevel=WARNING",
]
"""The arguments after ``celery -A schedviz`` that start a worker."""

THINKER_ARGUMENTS = [*WORKER_ARGUMENTS, f"--queues={QUESTIONS_QUEUE}"]
"""The same for a process that answers questions."""

# Celery warns about running as root because of pickle; messages are JSON here.
warnings.filterwarnings("ignore", category=SecurityWarning)

app = Celery("schedviz")
app.conf.update(
    broker_url=settings.REDIS_URL,
    broker_transport_options={"global_keyprefix": KEY_PREFIX},
    broker_connection_retry_on_startup=True,
    # A worker never gives up connecting to Redis.
    broker_connection_max_retries=None,
    # A Redis that refuses writes, without memory or disk, does not end a worker either: it reconnects until
    # writes succeed.
    broker_channel_error_retry=True,
    # The results are in the store; no process waits for a task's return value.
    task_ignore_result=True,
    task_default_queue=COMMON_QUEUE,
    # One message at a time, so that a killed worker loses no messages of other sandboxes.
    worker_prefetch_multiplier=1,
    worker_enable_remote_control=False,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    worker_hijack_root_logger=False,
)
app.autodiscover_tasks(["schedviz.loop", "schedviz.questions", "schedviz.comparisons"])


def own_queue(common: str, process: str) -> Queue:
    """The queue that only this process consumes, beside the common queue of its kind. It is bound to no
    exchange: messages are routed by its name."""
    return Queue(f"{common}.{process}", exchange="", routing_key=f"{common}.{process}")
