"""Deletions of users: forms, commands and the REST API call these functions, which are used as those of
write.py."""

from typing import NamedTuple

from schedviz.api.admitted_write import write_admitted
from schedviz.api.definition_deletion import (
    admit_definition_delete,
    finalize_definition,
    finalize_definition_of,
)
from schedviz.api.namespace_deletion import finalize_namespace
from schedviz.api.write import existing_object, known_resource
from schedviz.cache import Current
from schedviz.store import Sandbox
from simulator.api import Manifest, bare
from simulator.apiserver import admission
from simulator.apiserver.admission import Admission
from simulator.apiserver.delete_options import Propagation
from simulator.apiserver.deletion import admit_delete, deletion_changes, last_state
from simulator.apiserver.eviction import admit_eviction
from simulator.apiserver.preconditions import check_preconditions
from simulator.apiserver.resource import CRDS
from simulator.apiserver.resources import NAMESPACES, PODS
from simulator.apiserver.status import Conflict


class Deleted(NamedTuple):
    """The result of a deletion."""

    object: Manifest
    """The object as it is now, or its last state."""
    is_gone: bool


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
) -> Deleted:
    """Delete an object. A bound pod gets a deletionTimestamp and is removed after its grace period. A
    namespace is deleted with all objects in it. Other objects are removed at once, or, with foreground or
    orphan propagation, when the garbage collector has handled their dependents. Like kubectl, callers ask for
    ``Background`` propagation; None is the default of the kind.

    ``uid``, ``version``: preconditions; "" = none. ``contents_at_once``: delete the contents of a namespace
    with it, without grace periods; False leaves that to the namespace controller."""
    kind = known_resource(sandbox, resource)
    tried: list[tuple[Manifest, Admission]] = []

    def decide(current: Current) -> Admission:
        old = existing_object(current, kind, key)
        check_preconditions(kind, old, uid, version)
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

    again = ("Conflict", "NotFound")
    written = write_admitted(sandbox, decide, dry_run=dry_run, again=again)
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
    kind = known_resource(sandbox, resource)

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
    grace_seconds: int | None = None,
    propagation: Propagation | None = None,
    uid: str = "",
    version: str = "",
    dry_run: bool = False,
    warnings: list[str] | None = None,
) -> None:
    """Evict a pod, as a POST to its ``eviction`` subresource: delete it if its disruption budgets allow it.

    ``uid``, ``version``: preconditions; "" = none. ``warnings``: see :func:`write_admitted`."""

    def decide(current: Current) -> Admission:
        pod = existing_object(current, PODS, key)
        check_preconditions(PODS, pod, uid, version)
        return admit_eviction(
            pod, current, current.now(), grace_seconds=grace_seconds, propagation=propagation
        )

    write_admitted(sandbox, decide, dry_run=dry_run, again=("Conflict",), warnings=warnings)
