"""The thread beside a worker's slices: it says that the worker lives, and finds the sandboxes whose time has
come.

Any worker's pulse sends for any sandbox; the message goes to the one that leads it.
"""

import logging
import os
import threading
import time

from redis.exceptions import RedisError

from schedviz.celery import COMMON_QUEUE, KEY_PREFIX, own_queue
from schedviz.loop.driver import Driver
from schedviz.loop.presence import BEAT_SECONDS, Presence
from schedviz.loop.wakes import Wakes
from schedviz.store import Store
from schedviz.store.keys import PREFIX

log = logging.getLogger(__name__)

POLL_SECONDS = 0.05
"""How late a wake may be: one frame of the screen, at 20 a second."""

SWEEP_SECONDS = 2.0
"""Between two looks for sandboxes that were written but not woken (a writer that died in between)."""

SWEEP_TURN = f"{PREFIX}:sweep"
"""Held for SWEEP_SECONDS by the worker that swept last: one sweep does for all."""

STUCK_SECONDS = 4.0
"""A worker that has been idle for this long while messages wait is stuck. Celery itself needs 2 s to come
back to a Redis that was away."""

RETRY_SECONDS = 0.25
"""Between attempts while Redis is away."""


class Pulse:
    def __init__(self, store: Store, wakes: Wakes, presence: Presence, driver: Driver) -> None:
        self._store = store
        self._wakes = wakes
        self._presence = presence
        self._driver = driver
        self._queues = [f"{KEY_PREFIX}{name}" for name in (COMMON_QUEUE, own_queue(presence.worker).name)]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pulse", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        try:
            self._presence.leave()
        except RedisError as error:
            log.warning("could not take leave: %s", error)

    def _run(self) -> None:
        beat_at = 0.0
        reachable = True
        while not self._stop.is_set():
            try:
                if time.monotonic() >= beat_at:
                    self._check_consumer()
                    self._presence.beat()
                    beat_at = time.monotonic() + BEAT_SECONDS
                    self._sweep()
                self._wakes.claim()
                if not reachable:
                    log.warning("Redis answers again")
                    reachable = True
                self._stop.wait(POLL_SECONDS)
            except Exception as error:  # the thread must live as long as the worker
                if reachable:
                    log.warning("the pulse faltered: %s", error, exc_info=not isinstance(error, RedisError))
                    reachable = False
                self._stop.wait(RETRY_SECONDS)

    def _check_consumer(self) -> None:
        """End the process if it does not take its messages any more. After a second loss of Redis in short
        order a Celery worker can do so for ever (seen with kombu 5.7): another one takes over, a supervisor
        starts it again.
        """
        idle_since = self._driver.idle_since
        if idle_since is None or time.monotonic() - idle_since < STUCK_SECONDS:
            return
        if any(self._store.redis.llen(queue) for queue in self._queues):
            log.critical("messages wait, and this worker does not take them: it ends, to be started again")
            self._presence.leave()
            os._exit(1)

    def _sweep(self) -> None:
        turn = self._store.redis.set(
            SWEEP_TURN, self._presence.worker, nx=True, px=round(SWEEP_SECONDS * 1000)
        )
        if not turn:
            return
        for name in self._store.unseen():
            self._wakes.wake(name)
        for worker in self._presence.bury():
            # Its messages were marked in the store as well, and go to other queues from there.
            self._store.redis.delete(f"{KEY_PREFIX}{own_queue(worker).name}")
