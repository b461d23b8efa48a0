"""The times at which the next slices of sandboxes are due. The times are stored in Redis, because a broker
loses the messages of a worker that dies.

A sorted set maps sandbox -> microseconds by Redis's clock. Requests and slices are also numbered; the number
only grows, and decides whether a request came after the beginning of a slice. A process that sends the
message of a slice moves the entry RETRY_SECONDS ahead; only the end of the slice removes it. So a message
that is lost is sent again.
"""

from typing import Final, NamedTuple, cast

from redis import Redis

from schedviz.store.keys import PREFIX

KEY = f"{PREFIX}:due"
ORDER_KEY = f"{PREFIX}:due:order"
"""The last order number. It is at least Redis's time in microseconds, so that a Redis that lost its last
second of writes still returns greater numbers."""

RETRY_SECONDS = 1.5
"""Seconds after which a slice that has not ended gets another message. With the heartbeat's 2 s, another
worker takes over 3.5 s after a worker's death. With a shorter time, a busy worker would get too many
messages."""

WAITING_SECONDS = 5
"""A message that waits for longer in the queue of a living worker counts as lost. On a busy worker messages
wait for seconds; without this bound it would mostly process repeated messages."""

CLAIM_BATCH = 50
"""Maximum number of sandboxes that one call claims; other workers, or the next call 50 ms later, claim the
rest."""

_NOW: Final = """
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
"""

NEXT_ORDER: Final = (
    _NOW
    + """
local function next_order()
  local order = math.max(now, tonumber(redis.call('GET', KEYS[2]) or '0') + 1)
  redis.call('SET', KEYS[2], string.format('%.0f', order))
  return order
end
"""
)
"""Lua: ``now``, and the function that returns the next order. KEYS begin with KEY and ORDER_KEY."""

_MARK = NEXT_ORDER + "redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1]) return {next_order(), now}"

_BEGIN = "redis.call('DEL', KEYS[3])\n" + _MARK

_CLAIM = (
    _NOW
    + """
local names = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
for _, name in ipairs(names) do redis.call('ZADD', KEYS[1], now + ARGV[2], name) end
return names
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

_BRING_FORWARD = (
    _NOW
    + """
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. string.format('%.0f', now), '+inf')) do
  redis.call('ZADD', KEYS[1], now, name)
end
"""
)


class SliceTime(NamedTuple):
    """The time at which a slice was requested or began."""

    order: int
    """The order number: greater than all earlier ones, even if Redis's clock was set back."""
    at: int
    """The time in microseconds, by Redis's clock."""


def waiting_key(name: str) -> str:
    """Return the key whose value is the worker in whose queue a message of the sandbox waits."""
    return f"{PREFIX}:waiting:{name}"


class Due:
    """The sorted set of due times, and the order numbers."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._mark = redis.register_script(_MARK)
        self._begin = redis.register_script(_BEGIN)
        self._claim = redis.register_script(_CLAIM)
        self._settle = redis.register_script(_SETTLE)
        self._bring_forward = redis.register_script(_BRING_FORWARD)

    def mark(self, name: str) -> SliceTime:
        """Request a slice of the sandbox now."""
        return SliceTime(
            *cast("list[int]", self._mark([KEY, ORDER_KEY], [name, microseconds(RETRY_SECONDS)]))
        )

    def begin(self, name: str) -> SliceTime:
        """Note that a slice of the sandbox begins now, and that its message no longer waits."""
        keys = [KEY, ORDER_KEY, waiting_key(name)]
        return SliceTime(*cast("list[int]", self._begin(keys, [name, microseconds(RETRY_SECONDS)])))

    def claim(self) -> list[str]:
        """Return the sandboxes that are due, at most CLAIM_BATCH. The caller wakes them."""
        found = self._claim([KEY], [CLAIM_BATCH, microseconds(RETRY_SECONDS)])
        return [name.decode() for name in cast("list[bytes]", found)]

    def bring_forward(self) -> None:
        """Make all sandboxes due now. To be called when the sandboxes' clocks were moved: their due times
        were computed from the old clocks."""
        self._bring_forward([KEY])

    def settle(self, name: str, began: SliceTime, delay: float | None) -> bool:
        """Note that the slice that began at ``began`` (the result of :meth:`begin`) has ended. The next slice
        is due in ``delay`` seconds; None = at the next wake. Returns False and changes nothing if another
        slice was requested meanwhile."""
        args: list[str | int] = [
            name,
            began.at + microseconds(RETRY_SECONDS),
            "" if delay is None else max(0, microseconds(delay)),
        ]
        return bool(self._settle([KEY], args))

    def forget(self, name: str) -> None:
        self._redis.zrem(KEY, name)


def microseconds(seconds: float) -> int:
    return round(seconds * 1_000_000)
