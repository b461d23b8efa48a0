"""The heartbeats of the processes of a role.

A hash holds process -> the time of its last heartbeat. This time and the present one are both read from
Redis's clock. A heartbeat from the future counts as old: it was sent before Redis's clock was set back.
"""

from collections.abc import Iterable
from typing import Final, cast

from redis import Redis

from schedviz.processes.role import Role
from schedviz.store.keys import PREFIX
from schedviz.store.wall import seconds_of

BEAT_SECONDS: Final = 0.5
TTL_SECONDS: Final = 2.0
"""A process without a heartbeat for this long counts as dead. These are four heartbeats, so that a process
that the machine swaps in is seldom taken for dead. If it is, its writes are refused by the epoch of the
lease, so nothing is lost."""

NEVER: Final = 0
"""The heartbeat of a process that has stopped."""

_BEAT = """
local t = redis.call('TIME')
local now = string.format('%d.%06d', t[1], t[2])
redis.call('HSET', KEYS[1], ARGV[1], now)
return now
"""


def heartbeats_key(role: Role) -> str:
    return f"{PREFIX}:heartbeats:{role}"


class Heartbeats:
    """The heartbeats of all processes of a role."""

    def __init__(self, redis: Redis, role: Role) -> None:
        self._redis = redis
        self._key = heartbeats_key(role)
        self._beat = redis.register_script(_BEAT)

    def beat(self, name: str) -> float:
        """Write that the process is alive. Returns the time of this heartbeat."""
        return float(cast("bytes", self._beat([self._key], [name])))

    def stop(self, name: str) -> None:
        """Write that the process stops: it counts as dead from now on."""
        self._redis.hset(self._key, name, NEVER)

    def is_alive(self, name: str) -> bool:
        return name in self.living()

    def living(self) -> dict[str, float]:
        """Return a mapping: name of each living process -> seconds since its last heartbeat."""
        return {name: age for name, age in self._ages().items() if age < TTL_SECONDS}

    def dead(self) -> list[str]:
        """Return the processes that died or stopped, and that :meth:`forget` has not removed."""
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
