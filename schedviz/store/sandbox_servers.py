"""The labels of the servers on which the sandboxes are, as they are stored on the main server.

All processes must assign the sandboxes to the same servers. So a process whose setting names other servers
than the stored ones does not start, and the sandboxes are moved first (schedviz/operate/spread.py).
"""

from typing import Final, cast

from schedviz.store.errors import StoreError
from schedviz.store.keys import REGISTRY, SANDBOX_SERVERS
from schedviz.store.server import MAIN
from schedviz.store.store import Store

SEPARATOR: Final = ","


class OtherServers(StoreError):
    """The sandboxes are on other servers than the setting names."""


def stored_labels(store: Store) -> list[str]:
    """Return the labels of the servers on which the sandboxes are: those of this process if there is no
    sandbox."""
    stored = cast("bytes | None", store.redis.get(SANDBOX_SERVERS))
    if stored is not None:
        return stored.decode().split(SEPARATOR)
    return [MAIN] if store.redis.exists(REGISTRY) else own_labels(store)


def own_labels(store: Store) -> list[str]:
    """Return the labels of the servers that the setting names."""
    return sorted(server.label for server in store.servers.all)


def store_labels(store: Store) -> None:
    """Store that the sandboxes are on the servers that the setting names."""
    store.redis.set(SANDBOX_SERVERS, SEPARATOR.join(own_labels(store)))


def prepare_sandbox_servers(store: Store) -> None:
    """Check the servers, and store their labels if there is no sandbox yet. To be called at the start of a
    process. Raises OtherServers."""
    check_sandbox_servers(store)
    store_labels(store)


def check_sandbox_servers(store: Store) -> None:
    """Check that the sandboxes are on the servers that the setting names. Raises OtherServers."""
    stored, own = stored_labels(store), own_labels(store)
    if stored != own:
        raise OtherServers(
            f"the sandboxes are on {describe_labels(stored)}, and SANDBOX_REDIS_URLS names "
            f"{describe_labels(own)}: run manage.py spread, which moves them"
        )


def describe_labels(labels: list[str]) -> str:
    named = ", ".join(labels)
    if labels == [MAIN]:
        return "the Redis of REDIS_URL"
    return f"the servers {named}" if len(labels) > 1 else f"the server {named}"
