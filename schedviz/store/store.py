"""The sandboxes in one Redis: creates, deletes and lists them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import NamedTuple, cast

from msgspec.structs import replace
from redis import Redis
from redis.backoff import NoBackoff
from redis.connection import Connection
from redis.retry import Retry

from schedviz.store import codec
from schedviz.store.archive import Mark
from schedviz.store.bounds import MAX_SANDBOXES, TOMBSTONE_SECONDS
from schedviz.store.changes import Changes, Position, Whole, read_changes, read_whole
from schedviz.store.commit import Commit
from schedviz.store.errors import LimitReached, NoSandbox, SandboxExists, Unreadable
from schedviz.store.keys import FAILING, PROBE, REGISTRY, SCHEMA, USED, Keys, objects_key
from schedviz.store.model import Clock, Meta, Summary
from schedviz.store.sandbox import Sandbox
from schedviz.store.schema import VERSION
from schedviz.store.scripts import Scripts
from schedviz.store.trouble import Trouble, trouble_of
from schedviz.store.wall import seconds_of, wall_time
from simulator.api import SECOND, Change
from simulator.decision import Decision
from simulator.trace import Event, LaneEntry

NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
"""The name of a sandbox: a DNS label, because it is part of URLs and, in braces, of keys."""

NAME_AT_MOST = 63
"""The maximum length of a name."""


class CopiedPast(NamedTuple):
    """What a new sandbox copies of one that it continues. The moments before its own beginning cannot be
    restored; their trace events and decisions can be read."""

    trace: Sequence[Event]
    decisions: Sequence[Decision]
    edits: int
    """The number of edits so far."""


class Store:
    """The sandboxes of one Redis. A process has one Store. It connects when that is needed, also after Redis
    was restarted.

    Every method raises ``redis.exceptions.ConnectionError`` if Redis does not answer.
    """

    def __init__(self, redis_url: str) -> None:
        self.redis_url = redis_url
        # No retries: a commit whose reply was lost may have been stored, and must not be stored twice. (A
        # pooled connection that was closed meanwhile is noticed before it is used.)
        self.redis: Redis = Redis.from_url(
            redis_url, retry=Retry(NoBackoff(), 0), redis_connect_func=self._connected
        )
        self.servers = 0
        """Number of starts of Redis that this process has seen. At each of them Redis may have lost its last
        second of writes."""
        self._run = b""
        self._lock = Lock()
        self._scripts = Scripts(self.redis)

    def wall(self) -> float:
        """Wall seconds since the Unix epoch, by Redis."""
        return wall_time(self.redis)

    def probe(self) -> tuple[float, Trouble | None]:
        """Try a small write. Returns the wall time, and the reason if Redis refuses writes."""
        with self.redis.pipeline(transaction=False) as pipe:
            pipe.time()
            pipe.set(PROBE, b"")
            pipe.delete(PROBE)
            now, refusal, _ = pipe.execute(raise_on_error=False)
        return seconds_of(now), trouble_of(refusal) if isinstance(refusal, Exception) else None

    def names(self) -> set[str]:
        """The names of all sandboxes, including those that are being created or deleted."""
        return {name.decode() for name in cast("set[bytes]", self.redis.smembers(REGISTRY))}

    def access_records(self) -> list[str]:
        """The access records of all sandboxes."""
        with self.redis.pipeline(transaction=False) as pipe:
            for name in self.names():
                pipe.hget(Keys.of(name).state, "access")
            return [(access or b"").decode() for access in pipe.execute()]

    def sandboxes(self) -> list[Meta]:
        """The descriptions of all sandboxes, oldest first, without those that cannot be decoded."""
        names = sorted(self.names())
        with self.redis.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.hget(Keys.of(name).state, "meta")
            stored = pipe.execute()
        metas: list[Meta] = []
        for name, meta in zip(names, stored, strict=True):
            if meta is None:
                continue  # it is being created or deleted, or the process that did so was killed
            with suppress(Unreadable):
                metas.append(codec.decode_meta(name, meta))
        return sorted(metas, key=lambda meta: (meta.created, meta.name))

    def summaries(self, counted: Sequence[str]) -> tuple[list[Summary], dict[str, str]]:
        """Summaries of all sandboxes, oldest first, with the numbers of objects of the resources ``counted``;
        and, of the sandboxes that cannot be decoded, the names with the access records. Needs two round
        trips."""
        names = sorted(self.names())
        with self.redis.pipeline(transaction=False) as pipe:
            for name in names:
                keys = Keys.of(name)
                pipe.hmget(keys.state, ["meta", "clock", "holder", "access"])
                pipe.hlen(keys.lanes)
                for resource in counted:
                    pipe.hlen(objects_key(name, resource))
            replies = iter(pipe.execute())
        found: list[Summary] = []
        unreadable: dict[str, str] = {}
        for name in names:
            meta, clock, holder, stored_access = next(replies)
            pending, *counts = (next(replies) for _ in range(1 + len(counted)))
            if meta is None:
                continue  # it is being created or deleted, or the process that did so was killed
            access = (stored_access or b"").decode()
            try:
                described, set_clock = codec.decode_meta(name, meta), codec.decode_clock(name, clock)
            except Unreadable:
                unreadable[name] = access
            else:
                by_resource = dict(zip(counted, counts, strict=True))
                found.append(Summary(described, set_clock, holder is not None, pending, by_resource, access))
        return sorted(found, key=lambda each: (each.meta.created, each.meta.name)), unreadable

    def holders(self, names: Sequence[str]) -> dict[str, str]:
        """Name of each sandbox that exists -> the holder of its lease, "" = no worker."""
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
        """The names of the sandboxes whose last writes the loop has not observed yet."""
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
        """The names of the sandboxes whose loop failed, sorted."""
        return sorted(name.decode() for name in cast("set[bytes]", self.redis.smembers(FAILING)))

    def create(
        self,
        meta: Meta,
        changes: Sequence[Change] = (),
        clock: Clock | None = None,
        *,
        lanes: Mapping[str, LaneEntry] = {},
        after: Mark | None = None,
        past: CopiedPast | None = None,
        access: str = "",
    ) -> Sandbox:
        """Create a sandbox with its first objects, in one commit.

        clock: None = simulated time begins at ``meta.created``, as a whole second, and runs at 1x. lanes: the
        queue places until the first leader stores its own. after: the mark of the sandbox that this one
        continues; None = it begins anew. past: what is copied of that sandbox. access: its access record
        (:mod:`schedviz.access.record`).
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
        self.redis.set(SCHEMA, VERSION, nx=True)  # Redis may have been emptied since the process started
        if not self._scripts.register([REGISTRY], [meta.name, MAX_SANDBOXES]):
            raise LimitReached("MAX_SANDBOXES", f"there may be {MAX_SANDBOXES} sandboxes: delete one first")
        try:
            sandbox.commit(
                Commit(
                    changes,
                    create=(meta, clock),
                    lanes=lanes,
                    now=after.now if after else None,
                    cycle=after.cycle if after else None,
                    trace=past.trace if past else (),
                    decisions=past.decisions if past else (),
                    edits=past.edits if past else None,
                    access=access,
                )
            )
        except SandboxExists:
            raise
        except Exception:
            self._unregister(meta.name)
            raise
        # A process that deleted another sandbox of this name may have removed the name meanwhile.
        self.redis.sadd(REGISTRY, meta.name)
        return sandbox

    @contextmanager
    def replacing(self, name: str) -> Iterator[str]:
        """Delete a sandbox, if there is one; the block creates another of its name, in the place that it had
        among MAX_SANDBOXES. Yields the access record of the deleted one, "" = there was none."""
        access = ""
        with suppress(NoSandbox):
            access = self.delete(name, keep_name=True)
        try:
            yield access
        except BaseException:
            self._unregister(name)
            raise

    def delete(self, name: str, *, keep_name: bool = False) -> str:
        """Delete a sandbox with everything in it. Returns its access record. keep_name: in the registry, for
        another sandbox (:meth:`replacing`). Raises NoSandbox."""
        sandbox = Sandbox(self.redis, self._scripts, name)
        deleted, access = -1, [b""]
        while deleted == -1:
            keys = [*Keys.of(name), *(objects_key(name, resource) for resource in sandbox.resources())]
            deleted, *access = cast("tuple[int, bytes]", self._scripts.delete(keys, [TOMBSTONE_SECONDS]))
        if not (deleted and keep_name):
            self._unregister(name)
        self.redis.srem(FAILING, name)
        self.redis.zrem(USED, name)
        if not deleted:
            raise NoSandbox(name)
        return access[0].decode()

    def _unregister(self, name: str) -> None:
        """Remove a name from the registry, unless a sandbox of this name was created again.

        The registry is in another slot of a Redis Cluster than the sandbox, so no script can write both. A
        creation writes the sandbox and then the name; a deletion removes the name and then looks for the
        sandbox."""
        self.redis.srem(REGISTRY, name)
        if self.redis.hexists(Keys.of(name).state, "meta"):
            self.redis.sadd(REGISTRY, name)

    def sandbox(self, name: str) -> Sandbox:
        """The sandbox of that name. Raises NoSandbox."""
        if not self.redis.hexists(Keys.of(name).state, "meta"):
            raise NoSandbox(name)
        return self.handle(name)

    def handle(self, name: str) -> Sandbox:
        """The handle of the sandbox of that name. Whether it exists is not checked."""
        return Sandbox(self.redis, self._scripts, name)

    def read_changes(self, positions: Sequence[tuple[str, Position]]) -> list[Changes]:
        """The changes of sandboxes since these positions, in one round trip. If Redis was restarted since a
        position was read, the sandbox must be read anew: Redis may have lost what the reader has."""
        found = read_changes(self.redis, self._scripts, positions)
        return [
            changes if known.server == self.servers else Changes("anew", changes.wall, known)
            for changes, (_, known) in zip(found, positions, strict=True)
        ]

    def read_whole(self, name: str, *, objects: bool = True) -> Whole:
        """Everything that a reader keeps of a sandbox, as of one revision. ``objects``: with its objects.
        Raises NoSandbox."""
        while True:
            servers = self.servers
            whole = read_whole(self.redis, name, objects=objects)
            if servers == self.servers:
                return replace(whole, position=replace(whole.position, server=servers))

    def _connected(self, connection: Connection) -> None:
        """Set up a new connection as redis-py does, and note whether Redis was restarted."""
        connection.on_connect()  # type: ignore[no-untyped-call] # redis-py's
        connection.send_command("INFO", "server")  # type: ignore[no-untyped-call] # as well
        (run,) = re.findall(rb"run_id:(\w+)", connection.read_response())
        with self._lock:
            if run != self._run:
                self._run = run
                self.servers += 1

    def close(self) -> None:
        self.redis.close()
