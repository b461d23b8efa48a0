"""The schema version of what is stored in Redis, and the migrations from older versions.

One key holds the version of the whole store. What was stored before there was such a key is version 1.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, cast

from redis import Redis
from redis.exceptions import LockError

from schedviz.store.errors import StoreError
from schedviz.store.keys import REGISTRY, SCHEMA, SCHEMA_LOCK
from schedviz.store.migrations import remove_old_jobs

Migration = Callable[[Redis], Iterator[None]]
"""A generator that changes the store from one version to the next. It yields after each small part (a
sandbox, say), well within LOCK_SECONDS. It must be safe to run again from its beginning: the process that ran
it may have been killed in the middle."""

MIGRATIONS: Final[Sequence[Migration]] = (remove_old_jobs,)
"""The first one leads from version 1 to version 2, the next from 2 to 3, and so on: append, remove none."""

VERSION: Final = len(MIGRATIONS) + 1
"""The version that this program reads and writes."""

LOCK_SECONDS: Final = 30.0
"""How long a killed process keeps the others from migrating. It is also the longest that one part of a
migration may take; a sandbox of the largest size is rewritten in a few seconds."""


class WrongSchema(StoreError):
    """The store has a schema version that this program can neither read nor migrate."""


def prepare(redis: Redis, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring the store to the version that the last migration leads to. To be called before anything else is
    read or written.

    Of several processes that call it at once, one migrates and the others wait for it.
    Raises WrongSchema, and what redis-py raises where Redis does not serve.
    """
    wanted = len(migrations) + 1
    while _read(redis, wanted) != wanted:
        try:
            _migrate(redis, migrations)
        except LockError:
            continue  # a part took too long and another process has begun to migrate: look again


def _migrate(redis: Redis, migrations: Sequence[Migration]) -> None:
    wanted = len(migrations) + 1
    with redis.lock(SCHEMA_LOCK, timeout=LOCK_SECONDS) as lock:
        for version in range(_read(redis, wanted), wanted):
            for _ in migrations[version - 1](redis):
                lock.reacquire()
            lock.reacquire()
            redis.set(SCHEMA, version + 1)


def _read(redis: Redis, wanted: int) -> int:
    """The store's version; an empty store is given the wanted one. Raises WrongSchema."""
    stored = cast("bytes | None", redis.get(SCHEMA))
    if stored is None:
        redis.set(SCHEMA, 1 if redis.exists(REGISTRY) else wanted, nx=True)
        return _read(redis, wanted)
    if not stored.isdigit() or int(stored) < 1:
        raise WrongSchema(f"the schema version of the data in Redis must be a number, not {stored!r}")
    if int(stored) > wanted:
        raise WrongSchema(
            f"the data in Redis has schema version {int(stored)}, and this schedviz reads versions up to "
            f"{wanted}: start the newer schedviz that wrote it"
        )
    return int(stored)
