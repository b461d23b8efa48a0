"""Asking for a slice of a sandbox."""

import logging
from collections.abc import Sequence
from functools import cache
from typing import Any

from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from schedviz.celery import app, own_queue
from schedviz.loop.due import WAITING_SECONDS, Due, waiting_key
from schedviz.loop.presence import heartbeat_key
from schedviz.store import Store
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
        self._send([name], self.due.mark(name))

    def claim(self) -> None:
        """Send the messages of the sandboxes whose time has come."""
        now, names = self.due.claim()
        if names:
            self._send(names, now)

    def _send(self, names: Sequence[str], asked: int) -> None:
        """Send a message for each: to the sandbox's leader where one is alive and none waits there already,
        else to any worker."""
        holders = self._store.holders(names)
        for name in names:
            if name not in holders:
                self.due.forget(name)
        with self._store.redis.pipeline(transaction=False) as pipe:
            for name, holder in holders.items():
                pipe.exists(heartbeat_key(holder))
                pipe.get(waiting_key(name))
            replies = pipe.execute()
        for (name, holder), alive, waits_at in zip(holders.items(), replies[::2], replies[1::2], strict=True):
            if not alive:
                app.send_task(TASK, (name, asked))
            elif waits_at != holder.encode():
                # Noted first: the message may be taken at once.
                self._store.redis.set(waiting_key(name), holder, ex=WAITING_SECONDS)
                queue: Any = own_queue(holder)  # a Queue is taken too, whatever the type stubs say
                app.send_task(TASK, (name, asked), queue=queue)


@cache
def _wakes() -> Wakes:
    return Wakes(default_store())
