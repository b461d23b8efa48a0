"""The Celery application. A task is one slice of one sandbox's loop; all state lies in the store."""

import os

from celery import Celery
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")

app = Celery("schedviz")
app.conf.update(
    broker_url=settings.REDIS_URL,
    broker_transport_options={"global_keyprefix": "schedviz:celery:"},
    broker_connection_retry_on_startup=True,
    # A slice's outcome is in the store; nobody waits for a task's return value.
    task_ignore_result=True,
    task_default_queue="slices",
    # One message at a time: slices are short, and a killed worker must not take others' with it.
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
)
app.autodiscover_tasks(["schedviz.loop"])
