"""The scheduling loop on Celery workers, in slices under a lease. Start to read at
:mod:`schedviz.loop.driver`."""

from schedviz.loop.doorbell import ring
from schedviz.loop.wakes import wake

__all__ = ["ring", "wake"]
