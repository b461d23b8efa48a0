"""The metrics of a web process, and the thread that adds them to those of all."""

import atexit
from functools import cache

from schedviz.processes.periodic import PeriodicCall, PeriodicThread
from schedviz.processes.process_name import make_process_name
from schedviz.processes.shared_metrics import WRITE_SECONDS, SharedMetrics
from schedviz.store.default import default_store


@cache
def web_metrics() -> SharedMetrics:
    return SharedMetrics(default_store().redis, "web", make_process_name())


def write_regularly() -> None:
    """Add the metrics of this process every few seconds, and a last time at its end."""
    metrics = web_metrics()
    thread = PeriodicThread([PeriodicCall(WRITE_SECONDS, metrics.write)], lambda: None)
    thread.start()
    atexit.register(metrics.stop)
    atexit.register(thread.stop)
