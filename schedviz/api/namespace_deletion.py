"""Deletes the objects in a terminating namespace, and then the namespace.

Upstream the namespace controller does this after the request
(pkg/controller/namespace/deletion/namespaced_resources_deleter.go). Here it is part of the request,
because controllers do not run while the sandbox is paused. Objects are deleted at once; grace periods and
finalizers are ignored.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from schedviz.api.admitted_write import write_admitted
from schedviz.store import Commit, NoSandbox, Sandbox
from schedviz.store.parts import CHANGES_AT_ONCE, parts_of
from simulator.api import ApiError, Change
from simulator.apiserver.place import RequestPlace
from simulator.apiserver.resources import NAMESPACES, PODS
from simulator.apiserver.server import ApiServer
from simulator.apiserver.status import NotFound, ServiceUnavailable

PASSES: Final = 20
"""Maximum number of passes. Each deletes all objects that it finds; the next one finds objects that others
wrote meanwhile."""


def finalize_namespace(sandbox: Sandbox, namespace: str) -> None:
    """Delete the objects in a terminating namespace, then the namespace. Raises StatusError."""
    try:
        _delete_contents(sandbox, namespace)
    except NoSandbox:
        raise NotFound("sandboxes", sandbox.name) from None
    place = RequestPlace(NAMESPACES, "", namespace)
    write_admitted(sandbox, lambda server: server.finalize_namespace(place))


def _delete_contents(sandbox: Sandbox, namespace: str) -> None:
    """Delete all objects of a terminating namespace. Raises NoSandbox, and ServiceUnavailable if it still has
    objects after the last pass."""
    for _ in range(PASSES):
        found = False
        for batch in _batches(sandbox, namespace):
            found = True
            _delete(sandbox, batch)
        if not found:
            return
    raise ServiceUnavailable(f"namespace {namespace} is still written to; please delete it again")


def _delete(sandbox: Sandbox, batch: list[Change]) -> None:
    """Delete objects. If others deleted one of them meanwhile, nothing is stored: the halves are tried, so
    that all that are left go."""
    try:
        sandbox.commit(Commit(batch))
    except ApiError:
        if len(batch) > 1:
            half = len(batch) // 2
            _delete(sandbox, batch[:half])
            _delete(sandbox, batch[half:])


def _batches(sandbox: Sandbox, namespace: str) -> Iterator[list[Change]]:
    """Yield the deletions in batches. Pods are last, so that no controller creates them again."""
    for resource in sorted(sandbox.resources(), key=lambda resource: resource == PODS.id):
        keys = sandbox.keys_starting_with(resource, f"{namespace}/")
        while batch := [*islice(keys, CHANGES_AT_ONCE)]:
            # A scan may show a key twice.
            removals = (ApiServer.remove_at_any_version(resource, key) for key in dict.fromkeys(batch))
            yield from parts_of(removals, sandbox)
