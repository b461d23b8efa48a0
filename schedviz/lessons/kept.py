"""A bounded number of values that are kept in Redis for some time: one key each, which expires, and an
index."""

from typing import Final, cast

from redis import Redis

from schedviz.store.keys import PREFIX

# KEYS: the index (a sorted set: name -> when it was last used), the key of the value, a hash: name -> whose
# it is. ARGV: its name, the value, now, the seconds for which it is kept, the number at most, the seconds for
# which none is deleted after its use, the prefix of keys, and whose it is. Reply: 0 = there are too many.
_ADD: Final = """
local now = tonumber(ARGV[3])
local function forget(name)
  redis.call('ZREM', KEYS[1], name)
  redis.call('HDEL', KEYS[3], name)
end
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[4])) do forget(name) end
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[5]) then
  local names, oldest, numbers = redis.call('ZRANGE', KEYS[1], 0, -1), {}, {}
  local most
  for _, name in ipairs(names) do
    local whose = redis.call('HGET', KEYS[3], name) or name
    oldest[whose] = oldest[whose] or name
    numbers[whose] = (numbers[whose] or 0) + 1
    if not most or numbers[whose] > numbers[most] then most = whose end
  end
  local function is_safe(name) return tonumber(redis.call('ZSCORE', KEYS[1], name)) > now - ARGV[6] end
  local chosen = oldest[most]
  if is_safe(chosen) then chosen = names[1] end
  if is_safe(chosen) then return 0 end
  redis.call('DEL', ARGV[7] .. chosen)
  forget(chosen)
end
redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[4])
redis.call('ZADD', KEYS[1], now, ARGV[1])
if ARGV[8] ~= '' then redis.call('HSET', KEYS[3], ARGV[1], ARGV[8]) end
return 1
"""


class Full(Exception):
    """All places are taken by what was used a short time ago."""


class Kept:
    """Values by name. When there are too many, a new one replaces the one that was used longest ago of
    whoever has most, unless that was within ``safe_seconds``; then the one of all."""

    def __init__(self, redis: Redis, kind: str, at_most: int, seconds: int, safe_seconds: int) -> None:
        self._redis = redis
        self._add = redis.register_script(_ADD)
        self._prefix = f"{PREFIX}:{{{kind}}}:"
        self._index = f"{self._prefix}index"
        self._whose = f"{self._prefix}whose"
        self._at_most = at_most
        self._seconds = seconds
        self._safe_seconds = safe_seconds

    def add(self, name: str, value: bytes, now: float, whose: str = "") -> None:
        """Store a value; another one of this name is replaced. now: wall seconds. whose: the owner or address
        for which it counts; "" = none is known, it counts for itself. Raises Full."""
        arguments: list[str | bytes | int] = [
            name,
            value,
            repr(now),
            self._seconds,
            self._at_most,
            self._safe_seconds,
            self._prefix,
            whose,
        ]
        if not self._add([self._index, self._prefix + name, self._whose], arguments):
            raise Full

    def find(self, name: str) -> bytes | None:
        return cast("bytes | None", self._redis.get(self._prefix + name))

    def note_used(self, name: str, now: float) -> None:
        """Keep a value for another time."""
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.expire(self._prefix + name, self._seconds)
            pipe.zadd(self._index, {name: now}, xx=True)
            pipe.execute()
