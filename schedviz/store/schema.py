"""The schema version of what is stored in Redis, and the migrations from older versions.

One key holds the version of the whole store. What was stored before there was such a key is version 1.

Running processes read the version at intervals (schedviz/processes/schema_check.py). A process that will
migrate announces the new version, and waits until the processes that cannot read it have ended.
"""

from collections.abc import Callable, Iterator, Sequence
from time import sleep
from typing import Final, cast

from redis import Redis
from redis.exceptions import LockError

from schedviz.store.errors import StoreError
from schedviz.store.keys import REGISTRY, SCHEMA, SCHEMA_LOCK, SCHEMA_TARGET
from schedviz.store.migrations import compress_objects, remove_old_jobs, rename_queue

Migration = Callable[[Redis], Iterator[None]]
"""A generator that changes the store from one version to the next. It yields after each small part (a
sandbox, say), well within LOCK_SECONDS. It must be safe to run again from its beginning: the process that ran
it may have been killed in the middle."""

MIGRATIONS: Final[Sequence[Migration]] = (remove_old_jobs, rename_queue, compress_objects)
"""The first one leads from version 1 to version 2, the next from 2 to 3, and so on: append, remove none."""

VERSION: Final = len(MIGRATIONS) + 1
"""The version that this program reads and writes."""

LOCK_SECONDS: Final = 30.0
"""Seconds for which the other processes cannot migrate after a process that migrated was killed. It is also
the longest that one part of a migration may take; a sandbox of the largest size is rewritten in a few
seconds."""

CHECK_SECONDS: Final = 1.0
"""The interval at which a running process reads the version."""

END_SECONDS: Final = 2.0
"""The longest time that a process needs to end after it has read a version that it cannot read."""

LEAVE_SECONDS: Final = CHECK_SECONDS + END_SECONDS + 1.0
"""The time between the announcement of a migration and its beginning: one more second for a slow machine. A
process that was stopped (SIGSTOP) for longer ends when it goes on; its writes of the loop are refused, as its
leases are lost."""


class WrongSchema(StoreError):
    """The store has a schema version that this program can neither read nor migrate."""


def prepare(
    redis: Redis, migrations: Sequence[Migration] = MIGRATIONS, leave_seconds: float = LEAVE_SECONDS
) -> None:
    """Bring the store to the version that the last migration leads to. To be called before anything else is
    read or written.

    leave_seconds: how long processes of older versions have to end before a migration begins.
    Of several processes that call it at once, one migrates and the others wait for it.
    Raises WrongSchema, and what redis-py raises where Redis does not serve.
    """
    wanted = len(migrations) + 1
    while _read(redis, wanted) != wanted:
        try:
            _migrate(redis, migrations, leave_seconds)
        except LockError:
            continue  # a part took too long and another process has begun to migrate: look again


def check_version(redis: Redis, wanted: int = VERSION) -> None:
    """Check the version of the store. Raises WrongSchema if it has a newer version than ``wanted``, or is
    being migrated to one."""
    stored, target = cast("list[bytes | None]", redis.mget(SCHEMA, SCHEMA_TARGET))
    if stored is not None:
        _parse(stored, wanted, "has")
    if target is not None:
        _parse(target, wanted, "is being migrated to")


def _migrate(redis: Redis, migrations: Sequence[Migration], leave_seconds: float) -> None:
    wanted = len(migrations) + 1
    with redis.lock(SCHEMA_LOCK, timeout=LOCK_SECONDS) as lock:
        stored = _read(redis, wanted)
        if stored < wanted:
            redis.set(SCHEMA_TARGET, wanted)
            sleep(leave_seconds)
        for version in range(stored, wanted):
            for _ in migrations[version - 1](redis):
                lock.reacquire()
            lock.reacquire()
            redis.set(SCHEMA, version + 1)
        redis.delete(SCHEMA_TARGET)


def _read(redis: Redis, wanted: int) -> int:
    """Return the store's version; an empty store is given the wanted one. Raises WrongSchema."""
    check_version(redis, wanted)
    stored = cast("bytes | None", redis.get(SCHEMA))
    if stored is None:
        redis.set(SCHEMA, 1 if redis.exists(REGISTRY) else wanted, nx=True)
        return _read(redis, wanted)
    return _parse(stored, wanted, "has")


def _parse(stored: bytes, wanted: int, verb: str) -> int:
    """Return the stored version as a number. Raises WrongSchema."""
    if not stored.isdigit() or int(stored) < 1:
        raise WrongSchema(f"the schema version of the data in Redis must be a number, not {stored!r}")
    if int(stored) > wanted:
        raise WrongSchema(
            f"the data in Redis {verb} schema version {int(stored)}, and this schedviz reads versions up to "
            f"{wanted}: start the newer schedviz that wrote it"
        )
    return int(stored)
