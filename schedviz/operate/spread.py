"""Moves the sandboxes to the Redis servers that the setting SANDBOX_REDIS_URLS assigns them to."""

from typing import cast

from redis.exceptions import ResponseError

from schedviz.processes.heartbeats import Heartbeats
from schedviz.processes.role import ROLES
from schedviz.store import Store, schema
from schedviz.store.keys import FAILING, Keys, objects_key
from schedviz.store.sandbox import Sandbox
from schedviz.store.sandbox_servers import describe_labels, store_labels, stored_labels
from schedviz.store.server import Server, assign


class CannotSpread(Exception):
    """The error of a server whose sandboxes cannot be moved. The message gives the reason, in one line. What
    was moved before stays where it is now: the next call goes on."""


def spread_sandboxes(store: Store, emptied: Server | None = None) -> int:
    """Move each sandbox to its server, and return how many were moved. No process of schedviz may run.

    emptied: a server that the setting does not name any more, and that still has sandboxes.
    Raises CannotSpread, and what redis-py raises."""
    living = [name for role in ROLES for name in Heartbeats(store.redis, role).living()]
    if living:
        raise CannotSpread("stop the web servers, workers and job runners before sandboxes are moved")
    reached = {server.label: server for server in [*store.all_servers, *([emptied] if emptied else [])]}
    earlier = stored_labels(store)
    if missing := [label for label in earlier if label not in reached]:
        raise CannotSpread(f"there are sandboxes on {describe_labels(missing)}: give its URL with --from")
    for server in store.all_servers:
        schema.prepare(server.redis)
    sources = [reached[label] for label in earlier]
    moved = 0
    for name in sorted(store.names()):
        source, target = assign(name, sources), store.servers.of(name)
        if source is not target and source.redis.hexists(Keys.of(name).state, "meta"):
            _move(source, target, name)
            moved += 1
    store_labels(store)
    return moved


def _move(source: Server, target: Server, name: str) -> None:
    """Copy all keys of the sandbox at once, and delete them at the source then."""
    resources = Sandbox(source.redis, source.scripts, name).resources()
    keys = [*Keys.of(name), *(objects_key(name, resource) for resource in resources)]
    with source.redis.pipeline(transaction=True) as pipe:
        for key in keys:
            pipe.dump(key)
        dumps = cast("list[bytes | None]", pipe.execute())
    try:
        with target.redis.pipeline(transaction=True) as pipe:
            for key, dump in zip(keys, dumps, strict=True):
                if dump is not None:
                    pipe.restore(key, 0, dump, replace=True)
            pipe.execute()
    except ResponseError as error:
        raise CannotSpread(
            f"{describe_labels([target.label])} does not take sandbox {name} ({error}): it needs the version "
            "of the other one or a newer one, and the right to the command RESTORE"
        ) from error
    if source.redis.sismember(FAILING, name):
        target.redis.sadd(FAILING, name)
    source.redis.srem(FAILING, name)
    source.redis.delete(*keys)
