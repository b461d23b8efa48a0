"""Writes of users: forms, pasted YAML, commands and the REST API call these functions, and those of
removal.py. Each does admission and a commit, then wakes the sandbox and rings the doorbell.

``resource`` is ``<plural>`` or ``<plural>.<group>``, as kubectl writes it; ``key`` is the store's
(``namespace/name``). Every function raises :class:`~simulator.apiserver.status.StatusError`; nothing is
stored then.
"""

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace as replace_fields

from schedviz.api.admitted_write import notify, write_admitted
from schedviz.api.definition_deletion import (
    finalize_definition_of,
)
from schedviz.api.definitions import accept_names, groups_defined_by
from schedviz.api.new_sandbox import create_named
from schedviz.cache import Current
from schedviz.store import Clock, Meta, Sandbox, Store
from simulator.api import SECOND, Manifest
from simulator.apiserver import admission
from simulator.apiserver.admission import Admission
from simulator.apiserver.lookup import find_resource
from simulator.apiserver.managed_fields.field_writes import PAGE_MANAGER, FieldWrite
from simulator.apiserver.overlay import CreatedObjects
from simulator.apiserver.patches.merge_patch import apply_merge_patch
from simulator.apiserver.preconditions import check_stored_identity
from simulator.apiserver.request_errors import NoSuchPath
from simulator.apiserver.resource import Resource
from simulator.apiserver.server_objects import missing_server_objects
from simulator.apiserver.status import NotFound
from simulator.apiserver.update import admit_update
from simulator.objects.metadata import is_terminating
from simulator.objects.timestamps import timestamp

Edit = Callable[[Resource, Manifest], Manifest]
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
    changes = admission.new_cluster(documents, now)
    further = missing_server_objects(documents)  # not counted as objects of the request
    changes += admission.admit(further, CreatedObjects(changes), now, source="server").changes
    sandbox = create_named(store, names or [meta.name], meta, changes, clock, access=access)
    notify(sandbox)
    return sandbox


def create(
    sandbox: Sandbox,
    documents: Sequence[Manifest],
    *,
    namespace: str = "default",
    dry_run: bool = False,
    entry: admission.Entry = "page",
    manager: str = "",
    warnings: list[str] | None = None,
) -> list[Manifest]:
    """Create the objects of these manifests, all or none, and return them as they were stored. ``manager``:
    the owner of their fields; "" = none. ``warnings``: see :func:`write_admitted`."""

    def decide(current: Current) -> Admission:
        now, source = current.now(), source_of_write(sandbox, current, dry_run=dry_run)
        write = FieldWrite(manager, timestamp(now)) if manager else None
        return admission.admit(
            documents,
            current,
            now,
            source=source,
            namespace=namespace,
            entry=entry,
            write=write,
            dry_run=dry_run,
        )

    given = [document.get("metadata") for document in documents]
    generated = any(isinstance(metadata, dict) and "generateName" in metadata for metadata in given)
    again = ("AlreadyExists",) if generated else ()
    created = write_admitted(sandbox, decide, dry_run=dry_run, again=again, warnings=warnings)
    if not dry_run:
        for group in groups_defined_by(created):
            accept_names(sandbox, group)
    return created


def source_of_write(sandbox: Sandbox, current: Current, *, dry_run: bool) -> str:
    """Return the text that identifies a write within all sandboxes. UIDs are computed from it, other ones for
    a dry run."""
    return f"{sandbox.name}/{current.version()}" + ("/dry-run" if dry_run else "")


def replace(
    sandbox: Sandbox,
    resource: str,
    key: str,
    manifest: Manifest,
    *,
    subresource: str = "",
    dry_run: bool = False,
    manager: str = PAGE_MANAGER,
) -> Manifest:
    """Replace an object by a manifest; if this has a UID or a resourceVersion, the object must have the
    same."""

    def changed(kind: Resource, old: Manifest) -> Manifest:
        check_stored_identity(kind, old, manifest.get("metadata", {}).get("uid") or "", "")
        return manifest

    return edit(
        sandbox,
        resource,
        key,
        changed,
        subresource=subresource,
        dry_run=dry_run,
        manager=manager,
    )


def patch(sandbox: Sandbox, resource: str, key: str, changes: Manifest, *, dry_run: bool = False) -> Manifest:
    """Apply a JSON merge patch (RFC 7386) to an object."""
    return edit(sandbox, resource, key, lambda _, old: apply_merge_patch(old, changes), dry_run=dry_run)


def edit(
    sandbox: Sandbox,
    resource: str | Resource,
    key: str,
    change: Edit,
    *,
    subresource: str = "",
    whole: bool = False,
    dry_run: bool = False,
    manager: str = PAGE_MANAGER,
    warnings: list[str] | None = None,
) -> Manifest:
    """Change an object by a function, which is called again with the newer object after a conflict.

    ``resource``: its id, or the version of a custom resource in which the object is changed. ``whole``:
    change the status, too; otherwise only the ``status`` subresource changes it. ``manager``: who comes to
    own the fields that change, if the object has owners. ``warnings``: see :func:`write_admitted`."""
    served = resource if isinstance(resource, Resource) else known_resource(sandbox, resource)
    kind = known_resource(sandbox, served.id) if served.stored_as else served
    last: list[Manifest] = []

    def decide(current: Current) -> Admission:
        old = existing_object(current, kind, key)
        last[:] = [old]
        new = change(kind, old)
        # The handler of the scale does not say when (scalehandler.go).
        time = "" if subresource == "scale" else timestamp(current.now())
        by = FieldWrite(manager, time, subresource)
        admitted = admit_update(kind, old, new, current, subresource=subresource, write=by, served=served)
        return _with_status(kind, old, new, current, admitted) if whole else admitted

    written = write_admitted(sandbox, decide, dry_run=dry_run, again=("Conflict",), warnings=warnings)
    if written and not dry_run and is_terminating(written[0]):
        finalize_definition_of(sandbox, kind)
    if not dry_run:
        for group in groups_defined_by(written):
            accept_names(sandbox, group)
    return (written or last)[0]


def _with_status(
    kind: Resource, old: Manifest, new: Manifest, current: Current, admitted: Admission
) -> Admission:
    """Merge an admitted update and the update of the status into one change."""
    updated = admitted.changes[0].object if admitted.changes else old
    if updated is None:
        return admitted  # the update removed the last finalizer and so deletes the object
    status = admit_update(kind, updated, new, current, subresource="status")
    if not status.changes:
        return admitted
    expected = (admitted.changes or status.changes)[0].expected
    merged = replace_fields(status.changes[0], expected=expected)
    charges = [*admitted.charges] or status.charges
    unchanged = {**status.unchanged, **admitted.unchanged}
    return Admission([merged, *charges], unchanged, charged=len(charges))


def known_resource(sandbox: Sandbox, resource: str) -> Resource:
    """Return the resource of this name. Raises NoSuchPath."""
    plural, _, group = resource.partition(".")
    found = find_resource(sandbox, group, plural)
    if found is None:
        raise NoSuchPath()
    return found


def existing_object(current: Current, resource: Resource, key: str) -> Manifest:
    """Return the object, which must exist. Raises NotFound."""
    found = current.get(resource.id, key)
    if found is None:
        raise NotFound(resource.id, key.rpartition("/")[2])
    return found
