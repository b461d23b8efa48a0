"""Deletions of users: forms and commands call these functions, which are used as those of write.py."""

from schedviz.api.admitted_write import write_admitted
from schedviz.api.namespace_deletion import finalize_namespace
from schedviz.api.write import known_resource
from schedviz.store import Sandbox
from simulator.api import Manifest
from simulator.apiserver.commit import Written
from simulator.apiserver.place import RequestPlace
from simulator.apiserver.request_options import DeleteOptions
from simulator.apiserver.resources import NAMESPACES, PODS


def delete(
    sandbox: Sandbox,
    resource: str,
    key: str,
    *,
    grace_seconds: int | None = None,
    dry_run: bool = False,
) -> Written:
    """Delete an object, as kubectl does, with ``Background`` propagation. A bound pod gets a
    deletionTimestamp and is removed after its grace period. A namespace is deleted with all objects in it,
    at once and without their grace periods. Other objects are removed at once."""
    place = RequestPlace.of(known_resource(sandbox, resource), key)
    options = DeleteOptions(grace_seconds, "Background", dry_run=dry_run)
    deleted = write_admitted(sandbox, lambda server: server.delete(place, options), options)
    if place.resource == NAMESPACES and not dry_run:
        finalize_namespace(sandbox, key)
    return deleted


def recreate(sandbox: Sandbox, resource: str, key: str, manifest: Manifest) -> Manifest:
    """Delete a pod that is not bound, or a resource claim, and create another one in its place, in one
    commit. Raises Conflict if the pod is bound by now, or the object is not removed at once."""
    place = RequestPlace.of(known_resource(sandbox, resource), key)
    return write_admitted(sandbox, lambda server: server.recreate(place, manifest)).objects[-1]


def evict(sandbox: Sandbox, key: str) -> None:
    """Evict a pod: delete it if its disruption budgets allow it."""
    place = RequestPlace.of(PODS, key, "eviction")
    write_admitted(sandbox, lambda server: server.evict(place, DeleteOptions()))
