"""The sandboxes in Redis: creates, deletes and lists them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple, cast

from msgspec.structs import replace

from schedviz.store.archive import Mark
from schedviz.store.bounds import MAX_SANDBOXES, TOMBSTONE_SECONDS
from schedviz.store.changes import Changes, Position, Whole, read_changes, read_whole
from schedviz.store.cluster import Cluster, following
from schedviz.store.commit import Commit
from schedviz.store.errors import Held, LimitReached, NoSandbox, SandboxExists, Unreadable
from schedviz.store.hold import Hold, is_hold_of
from schedviz.store.keys import FAILING, REGISTRY, SCHEMA, USED, Keys, hold_key, objects_key
from schedviz.store.model import Clock, Meta
from schedviz.store.registry_reader import RegistryReader
from schedviz.store.sandbox import Sandbox
from schedviz.store.schema import VERSION
from schedviz.store.server import Server, Servers
from schedviz.store.trouble import Trouble
from schedviz.store.wall import wall_time
from simulator.api import SECOND, Change
from simulator.decision import Decision
from simulator.trace import Event, QueuePlace

NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
"""The name of a sandbox: a DNS label, because it is part of URLs and, in braces, of keys."""

NAME_AT_MOST = 63
"""The maximum length of a name."""


class CopiedPast(NamedTuple):
    """The data that a new sandbox copies of one that it continues. The moments before its own beginning
    cannot be restored; their trace events and decisions can be read."""

    trace: Sequence[Event]
    decisions: Sequence[Decision]
    edits: int
    """The number of edits so far."""


class Store(RegistryReader):
    """The sandboxes of one Redis, or of a Redis Cluster. A process has one Store. It connects when that is
    needed, also after a Redis was restarted.

    Every method raises ``redis.exceptions.ConnectionError`` if a Redis that it needs does not answer.
    """

    def __init__(self, redis_url: str, cluster_urls: Sequence[str] = ()) -> None:
        """redis_url: of the main server. cluster_urls: of some nodes of the Redis Cluster that has the
        sandboxes; none = the main server has them."""
        main = Server("", redis_url)
        super().__init__(main, Cluster(cluster_urls) if cluster_urls else Servers(main))
        self.redis_url = redis_url
        self.has_cluster = bool(cluster_urls)
        self.main = main

    @property
    def all_servers(self) -> list[Server]:
        """The main server, and those of the sandboxes."""
        return [self.main, *(server for server in self.servers.all if server is not self.main)]

    def wall(self) -> float:
        """Return the wall seconds since the Unix epoch, by Redis."""
        return wall_time(self.redis)

    def probe(self) -> tuple[float, Trouble | None]:
        """Try a small write on the main server. Returns the wall time, and the reason if it refuses
        writes."""
        return self.main.probe()

    def create(
        self,
        meta: Meta,
        changes: Sequence[Change] = (),
        clock: Clock | None = None,
        *,
        queue_places: Mapping[str, QueuePlace] = {},
        after: Mark | None = None,
        past: CopiedPast | None = None,
        access: str = "",
        version: int | None = None,
    ) -> Sandbox:
        """Create a sandbox with its first objects, in one commit.

        clock: None = simulated time begins at ``meta.created``, as a whole second, and runs at 1x.
        queue_places: the queue that the first leader continues. after: the mark of the sandbox that this
        one continues; None = it begins again. past: what is copied of that sandbox. access: its access record
        (:mod:`schedviz.access.record`). version: the version before the first write, at least.
        Raises SandboxExists, LimitReached, ValueError for a name that is no DNS label, ApiError for a change.
        """
        if not NAME.fullmatch(meta.name):
            raise ValueError(
                "a sandbox's name is at most 63 of a-z, 0-9 and -, the latter only between others"
            )
        if clock is None:
            wall = meta.created or self.wall()
            clock = Clock(sim=int(wall) * SECOND, wall=wall)
        sandbox = self.handle(meta.name)
        self.redis.set(SCHEMA, VERSION, nx=True)  # Redis may have been emptied since the process started
        if not self.main.scripts.register([REGISTRY], [meta.name, MAX_SANDBOXES]):
            raise LimitReached("MAX_SANDBOXES", f"there may be {MAX_SANDBOXES} sandboxes: delete one first")
        try:
            sandbox.commit(
                Commit(
                    changes,
                    create=(meta, clock),
                    queue_places=queue_places,
                    now=after.now if after else None,
                    cycle=after.cycle if after else None,
                    trace=past.trace if past else (),
                    decisions=past.decisions if past else (),
                    edits=past.edits if past else None,
                    access=access,
                    version=version,
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
        among MAX_SANDBOXES. Yields the access record of the deleted one, "" = there was none. Raises Held."""
        access = ""
        with suppress(NoSandbox, Unreadable):
            if self.hold(name).refuses():
                raise Held(name)
        with suppress(NoSandbox):
            access = self.delete(name, keep_name=True)
        try:
            yield access
        except BaseException:
            self._unregister(name)
            raise

    def hold(self, name: str) -> Hold:
        """Return the hold of a presenter on the sandbox of that name."""
        return Hold(self.servers.of(name).redis, name, lambda: self.handle(name).meta().created)

    def held_among(self, metas: Iterable[Meta]) -> set[str]:
        """Return the names of those sandboxes that a presenter holds, in one round trip for each server."""
        born = {meta.name: meta.created for meta in metas}
        values = self._read_each(born, lambda pipe, name: pipe.get(hold_key(name)), None)
        return {name for name, value in values.items() if is_hold_of(value, born[name])}

    def end_holds(self, names: Iterable[str]) -> None:
        """End the holds of these sandboxes, in one round trip for each server."""
        self._read_each(names, lambda pipe, name: pipe.delete(hold_key(name)), 0)

    def delete(self, name: str, *, keep_name: bool = False) -> str:
        """Delete a sandbox with everything in it. Returns its access record. keep_name: in the registry, for
        another sandbox (:meth:`replacing`). Raises NoSandbox.

        One script takes all of its keys away; Redis frees their memory in a thread of its own, so that a
        sandbox of any size takes it some milliseconds. If the process ends after that,
        :meth:`finish_deletions` removes the name."""
        sandbox, server = self.handle(name), self.servers.of(name)
        deleted, access = -1, [b""]
        while deleted == -1:
            keys = [*Keys.of(name), *(objects_key(name, resource) for resource in sandbox.resources())]
            deleted, *access = cast("tuple[int, bytes]", server.scripts.delete(keys, [TOMBSTONE_SECONDS]))
        self._forget(name, keep_name=bool(deleted) and keep_name)
        if not deleted:
            raise NoSandbox(name)
        return access[0].decode()

    def finish_deletions(self) -> None:
        """Remove the names of sandboxes whose deletion, or creation, was interrupted. One that is being
        created gets its name again."""
        for name in self.without_sandbox():
            self._forget(name)

    def _forget(self, name: str, *, keep_name: bool = False) -> None:
        """Remove what is stored of a deleted sandbox beside its keys; its name last."""
        self.redis.srem(FAILING, name)
        self.redis.zrem(USED, name)
        if not keep_name:
            self._unregister(name)

    def _unregister(self, name: str) -> None:
        """Remove a name from the registry, unless a sandbox of this name was created again.

        The registry may be on another server than the sandbox, so no script can write both. A creation writes
        the sandbox and then the name; a deletion removes the name and then looks for the sandbox."""
        self.redis.srem(REGISTRY, name)
        if self.exists(name):
            self.redis.sadd(REGISTRY, name)

    def sandbox(self, name: str) -> Sandbox:
        """Return the sandbox of that name. Raises NoSandbox."""
        if not self.exists(name):
            raise NoSandbox(name)
        return self.handle(name)

    def handle(self, name: str) -> Sandbox:
        """Return the handle of the sandbox of that name. Whether it exists is not checked."""
        server = self.servers.of(name)
        return Sandbox(server.redis, server.scripts, name, self.redis)

    def starts(self, name: str) -> int:
        """Return :meth:`Servers.starts` of this sandbox."""
        return self.servers.starts(name)

    def read_changes(self, positions: Sequence[tuple[str, Position]]) -> list[Changes]:
        """Return the changes of sandboxes since these positions, in one round trip for each server. If it was
        restarted since a position was read, the sandbox must be read again: it may have lost what the reader
        has."""
        known = dict(positions)
        found: dict[str, Changes] = {}

        def read() -> None:
            for server, names in self.servers.group(known.keys() - found.keys()).items():
                changes = read_changes(server.redis, server.scripts, [(name, known[name]) for name in names])
                for name, change in zip(names, changes, strict=True):
                    is_same_start = known[name].server == self.starts(name)
                    found[name] = (
                        change if is_same_start else replace(change, outcome="anew", position=known[name])
                    )

        following(read)
        return [found[name] for name, _ in positions]

    def read_whole(self, name: str, *, objects: bool = True) -> Whole:
        """Read all that a reader keeps of a sandbox, as of one revision. ``objects``: with its objects.
        Raises NoSandbox."""
        while True:
            starts = self.starts(name)
            whole = following(lambda: read_whole(self.servers.of(name).redis, name, objects=objects))
            if starts == self.starts(name):
                return replace(whole, position=replace(whole.position, server=starts))

    def exists(self, name: str) -> bool:
        """Whether there is a sandbox of that name."""
        return following(lambda: bool(self.servers.of(name).redis.hexists(Keys.of(name).state, "meta")))

    def close(self) -> None:
        self.servers.close()
        self.redis.close()
