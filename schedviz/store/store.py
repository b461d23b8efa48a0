"""All sandboxes of one Redis."""

import re
import time
from collections.abc import Mapping, Sequence
from typing import cast

import msgspec
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from schedviz.store.archive import Mark
from schedviz.store.bounds import MAX_SANDBOXES, TOMBSTONE_SECONDS
from schedviz.store.errors import LimitReached, NoSandbox, SandboxExists
from schedviz.store.keys import REGISTRY, Keys, objects_key
from schedviz.store.model import Clock, Meta
from schedviz.store.sandbox import Sandbox
from schedviz.store.scripts import Scripts
from simulator.api import SECOND, Change
from simulator.trace import LaneEntry

NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
"""A sandbox's name: a DNS label, as it stands in URLs and between braces in keys."""

NAME_AT_MOST = 63
"""Characters of it."""


class Store:
    """One per process; connections are made when needed and come back by themselves after Redis was away.

    Every method raises ``redis.exceptions.ConnectionError`` when Redis does not answer.
    """

    def __init__(self, redis_url: str) -> None:
        self.redis_url = redis_url
        # No retries: a commit whose answer was lost may have been stored, and must not be stored twice. (A
        # connection that died while it lay in the pool is noticed before it is used.)
        self.redis: Redis = Redis.from_url(redis_url, retry=Retry(NoBackoff(), 0))
        self._scripts = Scripts(self.redis)

    def sandboxes(self) -> list[Meta]:
        """All sandboxes, oldest first."""
        names = [name.decode() for name in cast("set[bytes]", self.redis.smembers(REGISTRY))]
        with self.redis.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.hget(Keys.of(name).state, "meta")
            # None: its creation is under way, or its deletion, or either was cut off.
            metas = [msgspec.json.decode(meta, type=Meta) for meta in pipe.execute() if meta is not None]
        return sorted(metas, key=lambda meta: (meta.created, meta.name))

    def holders(self, names: Sequence[str]) -> dict[str, str]:
        """Who holds the lease of each sandbox, "" = nobody; without those that do not exist."""
        with self.redis.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.hmget(Keys.of(name).state, ["meta", "holder"])
            states = pipe.execute()
        return {
            name: (holder or b"").decode()
            for name, (meta, holder) in zip(names, states, strict=True)
            if meta is not None
        }

    def unseen(self) -> list[str]:
        """The sandboxes whose last writes the loop has not seen yet."""
        names = sorted(name.decode() for name in cast("set[bytes]", self.redis.smembers(REGISTRY)))
        with self.redis.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.hmget(Keys.of(name).state, ["version", "seen"])
            counters = pipe.execute()
        return [
            name
            for name, (version, seen) in zip(names, counters, strict=True)
            if int(version or 0) > int(seen or 0)
        ]

    def create(
        self,
        meta: Meta,
        changes: Sequence[Change] = (),
        clock: Clock | None = None,
        *,
        lanes: Mapping[str, LaneEntry] = {},
        after: Mark | None = None,
    ) -> Sandbox:
        """Make a sandbox with its first objects, all in one commit.

        Without ``clock``, simulated time starts at the (whole) second of ``meta.created`` and runs at 1x.
        lanes: the queue's places, until a leader says better. after: where another sandbox was, whose time
        and scheduling cycles go on here.
        Raises SandboxExists, LimitReached, ValueError for a name that is no DNS label, ApiError for a change.
        """
        if not NAME.fullmatch(meta.name):
            raise ValueError(
                "a sandbox's name is at most 63 of a-z, 0-9 and -, the latter only between others"
            )
        if clock is None:
            wall = meta.created or time.time()
            clock = Clock(sim=int(wall) * SECOND, wall=wall)
        sandbox = Sandbox(self.redis, self._scripts, meta.name)
        if not self._scripts.register([REGISTRY], [meta.name, MAX_SANDBOXES]):
            raise LimitReached(f"there may be {MAX_SANDBOXES} sandboxes: delete one first")
        try:
            sandbox.commit(
                changes,
                create=(meta, clock),
                lanes=lanes,
                now=after.now if after else None,
                cycle=after.cycle if after else None,
            )
        except SandboxExists:
            raise
        except Exception:
            if not self.redis.hexists(Keys.of(meta.name).state, "meta"):  # nobody else was faster
                self.redis.srem(REGISTRY, meta.name)
            raise
        return sandbox

    def delete(self, name: str) -> None:
        """Delete a sandbox with all that is in it. Raises NoSandbox."""
        sandbox = Sandbox(self.redis, self._scripts, name)
        deleted = -1
        while deleted == -1:
            keys = [*Keys.of(name), *(objects_key(name, resource) for resource in sandbox.resources())]
            deleted = cast("int", self._scripts.delete(keys, [TOMBSTONE_SECONDS]))
        self.redis.srem(REGISTRY, name)
        if not deleted:
            raise NoSandbox(name)

    def sandbox(self, name: str) -> Sandbox:
        """Raises NoSandbox."""
        if not self.redis.hexists(Keys.of(name).state, "meta"):
            raise NoSandbox(name)
        return Sandbox(self.redis, self._scripts, name)

    def close(self) -> None:
        self.redis.close()
