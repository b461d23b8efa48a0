"""All writes of users: forms, pasted YAML, commands and the REST API call these functions. Each does
admission and a commit, then wakes the sandbox and rings the doorbell.

``resource`` is ``<plural>`` or ``<plural>.<group>``, as kubectl writes it; ``key`` is the store's
(``namespace/name``). Every function raises :class:`~simulator.apiserver.status.StatusError`; nothing is
stored then.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from django.conf import settings
from msgspec import UNSET
from msgspec.structs import replace as replace_fields

from schedviz.api.admitted_write import notify, write_admitted
from schedviz.api.definition_deletion import (
    admit_definition_delete,
    finalize_definition,
    finalize_definition_of,
)
from schedviz.api.definitions import accept_names, groups_defined_by
from schedviz.api.namespace_deletion import finalize_namespace
from schedviz.api.new_sandbox import create_named
from schedviz.cache import Current
from schedviz.store import Clock, Commit, Meta, NoSandbox, Sandbox, Store
from simulator.api import SECOND, Manifest, bare
from simulator.apiserver import admission
from simulator.apiserver.admission import Admission
from simulator.apiserver.delete_options import Propagation
from simulator.apiserver.deletion import admit_delete, deletion_changes, last_state
from simulator.apiserver.eviction import admit_eviction
from simulator.apiserver.lookup import find_resource
from simulator.apiserver.managed_fields.field_writes import PAGE_MANAGER, FieldWrite
from simulator.apiserver.overlay import CreatedObjects, Overlay
from simulator.apiserver.patches.merge_patch import apply_merge_patch
from simulator.apiserver.policies.enforcement import check_policies
from simulator.apiserver.policies.request import Asked, deletion_request, subresource_request
from simulator.apiserver.preconditions import check_preconditions
from simulator.apiserver.resources import CRDS, EVICTIONS, NAMESPACES, PODS, Resource
from simulator.apiserver.server_objects import missing_server_objects
from simulator.apiserver.status import Cause, Conflict, Invalid, NoSuchPath, NotFound
from simulator.apiserver.update import admit_update
from simulator.config import ConfigError
from simulator.objects.metadata import is_terminating, name_of, namespace_of
from simulator.objects.timestamps import timestamp
from simulator.plugins.registry import load, profiles
from simulator.recording import Entry
from simulator.scheduler.extender_http import HttpTransport
from simulator.trace import SchedulerConfigured


class Deleted(NamedTuple):
    """The result of a deletion."""

    object: Manifest
    """The object as it is now, or its last state."""
    is_gone: bool


"""The manager of what controllers in kube-apiserver change."""
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


def check_configuration(configuration: Manifest | None, name: str) -> None:
    """Raise Invalid, with the paths of the invalid fields. name: of the sandbox, for the message."""
    try:
        profiles(load(configuration), transport=HttpTransport(settings.EXTENDER_HOSTS))
    except ConfigError as error:
        causes = [Cause(path, message) for path, message in error.causes]
        raise Invalid("KubeSchedulerConfiguration", "kubescheduler.config.k8s.io", name, causes) from None


def configure(
    sandbox: Sandbox,
    configuration: Manifest | None,
    fields: Sequence[str],
    *,
    stands_down: bool | None = None,
    dry_run: bool = False,
) -> None:
    """Set the KubeSchedulerConfiguration of the sandbox, with which a new leader begins. ``fields``: the
    changed fields, for the trace. ``stands_down``: whether its scheduler leaves all pods to outside
    schedulers; None = as before.

    Raises Invalid, with the paths of the invalid fields."""
    check_configuration(configuration, sandbox.name)
    if dry_run:
        return
    try:
        _, last, _ = sandbox.progress()
        now = max(last, sandbox.now())
        old = sandbox.meta()
        down = old.stands_down if stands_down is None else stands_down
        changed = UNSET if down == old.stands_down else down
        event = SchedulerConfigured(t=now, fields=[*fields], stands_down=changed)
        meta = replace_fields(old, config=configuration, stands_down=down)
        sandbox.commit(Commit(meta=meta, trace=[event], journal=Entry(now=now, ended=event)))
    except NoSandbox:
        raise NotFound("sandboxes", sandbox.name) from None
    notify(sandbox)


def switch_scheduler(sandbox: Sandbox, *, stands_down: bool) -> None:
    """Let the sandbox's scheduler stand down, or schedule again. Nothing changes if it does so already."""
    meta = sandbox.meta()
    if stands_down != meta.stands_down:
        configure(sandbox, meta.config, [], stands_down=stands_down)


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
    the owner of their fields; "" = nobody. ``warnings``: a list for those of admission policies."""

    def decide(current: Current) -> Admission:
        asked = asked_by(manager, dry_run=dry_run, warnings=warnings)
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
            asked=asked,
        )

    given = [document.get("metadata") for document in documents]
    generated = any(isinstance(metadata, dict) and "generateName" in metadata for metadata in given)
    created = write_admitted(sandbox, decide, dry_run=dry_run, again=("AlreadyExists",) if generated else ())
    if not dry_run:
        for group in groups_defined_by(created):
            accept_names(sandbox, group)
    return created


def asked_by(manager: str, *, dry_run: bool, warnings: list[str] | None = None) -> Asked:
    """What admission policies see of a write. ``warnings`` is emptied: the write may be decided again."""
    found = [] if warnings is None else warnings
    found.clear()
    return Asked(dry_run=dry_run, manager=manager, warnings=found)


def source_of_write(sandbox: Sandbox, current: Current, *, dry_run: bool) -> str:
    """What identifies a write within all sandboxes: UIDs are computed from it, for a dry run others."""
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
    """Replace an object by a manifest; if this has a resourceVersion, the object must have the same."""
    return edit(
        sandbox,
        resource,
        key,
        lambda _, __: manifest,
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
    own the fields that change, if the object has owners. ``warnings``: see :func:`create`."""
    if isinstance(resource, Resource):
        kind = _resource(sandbox, resource.id) if resource.stored_as else resource
    else:
        kind = _resource(sandbox, resource)
    last: list[Manifest] = []

    def decide(current: Current) -> Admission:
        old = existing_object(current, kind, key)
        last[:] = [old]
        new = change(kind, old)
        # The handler of the scale does not say when (scalehandler.go).
        time = "" if subresource == "scale" else timestamp(current.now())
        by = FieldWrite(manager, time, subresource)
        asked = asked_by(manager, dry_run=dry_run, warnings=warnings)
        admitted = admit_update(kind, old, new, current, subresource=subresource, write=by, asked=asked)
        return _with_status(kind, old, new, current, admitted) if whole else admitted

    written = write_admitted(sandbox, decide, dry_run=dry_run, again=("Conflict",))
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


def delete(
    sandbox: Sandbox,
    resource: str,
    key: str,
    *,
    grace_seconds: int | None = None,
    propagation: Propagation | None = "Background",
    uid: str = "",
    version: str = "",
    contents_at_once: bool = True,
    dry_run: bool = False,
    warnings: list[str] | None = None,
) -> Deleted:
    """Delete an object. A bound pod gets a deletionTimestamp and is removed after its grace period. A
    namespace is deleted with all objects in it. Other objects are removed at once, or, with foreground or
    orphan propagation, when the garbage collector has handled their dependents. Like kubectl, callers ask for
    ``Background`` propagation; None is the default of the kind.

    ``uid``, ``version``: preconditions; "" = none. ``contents_at_once``: delete the contents of a namespace
    with it, without grace periods; False leaves that to the namespace controller. ``warnings``: see
    :func:`create`."""
    kind = _resource(sandbox, resource)
    tried: list[tuple[Manifest, Admission]] = []

    def decide(current: Current) -> Admission:
        old = existing_object(current, kind, key)
        check_preconditions(kind, old, uid, version)
        asked = asked_by("", dry_run=dry_run, warnings=warnings)
        check_policies(deletion_request(kind, old, asked), Overlay(current))
        now = current.now()
        if kind.id == CRDS:
            change = admit_definition_delete(old, now)
        else:
            change = admit_delete(kind, old, now, grace_seconds=grace_seconds, propagation=propagation)
        if change is None:
            admitted = Admission([], {})
        elif change.object is not None:
            admitted = Admission([change], {})
        else:
            shown = last_state(kind, old, now)
            changes = deletion_changes(kind, old, change, now)
            admitted = Admission(changes, {}, last=shown if dry_run else bare(shown))
        tried[:] = [(old, admitted)]
        return admitted

    written = write_admitted(sandbox, decide, dry_run=dry_run, again=("Conflict", "NotFound"))
    ((old, admitted),) = tried
    if not dry_run:
        if kind == NAMESPACES and contents_at_once:
            finalize_namespace(sandbox, key)
        elif kind.id == CRDS:
            finalize_definition(sandbox, key)
        elif admitted.last is not None:
            finalize_definition_of(sandbox, kind)
    return Deleted(written[0] if written else old, is_gone=admitted.last is not None)


def recreate(sandbox: Sandbox, resource: str, key: str, manifest: Manifest) -> Manifest:
    """Delete a pod that is not bound, or a resource claim, and create another one in its place, in one
    commit. Raises Conflict if the pod is bound by now, or the object is not removed at once."""
    kind = _resource(sandbox, resource)

    def decide(current: Current) -> Admission:
        old = existing_object(current, kind, key)
        name, now = old["metadata"]["name"], current.now()
        if old["spec"].get("nodeName"):
            raise Conflict(resource, name, f"it is bound to node {old['spec']['nodeName']}")
        deleted = admit_delete(kind, old, now)
        if deleted is None or deleted.object is not None:
            raise Conflict(resource, name, "it has finalizers, so it cannot be removed at once")
        source = f"{sandbox.name}/{current.version()}"
        created = admission.admit([manifest], current, now, source=source, namespace=key.rpartition("/")[0])
        changes = [*deletion_changes(kind, old, deleted, now), *created.changes]
        return Admission(changes, created.unchanged, charged=created.charged)

    return write_admitted(sandbox, decide, dry_run=False, again=("Conflict",))[-1]


def evict(
    sandbox: Sandbox,
    key: str,
    *,
    eviction: Manifest | None = None,
    grace_seconds: int | None = None,
    propagation: Propagation | None = None,
    uid: str = "",
    version: str = "",
    dry_run: bool = False,
    warnings: list[str] | None = None,
) -> None:
    """Evict a pod, as a POST to its ``eviction`` subresource: delete it if its disruption budgets allow it.

    ``eviction``: the body of the request, for admission policies. ``uid``, ``version``: preconditions; "" =
    none. ``warnings``: see :func:`create`."""

    def decide(current: Current) -> Admission:
        pod = existing_object(current, PODS, key)
        asked = asked_by("", dry_run=dry_run, warnings=warnings)
        body = eviction or {"metadata": {"name": name_of(pod), "namespace": namespace_of(pod)}}
        check_policies(subresource_request(pod, EVICTIONS, body, asked), Overlay(current))
        check_preconditions(PODS, pod, uid, version)
        return admit_eviction(
            pod, current, current.now(), grace_seconds=grace_seconds, propagation=propagation
        )

    write_admitted(sandbox, decide, dry_run=dry_run, again=("Conflict",))


def _resource(sandbox: Sandbox, resource: str) -> Resource:
    plural, _, group = resource.partition(".")
    found = find_resource(sandbox, group, plural)
    if found is None:
        raise NoSuchPath()
    return found


def existing_object(current: Current, resource: Resource, key: str) -> Manifest:
    """Raises NotFound."""
    found = current.get(resource.id, key)
    if found is None:
        raise NotFound(resource.id, key.rpartition("/")[2])
    return found
