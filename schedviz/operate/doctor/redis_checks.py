"""Checks of each Redis server: whether it keeps what is stored, and has the room to; and of what is stored
on the main one."""

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from schedviz.operate.doctor.finding import Finding
from schedviz.store import Store
from schedviz.store.errors import WrongServers
from schedviz.store.keys import REGISTRY, SCHEMA
from schedviz.store.sandbox_servers import check_sandbox_servers
from schedviz.store.schema import VERSION, WrongSchema, check_version
from schedviz.store.server import Server
from schedviz.store.wall import wall_time

OLDEST: Final = (6, 2)
"""The watch log is read by exclusive ranges of streams, which came with 6.2."""
FULL_SHARE: Final = 0.9
"""The share of maxmemory from which Redis counts as full. A large sandbox has tens of megabytes, so the rest
may be used up within minutes."""
CLOCK_SECONDS: Final = 5.0
"""The clocks of machines with NTP differ by milliseconds."""

Info = Mapping[str, Any]


def check_server(server: Server, own_time: float | None = None) -> list[Finding]:
    """Check a server. ``own_time``: the time of this machine; None = now. Raises what redis-py raises."""
    info = cast("Info", server.redis.info())
    own = time.time() if own_time is None else own_time  # noqa: TID251 (compared with Redis's clock)
    return [
        *_check_version(info),
        *_check_memory(info),
        *_check_files(info),
        *_check_writes(server, info),
        *_check_replicas(info),
        *_check_clock(wall_time(server.redis) - own),
    ]


def check_stored(store: Store) -> list[Finding]:
    """Check the stored data on the main server. Raises what redis-py raises."""
    return [*_check_schema(store), *_check_sandbox_servers(store)]


def _check_version(info: Info) -> Iterator[Finding]:
    version = str(info["redis_version"])
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        yield Finding(f"Redis is version {version}", "install 6.2 or newer")


def _check_memory(info: Info) -> Iterator[Finding]:
    limit, used, policy = info["maxmemory"], info["used_memory"], info["maxmemory_policy"]
    if policy != "noeviction":
        yield Finding(
            f"Redis drops keys when its memory is full (maxmemory-policy {policy}), which destroys sandboxes",
            "set maxmemory-policy noeviction",
        )
    if not limit:
        yield Finding(
            "Redis has no limit of memory, so the kernel may end it or another process",
            "set maxmemory, below the memory of the machine",
        )
    elif used >= FULL_SHARE * limit:
        yield Finding(
            f"Redis uses {used >> 20} of {limit >> 20} MiB of memory",
            "delete sandboxes, or raise maxmemory (REDIS_MEMORY_MB of the embedded Redis)",
        )


def _check_files(info: Info) -> Iterator[Finding]:
    if not info["aof_enabled"]:
        yield Finding(
            "Redis does not write each change to its disk, so a restart loses changes",
            "set appendonly yes",
        )
    if info["loading"]:
        yield Finding("Redis still reads its file", "wait until it has started")
    errors = {
        "aof_last_write_status": "the last write to its append-only file",
        "aof_last_bgrewrite_status": "the last rewrite of its append-only file",
        "rdb_last_bgsave_status": "its last snapshot",
    }
    for field, what in errors.items():
        if info.get(field, "ok") != "ok":
            yield Finding(
                f"Redis failed at {what}", "look into its log; mostly its disk is full or not writable"
            )


def _check_writes(server: Server, info: Info) -> Iterator[Finding]:
    if info["role"] != "master":
        yield Finding("this Redis is a replica and takes no writes", "let its URL name the primary")
        return
    _, trouble = server.probe()
    if trouble is not None:
        yield Finding(f"Redis refuses writes ({trouble.value})", "see the memory and the disk of Redis")


def _check_replicas(info: Info) -> Iterator[Finding]:
    if info.get("cluster_enabled") and not info["connected_slaves"]:
        yield Finding(
            "this master of the cluster has no replica, so its sandboxes stand still when it fails",
            "add a replica",
        )


def _check_clock(ahead: float) -> Iterator[Finding]:
    if abs(ahead) >= CLOCK_SECONDS:
        direction = "ahead of" if ahead > 0 else "behind"
        yield Finding(
            f"the clock of Redis is {abs(ahead):.0f} s {direction} that of this machine",
            "let both set their clocks by NTP; sandboxes go by that of Redis, logs by that of the machine",
        )


def _check_schema(store: Store) -> Iterator[Finding]:
    try:
        check_version(store.redis)
    except WrongSchema as error:
        yield Finding(str(error), "run the doctor of the newer schedviz")
        return
    stored = store.redis.get(SCHEMA)
    version = int(cast("bytes", stored)) if stored else int(bool(store.redis.exists(REGISTRY)))
    if version and version < VERSION:
        yield Finding(
            f"the stored data has schema version {version}, and this schedviz reads {VERSION}",
            "start a process of this schedviz, which migrates the data; make a backup before",
        )


def _check_sandbox_servers(store: Store) -> Iterator[Finding]:
    try:
        check_sandbox_servers(store)
    except WrongServers as error:
        yield Finding(str(error), "or set REDIS_CLUSTER_URLS as it was")
