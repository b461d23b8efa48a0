"""Which processes of a kind are alive.

A hash holds process -> the time of its last heartbeat, by Redis's clock, which is the clock by which it is
judged, too. Ages count in both directions: a heartbeat from the future is from before Redis's clock was set
back.
"""

from collections.abc import Iterable
from typing import Final, Literal, cast

from redis import Redis

from schedviz.store.keys import PREFIX
from schedviz.store.wall import seconds_of

BEAT_SECONDS: Final = 0.5
TTL_SECONDS: Final = 2.0
"""A process that has not beaten for this long is dead to the others: four beats, so that a long swap-in is no
death. It would do no harm: a worker's writes are fenced."""

NEVER: Final = 0
"""The heartbeat of a process that has stopped."""

Kind = Literal["workers", "thinkers"]

_BEAT = """
local t = redis.call('TIME')
local now = string.format('%d.%06d', t[1], t[2])
redis.call('HSET', KEYS[1], ARGV[1], now)
return now
"""


def key(kind: Kind) -> str:
    return f"{PREFIX}:heartbeats:{kind}"


class Heartbeats:
    """The heartbeats of all processes of a kind."""

    def __init__(self, redis: Redis, kind: Kind) -> None:
        self._redis = redis
        self._key = key(kind)
        self._beat = redis.register_script(_BEAT)

    def beat(self, name: str) -> float:
        """The process is alive; Redis's time of that."""
        return float(cast("bytes", self._beat([self._key], [name])))

    def stop(self, name: str) -> None:
        """The process stops: it is dead from now on. What it leaves is removed with that of the dead."""
        self._redis.hset(self._key, name, NEVER)

    def is_alive(self, name: str) -> bool:
        return name in self.living()

    def living(self) -> dict[str, float]:
        """The living by name, with how many seconds ago each has beaten."""
        return {name: age for name, age in self._ages().items() if age < TTL_SECONDS}

    def dead(self) -> list[str]:
        """The processes that died or stopped, and were not forgotten yet."""
        return [name for name, age in self._ages().items() if age >= TTL_SECONDS]

    def forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._redis.hdel(self._key, name)

    def _ages(self) -> dict[str, float]:
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.hgetall(self._key)
            pipe.time()
            beats, now = pipe.execute()
        return {name.decode(): abs(seconds_of(now) - float(beats[name])) for name in sorted(beats)}
