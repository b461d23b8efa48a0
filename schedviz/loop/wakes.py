"""Requests slices: marks a sandbox as due and sends the message of its next slice."""

import logging
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from schedviz.celery import app
from schedviz.loop.due import WAITING_SECONDS, Due, waiting_key
from schedviz.processes.heartbeats import Heartbeats
from schedviz.processes.message_queues import SLICES_QUEUE, own_queue
from schedviz.store import Store
from schedviz.store.default import default_store

log = logging.getLogger(__name__)

TASK = "schedviz.loop.slice"
"""The task's name, so that a process that only sends the task need not import :mod:`schedviz.loop.tasks`."""


def wake(name: str) -> None:
    """Request a slice of the sandbox now. To be called after every commit of a user.

    Does not raise: the commit is stored, and a sweep finds the sandboxes that were not woken.
    """
    try:
        _wakes().wake(name)
    except (RedisError, OperationalError) as error:
        log.warning("could not wake %s: %s", name, error)


class Wakes:
    """Marks sandboxes as due, and sends the messages of their slices."""

    def __init__(self, store: Store) -> None:
        self.due = Due(store.redis)
        self._store = store
        self._workers = Heartbeats(store.redis, "worker")

    def wake(self, name: str) -> None:
        """Request a slice of the sandbox now. The store knows of it before the message is sent, so that a
        lost message is sent again."""
        self._send([name], self.due.mark(name).order)

    def claim(self) -> None:
        """Send the messages of the sandboxes that are due."""
        order, names = self.due.claim()
        if names:
            self._send(names, order)

    def _send(self, names: Sequence[str], order: int) -> None:
        """Send one message per sandbox: to the queue of its living leader, or to the common queue.

        At most one message of a sandbox waits in the queue of its leader. It has no order, because it also
        covers later wakes, which send no message while it waits."""
        holders = self._store.holders(names)
        for name in names:
            if name not in holders:
                self.due.forget(name)
        if not holders:
            return
        living = self._workers.living()
        waiting = cast("list[bytes | None]", self._store.redis.mget([waiting_key(name) for name in holders]))
        for (name, holder), waits_at in zip(holders.items(), waiting, strict=True):
            if holder not in living:
                app.send_task(TASK, (name, order))
            elif waits_at != holder.encode():
                # Set before sending: the worker may receive the message at once, and deletes the key then.
                self._store.redis.set(waiting_key(name), holder, ex=WAITING_SECONDS)
                # Any: the type stubs of Celery do not allow a Queue here, although send_task does.
                queue: Any = own_queue(SLICES_QUEUE, holder)
                app.send_task(TASK, (name, None), queue=queue)


@cache
def _wakes() -> Wakes:
    return Wakes(default_store())
