"""Ends this process when the stored data gets a newer schema version than the process can read.

During a rolling upgrade, processes of two versions run at the same time. That is safe as long as both have
the same schema version. Before a process of the newer version migrates, it announces the migration and waits
until the processes of the older version have ended (store/schema.py).
"""

import os
import signal
import sys
import threading
from typing import Final

from redis import Redis

from schedviz.processes.periodic import PeriodicCall, PeriodicThread
from schedviz.store.schema import CHECK_SECONDS, END_SECONDS, WrongSchema, check_version

EXIT_STATUS: Final = 1


class SchemaCheck:
    """Reads the schema version at intervals. Not for processes that end by themselves."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._ending = False

    def call(self) -> PeriodicCall:
        return PeriodicCall(CHECK_SECONDS, self.run)

    def run(self) -> None:
        """End the process in order, and after END_SECONDS at once, with one line. Raises what redis-py
        raises."""
        try:
            check_version(self._redis)
        except WrongSchema as error:
            if not self._ending:
                self._ending = True
                print(f"schedviz: {error}", file=sys.__stderr__, flush=True)
                timer = threading.Timer(END_SECONDS, os._exit, (EXIT_STATUS,))
                timer.daemon = True
                timer.start()
                os.kill(os.getpid(), signal.SIGTERM)


def start_schema_check(redis: Redis) -> None:
    """Start the check in a thread, for a process that has no PeriodicThread of its own."""
    PeriodicThread([SchemaCheck(redis).call()], on_failure=lambda: None).start()
