"""A process that has imported all that a worker needs. It forks for each line that it reads, which has the
name of a worker and that of a sandbox. The fork is this worker, and runs slices of the sandbox until none is
due at once. The process prints the id of the fork, and its exit status when it has ended."""

import os
import sys
from contextlib import suppress

from django.conf import settings
from redis.exceptions import RedisError

from schedviz.loop import driver
from schedviz.loop.due import KEY
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.store import Store
from simulator.simulation import Simulation

WHOLE_SECONDS = 60
"""The time limit of a slice, so long that it sends the same commands on each machine."""


def work(worker: str, sandbox: str) -> None:
    store = Store(settings.REDIS_URL)
    presence = Presence(store, worker)
    wakes = Wakes(store)
    leader = driver.Driver(store, wakes, presence, Simulation)
    while True:
        with suppress(RedisError):  # it is tried again
            presence.beat()
            due = store.redis.zscore(KEY, sandbox)
            if due is None or due > 1e6 * store.wall():
                return
            leader.slice(sandbox, wakes.due.mark(sandbox).order)


if __name__ == "__main__":
    driver.SLICE_SECONDS = WHOLE_SECONDS
    for line in sys.stdin:
        child = os.fork()
        if not child:
            work(*line.split())
            os._exit(0)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
