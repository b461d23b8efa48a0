"""The Celery application. A task is one slice of one sandbox's loop, or one question about a sandbox; all
state lies in the store."""

import os
import warnings

from celery import Celery
from celery.exceptions import SecurityWarning
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
# A worker serves no URL: Django's system checks would load all of the web part for nothing.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

from django.conf import settings

KEY_PREFIX = "schedviz:celery:"
"""Stands before every key of the broker."""

COMMON_QUEUE = "slices"
"""For sandboxes that nobody leads: any worker takes them."""

QUESTIONS_QUEUE = "questions"
"""Why, and what if: seconds of work each. Processes of their own take them: no slice waits for one."""

WORKER_ARGUMENTS = [
    "worker",
    # One process is one core, and its memory is the cache of the sandboxes it leads: more cores, more
    # workers.
    "--pool=solo",
    # Workers need not know of each other through Celery; looking around would cost a second at the start.
    "--without-gossip",
    "--without-mingle",
    "--without-heartbeat",
    "--loglevel=WARNING",
]
"""What follows ``celery -A schedviz``, wherever a worker is started."""

THINKER_ARGUMENTS = [*WORKER_ARGUMENTS, f"--queues={QUESTIONS_QUEUE}"]
"""The same for a process that answers questions."""

# It warns of running as root because of pickle; messages are JSON here.
warnings.filterwarnings("ignore", category=SecurityWarning)

app = Celery("schedviz")
app.conf.update(
    broker_url=settings.REDIS_URL,
    broker_transport_options={"global_keyprefix": KEY_PREFIX},
    broker_connection_retry_on_startup=True,
    # Redis may be away for as long as it likes.
    broker_connection_max_retries=None,
    # A slice's outcome is in the store; nobody waits for a task's return value.
    task_ignore_result=True,
    task_default_queue=COMMON_QUEUE,
    # One message at a time: slices are short, and a killed worker must not take others' with it.
    worker_prefetch_multiplier=1,
    worker_enable_remote_control=False,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    worker_hijack_root_logger=False,
)
app.autodiscover_tasks(["schedviz.loop", "schedviz.questions", "schedviz.comparisons"])


def own_queue(worker: str) -> Queue:
    """The queue of the sandboxes that a worker leads. Bound to no exchange: messages go there by its name."""
    return Queue(f"{COMMON_QUEUE}.{worker}", exchange="", routing_key=f"{COMMON_QUEUE}.{worker}")
