"""Reads everything from Redis for a backup, one sandbox at a time, while the server runs."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from redis import Redis

from schedviz.loop.due import KEY as DUE
from schedviz.loop.due import waiting_key
from schedviz.loop.presence import ALIVE, REBASE_LOCK, SWEEP_LOCK
from schedviz.loop.sharing import busy_key
from schedviz.operate.backup.backup_file import FORMAT, End, Group, Header, Index, Key, Record
from schedviz.operate.other_devices import OTHER_DEVICE
from schedviz.processes.message_queues import KEY_PREFIX
from schedviz.rooms.room_store import PLACES
from schedviz.store import Store
from schedviz.store.keys import (
    FAILING,
    PREFIX,
    PROBE,
    REGISTRY,
    SANDBOX_SERVERS,
    SCHEMA,
    USED,
    Keys,
    objects_key,
)
from schedviz.store.schema import VERSION
from schedviz.store.server import Server
from schedviz.store.wall import seconds_of
from schedviz.web.lifetime import SWEEP_LOCK as LIFETIME_LOCK

TRANSIENT: Final = (
    KEY_PREFIX,
    f"{PREFIX}:layer",
    f"{PREFIX}:heartbeats:",
    f"{PREFIX}:metrics:",
    f"{PREFIX}:jobs:",
    waiting_key(""),
    busy_key(""),
    DUE,
    ALIVE,
    REBASE_LOCK,
    SWEEP_LOCK,
    LIFETIME_LOCK,
    PROBE,
    FAILING,
    OTHER_DEVICE,
    SANDBOX_SERVERS,
    SCHEMA,
    USED,
)
"""Beginnings of the keys that are left out: messages, locks, what processes say of themselves, answers that
can be asked for again, and when sandboxes were used, as a restore begins their lifetime again. All else is in
the backup, also what is added later."""

INDEXES: Final = (REGISTRY, PLACES)
"""The keys that contain the names of all sandboxes and rooms."""

TAG: Final = re.compile(rb"\{([^}]+)\}")
AT_ONCE: Final = 200
"""Number of independent keys that are read at once."""


def backup_records(store: Store) -> Iterator[Record]:
    """Yield the records of all that is stored. Raises what redis-py raises."""
    redis = store.redis
    yield Header(FORMAT, VERSION, store.wall(), str(redis.info("server")["redis_version"]))
    indexes = [_index(redis, key) for key in INDEXES]
    count = 0
    for server in store.all_servers:
        for group in _groups(store, server):
            count += len(group.keys)
            yield group
    yield from indexes
    yield End(count)


def _groups(store: Store, server: Server) -> Iterator[Group]:
    """Yield all keys of a server. Those of the main server are not of one sandbox if this is on a cluster."""
    redis, of_sandboxes = server.redis, server is not store.main or not store.has_cluster
    tagged: dict[bytes, list[bytes]] = {}
    alone: list[bytes] = []
    for key in redis.scan_iter(match=f"{PREFIX}:*", count=1000):
        if key.decode().startswith(TRANSIENT) or key.decode() in INDEXES:
            continue
        if found := TAG.search(key):
            tagged.setdefault(found[1], []).append(key)
        else:
            alone.append(key)
    for tag, keys in tagged.items():
        name = tag.decode()
        # Of a deleted sandbox the counters are kept for a while.
        others = [key for key in keys if key.decode() != Keys.of(name).state]
        yield (of_sandboxes and _sandbox(store, name, keys)) or _group(redis, others)
    for start in range(0, len(alone), AT_ONCE):
        yield _group(redis, alone[start : start + AT_ONCE])


def _sandbox(store: Store, name: str, found: Sequence[bytes]) -> Group | None:
    """Return the keys of a sandbox at one moment; None if there is no sandbox of this name. A kind of objects
    that is new since ``found`` was read has a key of its own, so its keys are read until all are known."""
    redis, handle = store.servers.of(name).redis, store.handle(name)
    keys = {*found, *(key.encode() for key in Keys.of(name))}
    while True:
        group = _group(redis, sorted(keys), name)
        missing = {objects_key(name, resource).encode() for resource in handle.resources()} - keys
        if not redis.hexists(Keys.of(name).state, "meta"):
            return None
        if not missing:
            return group
        keys |= missing


def _group(redis: Redis, keys: Sequence[bytes], sandbox: str = "") -> Group:
    """Return the keys that exist, all as of one moment."""
    with redis.pipeline(transaction=True) as pipe:
        pipe.time()
        for key in keys:
            pipe.pttl(key)
            pipe.dump(key)
        now, *replies = pipe.execute()
    at = seconds_of(now)
    pairs = zip(keys, replies[::2], replies[1::2], strict=True)
    return Group(
        sandbox,
        at,
        [
            Key(key, round(at * 1000) + ttl if ttl >= 0 else 0, value)
            for key, ttl, value in pairs
            if value is not None
        ],
    )


def _index(redis: Redis, key: str) -> Index:
    reply: Any = redis.zrange(key, 0, -1, withscores=True) if key == PLACES else redis.smembers(key)
    members = reply if key == PLACES else [(name, 0.0) for name in sorted(reply)]
    return Index(key, [(name, float(score)) for name, score in members])
