"""Requests slices: marks a sandbox as due and sends the message of its next slice."""

import logging
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal, cast

from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from schedviz.celery import app
from schedviz.loop.due import WAITING_SECONDS, Due, waiting_key
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
"""The queue choices, in the order of their numbers in _CHOOSE."""

# KEYS: the heartbeats of the workers, and the waiting_key of each sandbox. ARGV: TTL_SECONDS,
# WAITING_SECONDS, and the leader of each sandbox, "" = none. A worker is alive as in
# schedviz/processes/heartbeats.py.
_CHOOSE: Final = """
local t = redis.call('TIME')
local now = t[1] + t[2] / 1000000
local chosen = {}
for i = 2, #KEYS do
  local holder = ARGV[i + 1]
  local beat = redis.call('HGET', KEYS[1], holder)
  if not beat or math.abs(now - beat) >= tonumber(ARGV[1]) then
    chosen[i - 1] = 2
  elseif redis.call('GET', KEYS[i]) == holder then
    chosen[i - 1] = 0
  else
    redis.call('SET', KEYS[i], holder, 'EX', ARGV[2])
    chosen[i - 1] = 1
  end
end
return chosen
"""


def wake(name: str) -> None:
    """Request a slice of the sandbox now. To be called after every commit of a user.

    Does not raise: the commit is stored, and a sweep finds the sandboxes that were not woken.
    """
    try:
        _wakes().wake(name)
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
        self._choose = store.redis.register_script(_CHOOSE)

    def wake(self, name: str) -> None:
        """Request a slice of the sandbox now. It is stored before the message is sent, so that a
        lost message is sent again."""
        self._send({name: self.due.mark(name).order})

    def wake_many(self, names: Sequence[str]) -> None:
        """Wake some sandboxes, as :meth:`wake` does, with a few round trips for all and one for each
        message."""
        self._send(self.due.mark_many(names))

    def claim(self) -> None:
        """Send the messages of the sandboxes that are due."""
        order, names = self.due.claim()
        self._send(dict.fromkeys(names, order))

    def _send(self, orders: Mapping[str, int]) -> None:
        """Send one message per sandbox: to the queue of its living leader, or to the common queue. orders: of
        the requests, by the name of the sandbox.

        At most one message of a sandbox waits in the queue of its leader. It has no order, because it also
        covers later wakes, which send no message while it waits."""
        if not orders:
            return
        holders = self._store.holders([*orders])
        for name in orders:
            if name not in holders:
                self.due.forget(name)
        if not holders:
            return
        trace = context()
        parent = {"parent": trace} if trace else None
        for name, queue in self._queues(holders).items():
            match queue:
                case "common":
                    app.send_task(TASK, (name, orders[name]), parent)
                case "own":
                    # Any: the type stubs of Celery do not allow a Queue here, although send_task does.
                    own: Any = own_queue(SLICES_QUEUE, holders[name])
                    app.send_task(TASK, (name, None), parent, queue=own)

    def _queues(self, holders: Mapping[str, str]) -> dict[str, "QueueChoice"]:
        """Return the queue for the message of each sandbox. Notes that a message waits in the leader's own
        queue before it is sent there: the worker may receive it at once, and deletes the note then."""
        keys = [heartbeats_key("worker"), *(waiting_key(name) for name in holders)]
        chosen = self._choose(keys, [TTL_SECONDS, WAITING_SECONDS, *holders.values()])
        return dict(
            zip(holders, (QUEUE_CHOICES[number] for number in cast("list[int]", chosen)), strict=True)
        )


@cache
def _wakes() -> Wakes:
    return Wakes(default_store())
