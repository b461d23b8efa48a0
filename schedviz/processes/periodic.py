"""A thread that calls functions at intervals, while the main thread of the process runs tasks."""

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from schedviz.store import trouble_of

log = logging.getLogger(__name__)

RETRY_SECONDS: Final = 0.25
"""Seconds between attempts while Redis does not answer."""


class PeriodicCall:
    def __init__(self, every_seconds: float, function: Callable[[], object]) -> None:
        self.every_seconds = every_seconds
        self.function = function
        self.due_at = 0.0
        """The monotonic time in seconds at which the call is due."""


STUCK_SECONDS: Final = 120.0
"""Seconds after which a call counts as stuck. A wait for Redis ends after five; the longest call deletes the
sandboxes that have ended."""

LOOKS: Final = 8
"""Looks at a call before it counts as stuck: the time in which the whole process stood still is no look."""

EXIT_STATUS: Final = 1


class PeriodicThread:
    def __init__(
        self,
        calls: Sequence[PeriodicCall],
        on_failure: Callable[[], object],
        stuck_seconds: float = STUCK_SECONDS,
    ) -> None:
        """Calls that are due at the same time are made in this order. When a call raises, all calls that are
        due are made again a little later. on_failure: called then. stuck_seconds: a call that takes longer
        ends the process, and what keeps it running starts it again: its heartbeats have ended, too."""
        self._calls = calls
        self._on_failure = on_failure
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="periodic", daemon=True)
        self._watch = threading.Thread(target=self._end_if_stuck, name="periodic watch", daemon=True)
        self._look_seconds = stuck_seconds / LOOKS
        self._calling: object = None
        """Another object for each call while it is made; None = no call is made."""

    def start(self) -> None:
        self._thread.start()
        self._watch.start()

    def request_stop(self) -> None:
        """Ask the thread to stop: no call begins after those that are due now."""
        self._stop.set()

    def stop(self) -> None:
        """Ask the thread to stop, and wait until the last call has ended."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        failing = False
        while not self._stop.is_set():
            try:
                self._make_due_calls()
                if failing:
                    log.warning("the periodic calls work again")
                    failing = False
                self._stop.wait(min(call.due_at for call in self._calls) - time.monotonic())
            except Exception as error:  # the thread must live as long as the process
                if not failing:
                    log.warning("a periodic call failed: %s", error, exc_info=trouble_of(error) is None)
                    failing = True
                self._on_failure()
                self._stop.wait(RETRY_SECONDS)

    def _make_due_calls(self) -> None:
        for call in self._calls:
            if time.monotonic() >= call.due_at:
                self._calling = object()
                try:
                    call.function()
                finally:
                    self._calling = None
                call.due_at = time.monotonic() + call.every_seconds

    def _end_if_stuck(self) -> None:
        seen, looks = None, 0
        while not self._stop.wait(self._look_seconds):
            looks = looks + 1 if self._calling is not None and self._calling is seen else 0
            seen = self._calling
            if looks >= LOOKS:
                log.critical(
                    "a periodic call has not ended for %.0f s: this process ends", looks * self._look_seconds
                )
                os._exit(EXIT_STATUS)
