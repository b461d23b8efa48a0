"""Where the sandboxes are, as it is stored on the main server: on itself, or on a Redis Cluster.

All processes must look for the sandboxes in the same place. So a process whose setting names another one than
the stored one does not start.
"""

from typing import Final, cast

from schedviz.store.errors import WrongServers
from schedviz.store.keys import REGISTRY, SANDBOX_SERVERS
from schedviz.store.store import Store

MAIN: Final = ""
CLUSTER: Final = "cluster"

PLACES: Final = {MAIN: "on the Redis of REDIS_URL", CLUSTER: "on a Redis Cluster"}


def prepare_sandbox_servers(store: Store) -> None:
    """Check the place, and store it if there is no sandbox yet. To be called at the start of a process.
    Raises WrongServers."""
    store.servers.connect()
    check_sandbox_servers(store)
    store_place(store)


def store_place(store: Store) -> None:
    """Store that the sandboxes are where the setting says."""
    store.redis.set(SANDBOX_SERVERS, _place_of(store))


def check_sandbox_servers(store: Store) -> None:
    """Check that the sandboxes are where the setting says. Raises WrongServers."""
    own, stored = _place_of(store), cast("bytes | None", store.redis.get(SANDBOX_SERVERS))
    if not store.redis.exists(REGISTRY) or (stored or b"").decode() == own:
        return
    place = (stored or b"").decode()
    there = PLACES.get(place, f"on the servers {place}, over which an earlier release spread them")
    here = "REDIS_CLUSTER_URLS is set" if own == CLUSTER else "REDIS_CLUSTER_URLS is not set"
    raise WrongServers(
        f"the sandboxes are {there}, and {here}: make a backup with the earlier setting and release, and "
        'restore it into an empty Redis (docs/OPERATIONS.md, "Redis Cluster")'
    )


def _place_of(store: Store) -> str:
    return CLUSTER if store.has_cluster else MAIN
