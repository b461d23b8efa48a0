"""Writes a backup into Redis. The whole file is read and checked before anything is written."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from redis import Redis
from redis.exceptions import ResponseError

from schedviz.loop.due import Due
from schedviz.loop.move_clock import move_clock
from schedviz.operate.backup.backup_file import (
    FORMAT,
    BadBackup,
    End,
    Group,
    Header,
    Index,
    read_records,
)
from schedviz.processes.heartbeats import Heartbeats
from schedviz.processes.role import ROLES
from schedviz.rooms.room_store import PLACES
from schedviz.store import Store, schema
from schedviz.store.errors import WrongServers
from schedviz.store.keys import Keys, objects_key
from schedviz.store.sandbox_servers import check_sandbox_servers, store_place

NAMED: Final = 3


class Refused(Exception):
    """The error that is raised when nothing was written. Its message gives the reason in one line."""


def restore_backup(store: Store, path: Path, *, overwrite: bool = False) -> int:
    """Write the backup and return the number of sandboxes. ``overwrite``: replace what is there under the
    same names. Raises Refused, BadBackup, OSError, and what redis-py raises."""
    _check(store, path, overwrite=overwrite)
    schema.prepare(store.redis)
    store_place(store)
    sandboxes = 0
    for record in read_records(path):
        if isinstance(record, Group):
            _restore_group(store, record)
            sandboxes += bool(record.sandbox)
        elif isinstance(record, Index):
            _restore_index(store, record)
    return sandboxes


def _check(store: Store, path: Path, *, overwrite: bool) -> None:
    records = read_records(path)
    header = next(records)
    if not isinstance(header, Header) or header.format != FORMAT:
        raise BadBackup(f"{path} is no backup that this schedviz reads")
    if header.schema != schema.VERSION:
        raise Refused(
            f"the backup has schema version {header.schema}, and this schedviz {schema.VERSION}: restore it "
            "with the schedviz that wrote it, and let a newer one migrate it then"
        )
    try:
        schema.check_version(store.redis)
        store.servers.connect()
        check_sandbox_servers(store)
    except (schema.WrongSchema, WrongServers) as error:
        raise Refused(str(error)) from None
    living = [name for role in ROLES for name in Heartbeats(store.redis, role).living()]
    if overwrite and living:
        raise Refused("stop the web servers, workers and job runners before sandboxes are overwritten")
    existing = [] if overwrite else _existing(store, records)
    if existing:
        raise Refused(
            f"Redis has {', '.join(existing)} already: restore into an empty Redis, or overwrite it "
            "(--overwrite)"
        )
    for _ in records:  # raises BadBackup where the file is cut off
        pass


def _existing(store: Store, records: Iterator[object]) -> list[str]:
    """Return the names of some that are in the backup and in Redis. Reads all records unless there are
    any."""
    found: list[str] = []
    for record in records:
        if isinstance(record, Group) and record.sandbox:
            # Of a deleted sandbox the counters are kept for a while.
            found += [f"sandbox {record.sandbox}"] * store.exists(record.sandbox)
        elif isinstance(record, Group):
            found += [key.name.decode() for key in record.keys if store.redis.exists(key.name)]
        if len(found) >= NAMED or isinstance(record, End):
            return found[:NAMED]
    return found


def _restore_group(store: Store, group: Group) -> None:
    """Write the keys at once. The time since the backup has not passed in the sandbox."""
    now = store.wall()
    replaced = _keys_of(store, group.sandbox) if group.sandbox else []
    try:
        with _redis_of(store, group).pipeline(transaction=True) as pipe:
            if replaced:
                pipe.delete(*replaced)
            for key in group.keys:
                if not key.expires or key.expires > now * 1000:
                    pipe.restore(key.name, key.expires, key.value, replace=True, absttl=bool(key.expires))
            pipe.execute()
    except ResponseError as error:
        raise BadBackup(
            f"Redis does not take {group.sandbox or 'a key'} of the backup ({error}): it needs the version "
            "of Redis that wrote it or a newer one, and the right to the command RESTORE"
        ) from error
    if group.sandbox:
        move_clock(store, group.sandbox, group.at)
        Due(store.redis).mark(group.sandbox)


def _redis_of(store: Store, group: Group) -> Redis:
    """Return the server that has the group's keys now: another one than in the backup, perhaps."""
    return store.servers.of(group.sandbox).redis if group.sandbox else store.redis


def _keys_of(store: Store, name: str) -> list[str]:
    """Return the keys of the sandbox of this name, if there is one: it may have kinds of objects that the
    backup has not."""
    return [*Keys.of(name), *(objects_key(name, resource) for resource in store.handle(name).resources())]


def _restore_index(store: Store, index: Index) -> None:
    if index.key == PLACES:
        if index.members:
            store.redis.zadd(index.key, dict(index.members))
        return
    for name, _ in index.members:
        if store.exists(name.decode()):
            store.redis.sadd(index.key, name)
