"""Reads something of all sandboxes, or of some, at once."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, cast

from redis.client import Pipeline
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from schedviz.store import codec
from schedviz.store.cluster import Moved, following
from schedviz.store.errors import Unreadable
from schedviz.store.keys import FAILING, REGISTRY, Keys, objects_key
from schedviz.store.model import Meta, Summary
from schedviz.store.server import Server, Servers


class RegistryReader:
    """The base of :class:`schedviz.store.Store`. Sandboxes on a server that does not answer are left out, as
    long as another server answers."""

    def __init__(self, main: Server, servers: Servers) -> None:
        self.redis = main.redis
        """The main server."""
        self.servers = servers
        """The servers that have the sandboxes."""

    def names(self) -> set[str]:
        """Return the names of all sandboxes, including those that are being created or deleted."""
        return {name.decode() for name in cast("set[bytes]", self.redis.smembers(REGISTRY))}

    def access_records(self) -> dict[str, str]:
        """Return the access records of all sandboxes by name."""
        found = self._read_each(
            self.names(), lambda pipe, name: pipe.hget(Keys.of(name).state, "access"), None
        )
        return {name: (access or b"").decode() for name, access in found.items()}

    def sandboxes(self) -> list[Meta]:
        """Return the descriptions of all sandboxes, oldest first, without those that cannot be decoded."""
        return sorted(self.metas(self.names()).values(), key=lambda meta: (meta.created, meta.name))

    def metas(self, names: Iterable[str]) -> dict[str, Meta]:
        """Return the descriptions of those of these sandboxes that exist and can be decoded, by name."""
        stored = self._read_each(names, lambda pipe, name: pipe.hget(Keys.of(name).state, "meta"), None)
        metas: dict[str, Meta] = {}
        for name, meta in stored.items():
            if meta is None:
                continue  # it is being created or deleted, or its server does not answer
            with suppress(Unreadable):
                metas[name] = codec.decode_meta(name, meta)
        return metas

    def summaries(self, counted: Sequence[str]) -> tuple[list[Summary], dict[str, str]]:
        """Return the summaries of all sandboxes, oldest first, with the numbers of objects of the resources
        ``counted``; and, of the sandboxes that cannot be decoded, the names with the access records. Needs
        two round trips."""

        def read(pipe: Pipeline, name: str) -> None:
            keys = Keys.of(name)
            pipe.hmget(keys.state, ["meta", "clock", "holder", "access"])
            pipe.hlen(keys.lanes)
            for resource in counted:
                pipe.hlen(objects_key(name, resource))

        commands = 2 + len(counted)
        away = [[None] * 4, *([0] * (commands - 1))]
        found: list[Summary] = []
        unreadable: dict[str, str] = {}
        for name, replies in self._read_each(self.names(), read, away, commands).items():
            (meta, clock, holder, stored_access), pending, *counts = replies
            if meta is None:
                continue  # it is being created or deleted, or its server does not answer
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
        """Return a mapping: name of each sandbox that exists -> the holder of its lease, "" = no worker, or
        its server does not answer while others do."""
        states = self._read_each(
            names, lambda pipe, name: pipe.hmget(Keys.of(name).state, ["meta", "holder"]), (b"", b"")
        )
        return {name: (holder or b"").decode() for name, (meta, holder) in states.items() if meta is not None}

    def unseen(self) -> list[str]:
        """Return the names of the sandboxes whose last writes the loop has not observed yet."""
        counters = self._read_each(
            self.names(), lambda pipe, name: pipe.hmget(Keys.of(name).state, ["version", "seen"]), (0, 0)
        )
        return [name for name, (version, seen) in counters.items() if int(version or 0) > int(seen or 0)]

    def without_sandbox(self) -> list[str]:
        """Return the names of which there is no sandbox, without those on a server that does not answer."""
        found = self._read_each(self.names(), lambda pipe, name: pipe.hexists(Keys.of(name).state, "meta"), 1)
        return [name for name, exists in found.items() if not exists]

    def failing(self) -> list[str]:
        """Return the names of the sandboxes whose loop failed, sorted."""
        return sorted(name.decode() for name in cast("set[bytes]", self.redis.smembers(FAILING)))

    def _read_each(
        self, names: Iterable[str], read: Callable[[Pipeline, str], object], away: Any, commands: int = 1
    ) -> dict[str, Any]:
        """Return a mapping: name of each sandbox, sorted -> the reply to the command that ``read`` adds for
        it to a pipeline; a list of the replies where it adds several ``commands``. One round trip for each
        server.

        away: in place of the replies of a server that does not answer, while others do."""
        return following(lambda: self._read_groups(sorted(names), read, away, commands))

    def _read_groups(
        self, names: Sequence[str], read: Callable[[Pipeline, str], object], away: Any, commands: int
    ) -> dict[str, Any]:
        replies: dict[str, Any] = {}
        failures: list[Exception] = []
        groups = self.servers.group(names)
        for server, its_names in groups.items():
            try:
                with server.redis.pipeline(transaction=False) as pipe:
                    for name in its_names:
                        read(pipe, name)
                    found = pipe.execute()
            except Moved:
                raise
            except (RedisConnectionError, RedisTimeoutError) as error:
                failures.append(error)
                replies |= dict.fromkeys(its_names, away)
            else:
                for index, name in enumerate(its_names):
                    replies[name] = found[index] if commands == 1 else found[index * commands :][:commands]
        if failures and len(failures) == len(groups):
            raise failures[0]
        return dict(sorted(replies.items()))
