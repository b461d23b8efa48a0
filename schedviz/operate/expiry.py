"""The thread of a web process that deletes the sandboxes whose lifetime is over."""

import atexit

from django.conf import settings

from schedviz.processes.periodic import PeriodicCall, PeriodicThread
from schedviz.store.default import default_store
from schedviz.web.lifetime import SWEEP_SECONDS, delete_ended, lifetimes


def delete_ended_regularly() -> None:
    if not settings.SANDBOX_LIFETIME_HOURS:
        return
    call = PeriodicCall(SWEEP_SECONDS, lambda: delete_ended(default_store(), lifetimes()))
    thread = PeriodicThread([call], lambda: None)
    thread.start()
    atexit.register(thread.stop)
