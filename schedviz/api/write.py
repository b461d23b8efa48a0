"""Writes of users: forms, pasted YAML, commands and the REST API call these functions, and those of
removal.py. Each is a write of the API server (:class:`simulator.apiserver.server.ApiServer`), which is then
committed; the sandbox is woken.

``resource`` is ``<plural>`` or ``<plural>.<group>``, as kubectl writes it; ``key`` is the store's
(``namespace/name``). Every function raises :class:`~simulator.apiserver.status.StatusError`; nothing is
stored then.
"""

from collections.abc import Callable, Iterable, Sequence

from schedviz.api.admitted_write import notify, write_admitted
from schedviz.api.new_sandbox import create_named
from schedviz.api.stored_resource import find_stored
from schedviz.cache import read_current
from schedviz.store import Clock, Meta, Sandbox, Store
from simulator.api import SECOND, Manifest
from simulator.apiserver.managed_fields.field_writes import PAGE_MANAGER
from simulator.apiserver.new_cluster import new_cluster
from simulator.apiserver.patches.json_patch import apply_merge_patch
from simulator.apiserver.place import RequestPlace
from simulator.apiserver.request_errors import NoSuchPath
from simulator.apiserver.request_options import WriteOptions
from simulator.apiserver.resource import Resource

Edit = Callable[[Manifest], Manifest]
"""Computes the new object from the stored one."""


def create_sandbox(
    store: Store,
    meta: Meta,
    documents: Sequence[Manifest] = (),
    clock: Clock | None = None,
    *,
    names: Iterable[str] = (),
    access: str = "",
) -> Sandbox:
    """Create a sandbox with the objects that every cluster has and the objects of these manifests, in one
    commit. Its name is the first free one of ``names``, or that of ``meta``. ``clock``,
    ``access``: see :meth:`Store.create`."""
    now = int(meta.created or store.wall()) * SECOND
    changes = new_cluster(documents, now, meta.features(), for_servers=True)
    sandbox = create_named(store, names or [meta.name], meta, changes, clock, access=access)
    notify(sandbox, "")  # no worker leads it yet
    return sandbox


def create(
    sandbox: Sandbox,
    documents: Sequence[Manifest],
    *,
    namespace: str = "default",
    dry_run: bool = False,
) -> list[Manifest]:
    """Create the objects of these manifests, all or none, and return them as they were stored."""
    options = WriteOptions(dry_run=dry_run)
    return write_admitted(
        sandbox, lambda server: server.create_all(documents, options, namespace=namespace), options
    ).objects


def replace(
    sandbox: Sandbox,
    resource: str,
    key: str,
    manifest: Manifest,
    *,
    subresource: str = "",
    dry_run: bool = False,
) -> Manifest:
    """Replace an object by a manifest; if this has a UID or a resourceVersion, the object must have the
    same."""
    uid = manifest.get("metadata", {}).get("uid") or ""
    return edit(sandbox, resource, key, lambda _: manifest, subresource=subresource, dry_run=dry_run, uid=uid)


def patch(sandbox: Sandbox, resource: str, key: str, changes: Manifest, *, dry_run: bool = False) -> Manifest:
    """Apply a JSON merge patch (RFC 7386) to an object."""
    return edit(sandbox, resource, key, lambda old: apply_merge_patch(old, changes), dry_run=dry_run)


def edit(
    sandbox: Sandbox,
    resource: str,
    key: str,
    change: Edit,
    *,
    subresource: str = "",
    whole: bool = False,
    dry_run: bool = False,
    uid: str = "",
) -> Manifest:
    """Change an object by a function, which is called again with the newer object after a conflict.

    ``whole``, ``uid``: see :meth:`ApiServer.update`."""
    place = RequestPlace.of(known_resource(sandbox, resource), key, subresource)
    options = WriteOptions(manager=PAGE_MANAGER, dry_run=dry_run)
    return write_admitted(
        sandbox, lambda server: server.update(place, change, options, whole=whole, uid=uid), options
    ).object


def known_resource(sandbox: Sandbox, resource: str) -> Resource:
    """Return the resource of this name. Raises NoSuchPath."""
    found = find_stored(read_current(sandbox), resource)
    if found is None:
        raise NoSuchPath()
    return found
