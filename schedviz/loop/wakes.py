"""Requests slices: marks a sandbox as due and sends the message of its next slice."""

import logging
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal, cast

from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from schedviz.celery import app
from schedviz.loop.due import (
    KEY,
    NEXT_ORDER,
    ORDER_KEY,
    RETRY_SECONDS,
    WAITING_SECONDS,
    Due,
    microseconds,
    waiting_key,
)
from schedviz.processes.heartbeats import TTL_SECONDS, heartbeats_key
from schedviz.processes.message_queues import SLICES_QUEUE, own_queue
from schedviz.store import Store
from schedviz.store.default import default_store
from schedviz.tracing import context

log = logging.getLogger(__name__)

TASK = "schedviz.loop.slice"
"""The task's name, so that a process that only sends the task need not import :mod:`schedviz.loop.tasks`."""

QueueChoice = Literal["none", "own", "common"]
"""The queue for a message: none = one waits in the leader's own queue already."""

QUEUE_CHOICES: Final[tuple[QueueChoice, ...]] = ("none", "own", "common")
"""The queue choices, in the order of their numbers in _REQUEST."""

# KEYS: KEY, ORDER_KEY, the heartbeats of the workers, and the waiting_key of each sandbox. ARGV:
# RETRY_SECONDS in microseconds, TTL_SECONDS, WAITING_SECONDS, and the name and the leader of each sandbox,
# "" = none. A worker is alive as in schedviz/processes/heartbeats.py.
_REQUEST: Final = (
    NEXT_ORDER
    + """
local requested = {}
for i = 4, #KEYS do
  local name, holder = ARGV[2 * i - 4], ARGV[2 * i - 3]
  redis.call('ZADD', KEYS[1], now + ARGV[1], name)
  local queue = 0
  local beat = redis.call('HGET', KEYS[3], holder)
  if not beat or math.abs(now / 1000000 - beat) >= tonumber(ARGV[2]) then
    queue = 2
  elseif redis.call('GET', KEYS[i]) ~= holder then
    redis.call('SET', KEYS[i], holder, 'EX', ARGV[3])
    queue = 1
  end
  requested[i - 3] = {next_order(), queue}
end
return requested
"""
)


def wake(name: str, holder: str | None = None) -> None:
    """Request a slice of the sandbox now. To be called after every commit of a user. holder: of its lease, ""
    = no worker; None = it must be read.

    Does not raise: the commit is stored, and a sweep finds the sandboxes that were not woken.
    """
    try:
        _wakes().wake(name, holder)
    except Exception as error:  # whatever the broker's client raises: the write is answered already
        _log_failure(name, error)


def wake_many(names: Sequence[str]) -> None:
    """Wake some sandboxes, as :func:`wake` does."""
    try:
        _wakes().wake_many(names)
    except Exception as error:  # as above
        _log_failure(", ".join(names), error)


def _log_failure(names: str, error: Exception) -> None:
    expected = isinstance(error, (RedisError, OperationalError))
    log.warning("could not wake %s: %s", names, error, exc_info=not expected)


class Wakes:
    """Marks sandboxes as due, and sends the messages of their slices."""

    def __init__(self, store: Store) -> None:
        self.due = Due(store.redis)
        self._store = store
        self._request = store.redis.register_script(_REQUEST)

    def wake(self, name: str, holder: str | None = None) -> None:
        """Request a slice of the sandbox now. It is stored before the message is sent, so that a lost message
        is sent again. holder: see :func:`wake`."""
        if holder is None:
            self.wake_many([name])
        else:
            self._send({name: holder})

    def wake_many(self, names: Sequence[str]) -> None:
        """Wake some sandboxes, as :meth:`wake` does, with two round trips for all and one for each message.
        Those that do not exist are due no more."""
        if not names:
            return
        holders = self._store.holders(names)
        for name in names:
            if name not in holders:
                self.due.forget(name)
        if holders:
            self._send(holders)

    def claim(self) -> None:
        """Send the messages of the sandboxes that are due."""
        self.wake_many(self.due.claim())

    def _send(self, holders: Mapping[str, str]) -> None:
        """Send one message per sandbox: to the queue of its living leader, or to the common queue. holders:
        of the leases, by the name of the sandbox.

        At most one message of a sandbox waits in the queue of its leader. It has no order, because it also
        covers later wakes, which send no message while it waits."""
        trace = context()
        parent = {"parent": trace} if trace else None
        for (name, holder), (order, queue) in zip(holders.items(), self.request(holders), strict=True):
            match queue:
                case "common":
                    app.send_task(TASK, (name, order), parent)
                case "own":
                    # Any: the type stubs of Celery do not allow a Queue here, although send_task does.
                    own: Any = own_queue(SLICES_QUEUE, holder)
                    app.send_task(TASK, (name, None), parent, queue=own)

    def request(self, holders: Mapping[str, str]) -> list[tuple[int, QueueChoice]]:
        """Store the requests of slices, and return the order and the queue for the message of each. Notes
        that a message waits in the leader's own queue before it is sent there: the worker may receive it at
        once, and deletes the note then."""
        keys = [KEY, ORDER_KEY, heartbeats_key("worker"), *map(waiting_key, holders)]
        places = (part for place in holders.items() for part in place)
        found = self._request(keys, [microseconds(RETRY_SECONDS), TTL_SECONDS, WAITING_SECONDS, *places])
        return [(order, QUEUE_CHOICES[queue]) for order, queue in cast("list[list[int]]", found)]


@cache
def _wakes() -> Wakes:
    return Wakes(default_store())
