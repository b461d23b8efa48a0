"""A thread beside the tasks of a process that does small jobs, each at its interval."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from schedviz.store import trouble_of

log = logging.getLogger(__name__)

RETRY_SECONDS: Final = 0.25
"""Between attempts while Redis does not serve."""


class Job:
    def __init__(self, every_seconds: float, do: Callable[[], object]) -> None:
        self.every_seconds = every_seconds
        self.do = do
        self.due_at = 0.0
        """Monotonic seconds."""


class Pulse:
    def __init__(self, jobs: Sequence[Job], interrupted: Callable[[], object]) -> None:
        """Jobs that are due at the same time are done in this order. When one fails, all those that are due
        are done anew a little later. interrupted: called then."""
        self._jobs = jobs
        self._interrupted = interrupted
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pulse", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        failing = False
        while not self._stop.is_set():
            try:
                self._do_what_is_due()
                if failing:
                    log.warning("the pulse goes on")
                    failing = False
                self._stop.wait(min(job.due_at for job in self._jobs) - time.monotonic())
            except Exception as error:  # the thread must live as long as the process
                if not failing:
                    log.warning("the pulse stopped: %s", error, exc_info=trouble_of(error) is None)
                    failing = True
                self._interrupted()
                self._stop.wait(RETRY_SECONDS)

    def _do_what_is_due(self) -> None:
        for job in self._jobs:
            if time.monotonic() >= job.due_at:
                job.do()
                job.due_at = time.monotonic() + job.every_seconds
