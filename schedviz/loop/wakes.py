"""Asking for a slice of a sandbox."""

import logging
from functools import cache
from typing import Any

from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from schedviz.celery import app, own_queue
from schedviz.loop.due import Due
from schedviz.loop.presence import heartbeat_key
from schedviz.store import NoSandbox, Store
from schedviz.store.default import default_store

log = logging.getLogger(__name__)

TASK = "schedviz.loop.slice"
"""The task's name: who only asks for slices need not load what runs them."""


def wake(name: str) -> None:
    """Have a worker run a slice of the sandbox now. Call it after every commit of a user's.

    It never fails: what is committed is committed, and a sweep finds a sandbox that was not woken.
    """
    try:
        _wakes().wake(name)
    except (RedisError, OperationalError) as error:
        log.warning("could not wake %s: %s", name, error)


class Wakes:
    def __init__(self, store: Store) -> None:
        self.due = Due(store.redis)
        self._store = store

    def wake(self, name: str) -> None:
        """As above. The wake is marked in the store before its message is sent: a lost message is sent
        again."""
        self.send(name, self.due.mark(name))

    def claim(self) -> None:
        """Send the messages of the sandboxes whose time has come."""
        now, names = self.due.claim()
        for name in names:
            self.send(name, now)

    def send(self, name: str, asked: int) -> None:
        """Send the message of a slice: to the sandbox's leader where one is alive, else to any worker."""
        try:
            lease = self._store.sandbox(name).lease()
        except NoSandbox:
            self.due.forget(name)
            return
        if lease and self._store.redis.exists(heartbeat_key(lease.holder)):
            queue: Any = own_queue(lease.holder)  # a Queue is taken too, whatever the type stubs say
            app.send_task(TASK, (name, asked), queue=queue)
        else:
            app.send_task(TASK, (name, asked))


@cache
def _wakes() -> Wakes:
    return Wakes(default_store())
