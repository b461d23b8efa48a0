"""When each sandbox wants its next slice. It stands in Redis, as messages of a broker get lost with their
worker.

A sorted set holds sandbox -> microseconds, by Redis's clock, so that it is one clock; no two scripts run in
the same one, so what is asked for after a slice began is never taken for earlier. Whoever sends a slice's
message moves the entry RETRY_SECONDS ahead instead of taking it away: only a slice that ended does that. So
a message lost on any way is sent again.
"""

from typing import cast

from redis import Redis

from schedviz.store.keys import PREFIX

KEY = f"{PREFIX}:due"

RETRY_SECONDS = 1.5
"""After this a slice that was asked for and has not ended is asked for again. With the heartbeat's 2 s it
makes 3.5 s from a worker's death to its takeover; shorter, and a crowd of waiting sandboxes is sent too many
messages."""

WAITING_SECONDS = 5
"""A message that waits for longer in the queue of a worker that lives is taken for lost. On a busy worker
they do wait for seconds, and sent again and again they would be most of its work."""

CLAIM_BATCH = 50
"""Sandboxes claimed at once; the rest stays for other workers, or for the next turn 50 ms later."""

_NOW = "local t = redis.call('TIME') local now = t[1] * 1000000 + t[2]\n"

_MARK = _NOW + "redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1]) return now"

_BEGIN = "redis.call('DEL', KEYS[2])\n" + _MARK

_CLAIM = (
    _NOW
    + """
local names = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
for _, name in ipairs(names) do redis.call('ZADD', KEYS[1], now + ARGV[2], name) end
return {now, names}
"""
)

_SETTLE = (
    _NOW
    + """
if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
if ARGV[3] == '' then
  redis.call('ZREM', KEYS[1], ARGV[1])
else
  redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
end
return 1
"""
)


def waiting_key(name: str) -> str:
    """Holds the worker in whose queue a message of the sandbox waits."""
    return f"{PREFIX}:waiting:{name}"


class Due:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._mark = redis.register_script(_MARK)
        self._begin = redis.register_script(_BEGIN)
        self._claim = redis.register_script(_CLAIM)
        self._settle = redis.register_script(_SETTLE)

    def mark(self, name: str) -> int:
        """A slice of the sandbox is asked for now; the time of that, in µs."""
        return cast("int", self._mark([KEY], [name, _us(RETRY_SECONDS)]))

    def begin(self, name: str) -> int:
        """A slice of the sandbox begins now, and its message waits no longer; the time of that, in µs."""
        return cast("int", self._begin([KEY, waiting_key(name)], [name, _us(RETRY_SECONDS)]))

    def claim(self) -> tuple[int, list[str]]:
        """Take the sandboxes whose time has come, to send their messages; with the time of that, in µs."""
        now, names = cast("tuple[int, list[bytes]]", self._claim([KEY], [CLAIM_BATCH, _us(RETRY_SECONDS)]))
        return now, [name.decode() for name in names]

    def settle(self, name: str, began: int, delay: float | None) -> bool:
        """The slice that began at ``began`` (what :meth:`begin` gave) has ended; the next is due in ``delay``
        seconds, None = only a wake brings one. False, and nothing changes, when it was asked for again in the
        meantime."""
        args: list[str | int] = [
            name,
            began + _us(RETRY_SECONDS),
            "" if delay is None else max(0, _us(delay)),
        ]
        return bool(self._settle([KEY], args))

    def forget(self, name: str) -> None:
        self._redis.zrem(KEY, name)


def _us(seconds: float) -> int:
    return round(seconds * 1_000_000)
