"""The scheduling loop on Celery workers, in slices under a lease.

``driver.py`` runs a slice; start to read there. ``leader.py`` takes in what was written and steps the
Simulation, ``player.py`` as far as the clock allows. ``write_batch.py`` sends several commits together.
``due.py`` has when each sandbox wants its next slice, so a lost message is sent again. A leader keeps its
lease while its worker sends heartbeats. ``sharing.py`` gives sandboxes to a worker that has less to do.
"""

from schedviz.loop.doorbell import ring
from schedviz.loop.wakes import wake

__all__ = ["ring", "wake"]
