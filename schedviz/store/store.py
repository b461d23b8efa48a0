"""All sandboxes of one Redis."""

import re
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import cast

from msgspec.structs import replace
from redis import Redis
from redis.backoff import NoBackoff
from redis.connection import Connection
from redis.retry import Retry

from schedviz.store import codec
from schedviz.store.archive import Mark
from schedviz.store.bounds import MAX_SANDBOXES, TOMBSTONE_SECONDS
from schedviz.store.changes import Changes, Position, Whole, read_changes, read_whole
from schedviz.store.errors import LimitReached, NoSandbox, SandboxExists, Unreadable
from schedviz.store.keys import FAILING, PROBE, REGISTRY, SCHEMA, Keys, objects_key
from schedviz.store.model import Clock, Meta, Summary
from schedviz.store.sandbox import Sandbox
from schedviz.store.schema import VERSION
from schedviz.store.scripts import Scripts
from schedviz.store.trouble import Trouble, trouble_of
from schedviz.store.wall import seconds_of, wall_time
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
        self.redis: Redis = Redis.from_url(
            redis_url, retry=Retry(NoBackoff(), 0), redis_connect_func=self._connected
        )
        self.servers = 0
        """Counts the starts of Redis that connections met: it may have lost its last second with each."""
        self._run = b""
        self._lock = Lock()
        self._scripts = Scripts(self.redis)

    def wall(self) -> float:
        """Wall seconds since the Unix epoch, by Redis."""
        return wall_time(self.redis)

    def probe(self) -> tuple[float, Trouble | None]:
        """The wall time, and why nothing can be stored now: a small write is tried, which is refused when
        all are. Raises what redis-py raises where Redis is away."""
        with self.redis.pipeline(transaction=False) as pipe:
            pipe.time()
            pipe.set(PROBE, b"")
            pipe.delete(PROBE)
            now, refusal, _ = pipe.execute(raise_on_error=False)
        return seconds_of(now), trouble_of(refusal) if isinstance(refusal, Exception) else None

    def names(self) -> set[str]:
        """The names that are taken: of all sandboxes, and of those that are being created or deleted."""
        return {name.decode() for name in cast("set[bytes]", self.redis.smembers(REGISTRY))}

    def sandboxes(self) -> list[Meta]:
        """All sandboxes whose description can be read, oldest first."""
        return self._described()[0]

    def unreadable(self) -> list[str]:
        """The names of all other sandboxes."""
        return self._described()[1]

    def _described(self) -> tuple[list[Meta], list[str]]:
        names = sorted(self.names())
        with self.redis.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.hget(Keys.of(name).state, "meta")
            stored = pipe.execute()
        metas: list[Meta] = []
        unreadable: list[str] = []
        for name, meta in zip(names, stored, strict=True):
            if meta is None:
                continue  # its creation or its deletion is under way, or was cut off
            try:
                metas.append(codec.decode_meta(name, meta))
            except Unreadable:
                unreadable.append(name)
        return sorted(metas, key=lambda meta: (meta.created, meta.name)), unreadable

    def summaries(self, counted: Sequence[str]) -> tuple[list[Summary], list[str]]:
        """All sandboxes in short, oldest first, with how many objects they have of the resources that are
        named; and the names of those that cannot be read. Two round trips."""
        names = sorted(self.names())
        with self.redis.pipeline(transaction=False) as pipe:
            for name in names:
                keys = Keys.of(name)
                pipe.hmget(keys.state, ["meta", "clock", "holder"])
                pipe.hlen(keys.lanes)
                for resource in counted:
                    pipe.hlen(objects_key(name, resource))
            replies = iter(pipe.execute())
        found: list[Summary] = []
        unreadable: list[str] = []
        for name in names:
            meta, clock, holder = next(replies)
            pending, *counts = (next(replies) for _ in range(1 + len(counted)))
            if meta is None:
                continue  # its creation or its deletion is under way, or was cut off
            try:
                described, set_clock = codec.decode_meta(name, meta), codec.decode_clock(name, clock)
            except Unreadable:
                unreadable.append(name)
            else:
                by_resource = dict(zip(counted, counts, strict=True))
                found.append(Summary(described, set_clock, holder is not None, pending, by_resource))
        return sorted(found, key=lambda each: (each.meta.created, each.meta.name)), unreadable

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
        names = sorted(self.names())
        with self.redis.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.hmget(Keys.of(name).state, ["version", "seen"])
            counters = pipe.execute()
        return [
            name
            for name, (version, seen) in zip(names, counters, strict=True)
            if int(version or 0) > int(seen or 0)
        ]

    def failing(self) -> list[str]:
        """The sandboxes whose loop failed, by name."""
        return sorted(name.decode() for name in cast("set[bytes]", self.redis.smembers(FAILING)))

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
            wall = meta.created or self.wall()
            clock = Clock(sim=int(wall) * SECOND, wall=wall)
        sandbox = Sandbox(self.redis, self._scripts, meta.name)
        self.redis.set(SCHEMA, VERSION, nx=True)  # a Redis that was emptied since the process started
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
            self._unregister(meta.name)
            raise
        # Who deleted another sandbox of this name may have taken the name off the registry meanwhile.
        self.redis.sadd(REGISTRY, meta.name)
        return sandbox

    def delete(self, name: str) -> None:
        """Delete a sandbox with all that is in it. Raises NoSandbox."""
        sandbox = Sandbox(self.redis, self._scripts, name)
        deleted = -1
        while deleted == -1:
            keys = [*Keys.of(name), *(objects_key(name, resource) for resource in sandbox.resources())]
            deleted = cast("int", self._scripts.delete(keys, [TOMBSTONE_SECONDS]))
        self._unregister(name)
        self.redis.srem(FAILING, name)
        if not deleted:
            raise NoSandbox(name)

    def _unregister(self, name: str) -> None:
        """Take a name off the registry, unless there is a sandbox of this name again. The registry is in
        another slot of a Redis Cluster than the sandbox, so no script sees both: who makes a sandbox writes
        it and then its name, who deletes one takes the name off and then looks."""
        self.redis.srem(REGISTRY, name)
        if self.redis.hexists(Keys.of(name).state, "meta"):
            self.redis.sadd(REGISTRY, name)

    def sandbox(self, name: str) -> Sandbox:
        """Raises NoSandbox."""
        if not self.redis.hexists(Keys.of(name).state, "meta"):
            raise NoSandbox(name)
        return self.handle(name)

    def handle(self, name: str) -> Sandbox:
        """The sandbox of that name, without a look whether there is one."""
        return Sandbox(self.redis, self._scripts, name)

    def read_changes(self, positions: Sequence[tuple[str, Position]]) -> list[Changes]:
        """What is new in sandboxes since these positions, in one round trip for all of them. What was read of
        a Redis that was started anew since then may have been lost: it must be read anew."""
        found = read_changes(self.redis, self._scripts, positions)
        return [
            changes if known.server == self.servers else Changes("anew", changes.wall, known)
            for changes, (_, known) in zip(found, positions, strict=True)
        ]

    def read_whole(self, name: str, *, objects: bool = True) -> Whole:
        """All of a sandbox that readers hold, as of one revision; without its objects where these are too
        large to be held. Raises NoSandbox."""
        while True:
            servers = self.servers
            whole = read_whole(self.redis, name, objects=objects)
            if servers == self.servers:
                return replace(whole, position=replace(whole.position, server=servers))

    def _connected(self, connection: Connection) -> None:
        """A connection was made: say who we are, as redis-py does by itself, and see whether the server was
        started anew since."""
        connection.on_connect()  # type: ignore[no-untyped-call] # redis-py's
        connection.send_command("INFO", "server")  # type: ignore[no-untyped-call] # as well
        (run,) = re.findall(rb"run_id:(\w+)", connection.read_response())
        with self._lock:
            if run != self._run:
                self._run = run
                self.servers += 1

    def close(self) -> None:
        self.redis.close()
