"""Requests slices: marks a sandbox as due and sends the message of its next slice."""

import logging
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from redis.exceptions import RedisError

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
from schedviz.loop.slice_message import ORDER, QUEUE, encode_slice_message
from schedviz.processes.heartbeats import TTL_SECONDS, heartbeats_key
from schedviz.processes.message_queues import KEY_PREFIX, SLICES_QUEUE, list_key, own_queue_name
from schedviz.store import Store
from schedviz.store.default import default_store

log = logging.getLogger(__name__)

# KEYS: KEY, ORDER_KEY, the heartbeats of the workers, the list of the common queue; then of each sandbox the
# waiting_key and the list of its leader's own queue. ARGV: RETRY_SECONDS in microseconds, TTL_SECONDS,
# WAITING_SECONDS, KEY_PREFIX; then of each sandbox its name, its leader ("" = none) and its message. A worker
# is alive as in schedviz/processes/heartbeats.py.
#
# The message goes to the queue of the living leader, or to the common queue. At most one message of a sandbox
# waits in the queue of its leader. It has no order, because it also covers later wakes, which send no message
# while it waits.
_REQUEST: Final = (
    NEXT_ORDER
    + f"""
local function send(list, message, order)
  local filled = message:gsub('@%a+', {{['{ORDER}'] = order, ['{QUEUE}'] = list:sub(#ARGV[4] + 1)}})
  redis.call('LPUSH', list, filled)
end

for i = 5, #KEYS, 2 do
  local waiting, own, at = KEYS[i], KEYS[i + 1], 5 + (i - 5) / 2 * 3
  local name, holder, message = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  redis.call('ZADD', KEYS[1], now + ARGV[1], name)
  local order = next_order()
  local beat = redis.call('HGET', KEYS[3], holder)
  if not beat or math.abs(now / 1000000 - beat) >= tonumber(ARGV[2]) then
    send(KEYS[4], message, string.format('%.0f', order))
  elseif redis.call('GET', waiting) ~= holder then
    redis.call('SET', waiting, holder, 'EX', ARGV[3])
    send(own, message, 'null')
  end
end
"""
)


def wake(name: str, holder: str | None = None) -> None:
    """Request a slice of the sandbox now. To be called after every commit of a user. holder: of its lease, ""
    = no worker; None = it must be read.

    Does not raise: the commit is stored, and a sweep finds the sandboxes that were not woken.
    """
    try:
        _wakes().wake(name, holder)
    except RedisError as error:  # the write is answered already
        _log_failure(name, error)


def wake_many(names: Sequence[str]) -> None:
    """Wake some sandboxes, as :func:`wake` does."""
    try:
        _wakes().wake_many(names)
    except RedisError as error:  # as above
        _log_failure(", ".join(names), error)


def _log_failure(names: str, error: RedisError) -> None:
    log.warning("could not wake %s: %s", names, error)


class Wakes:
    """Marks sandboxes as due, and sends the messages of their slices."""

    def __init__(self, store: Store) -> None:
        self.due = Due(store.redis)
        self._store = store
        self._request = store.redis.register_script(_REQUEST)

    def wake(self, name: str, holder: str | None = None) -> None:
        """Request a slice of the sandbox now. It is stored with the message, so that a lost message is sent
        again. holder: see :func:`wake`."""
        if holder is None:
            self.wake_many([name])
        else:
            self._send({name: holder})

    def wake_many(self, names: Sequence[str]) -> None:
        """Wake some sandboxes, as :meth:`wake` does, with two round trips for all. Those that do not exist
        are due no more."""
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
        """Store the requests of slices, and send the message of each, in one round trip. holders: of the
        leases, by the name of the sandbox."""
        keys = [KEY, ORDER_KEY, heartbeats_key("worker"), list_key(SLICES_QUEUE)]
        values: list[str | bytes | float] = [
            microseconds(RETRY_SECONDS),
            TTL_SECONDS,
            WAITING_SECONDS,
            KEY_PREFIX,
        ]
        for name, holder in holders.items():
            keys += [waiting_key(name), list_key(own_queue_name(SLICES_QUEUE, holder))]
            values += [name, holder, encode_slice_message(name)]
        self._request(keys, values)


@cache
def _wakes() -> Wakes:
    return Wakes(default_store())
