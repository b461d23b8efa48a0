"""The controllers of CustomResourceDefinitions, which run in kube-apiserver itself: here as further writes of
the request after which they have something to do.

They accept the names of definitions, and delete the objects of a definition that is being deleted, and then
the definition. Objects with finalizers are marked, and the definition stays until the last of them is gone.
Upstream: naming_controller.go, establishing_controller.go and finalizer/crd_finalizer.go in
apiextensions-apiserver/pkg/controller.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final

from simulator.api import Admission, Change, Manifest
from simulator.apiserver.deletion import admit_delete
from simulator.apiserver.kinds.definitions.accepted_names import UsedNames, status_with_names
from simulator.apiserver.kinds.definitions.conditions import Condition, with_condition
from simulator.apiserver.kinds.definitions.strategy import CLEANUP, PENDING
from simulator.apiserver.place import RequestPlace
from simulator.apiserver.request_options import WriteOptions
from simulator.apiserver.resource import CRDS, is_built_in_group
from simulator.apiserver.resources import defined_resources, find_built_in
from simulator.apiserver.server import ApiServer
from simulator.kernel.parts import in_parts, size_of
from simulator.objects.metadata import finalizers_of, is_terminating, name_of
from simulator.objects.timestamps import timestamp

WRITES: Final = 1_000
"""The most writes of one controller after a request: each accepts the names of some definitions, or deletes
some of the objects of one."""
WRITTEN_AT_ONCE: Final = 500
"""Objects that one write changes or deletes: it blocks a store for about 10 ms."""
_BY: Final = WriteOptions(manager="kube-apiserver")
"""The owner of the fields that these controllers write."""
_DEFINITIONS: Final = find_built_in("apiextensions.k8s.io", "customresourcedefinitions")
_IN_PROGRESS: Final = Condition(
    "Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"
)

Decide = Callable[[ApiServer], Admission]


def run_controllers(changes: Sequence[Change], write: Callable[[Decide], Sequence[Change]]) -> None:
    """Do what is to be done after these changes were stored. ``write`` stores what it is given to decide, and
    returns the changes. Raises StatusError."""
    groups = _groups(changes)
    for name in _definitions_to_clean(changes):
        for _ in range(WRITES):
            made = write(partial(next_cleanup, name=name))
            if not made:
                break
            groups |= _groups(made)
    for group in groups:
        for _ in range(WRITES):
            if not write(partial(next_acceptance, group=group)):
                break


def definitions_left(objects: Sequence[Manifest]) -> list[Change]:
    """Return the definitions among objects that a write left as they are whose deletion has begun: an earlier
    request may not have finished it."""
    return [
        Change(CRDS, name_of(each), each)
        for each in objects
        if each["kind"] == "CustomResourceDefinition" and is_terminating(each)
    ]


def _groups(changes: Sequence[Change]) -> dict[str, None]:
    """Return the groups of the definitions that changed: names that one released may now be accepted for
    another."""
    return {change.key.partition(".")[2]: None for change in changes if change.resource == CRDS}


def _definitions_to_clean(changes: Sequence[Change]) -> dict[str, None]:
    """Return the definitions that may be waiting for the deletion of an object, or for their own."""
    found: dict[str, None] = {}
    for change in changes:
        ends = change.object is None or is_terminating(change.object)
        if ends and change.resource == CRDS:
            found[change.key] = None
        elif ends and not is_built_in_group(change.resource.partition(".")[2]):
            found[change.resource] = None
    return found


def next_acceptance(server: ApiServer, group: str) -> Admission:
    """Bring the status of the next definitions of a group up to date whose names are to be accepted, or are
    in conflict."""
    # Names that are accepted meanwhile are seen by the version, which is read before.
    version, now = server.reader.find(CRDS, group).version, timestamp(server.now())
    # The name of a definition ends with its group. Those of other groups are not read.
    named = sorted(name for name in server.reader.names(CRDS) if name.partition(".")[2] == group)
    definitions = [found for name in named if (found := _find(server, name)) is not None]
    part = next(
        in_parts(islice(_acceptances(server, definitions, now), WRITTEN_AT_ONCE), _size_of_objects), []
    )
    changes = [change for admitted in part for change in admitted.changes]
    read = {resource: seen for admitted in part for resource, seen in admitted.unchanged.items()}
    return Admission(changes, {**read, CRDS: version} if changes else {})


def _acceptances(server: ApiServer, definitions: Sequence[Manifest], now: str) -> Iterator[Admission]:
    """Yield the changes of the definitions of a group, up to the first that may release names: an earlier
    definition may wait for these."""
    used = UsedNames.of(each.get("status") or {} for each in definitions)
    for old in definitions:
        before = old.get("status") or {}
        status = status_with_names(old, used, now)
        if status == before:
            continue
        yield _set_status(server, old, status)
        if not UsedNames.of([status]).includes(UsedNames.of([before])):
            return
        used.add(status)


def _size_of_objects(admitted: Admission) -> int:
    return sum(size_of(change.object or {}) for change in admitted.changes)


def next_cleanup(server: ApiServer, name: str) -> Admission:
    """Delete some objects of a definition that is being deleted, or the definition, if there are none. No
    change: all wait for their finalizers, or the definition stays."""
    definition = _find(server, name)
    if definition is None or not is_terminating(definition):
        return Admission([], {})
    now, status = server.now(), definition["status"]
    if any(each["reason"] == PENDING.reason for each in status["conditions"]):
        return _set_status(server, definition, with_condition(status, _IN_PROGRESS, timestamp(now)))
    resource = next(iter(defined_resources([definition])), None)
    listing = server.reader.list(name)
    deletions = (
        (item, change)
        for item in (listing.items if resource is not None else ())
        if resource is not None and (change := admit_delete(resource, item, now)) is not None
    )
    part = next(in_parts(islice(deletions, WRITTEN_AT_ONCE), lambda each: size_of(each[0])), [])
    changes = [change for _, change in part]
    if changes or listing.items or CLEANUP not in finalizers_of(definition):
        return Admission(changes, {})
    others = [each for each in finalizers_of(definition) if each != CLEANUP]
    kept = {**definition, "metadata": {**definition["metadata"], "finalizers": others}}
    unchanged = {name: listing.version}
    last = None if others else definition
    return Admission(server.update_by_component(CRDS, definition, kept), unchanged, last=last)


def _find(server: ApiServer, name: str) -> Manifest | None:
    return next(iter(server.reader.find(CRDS, name).items), None)


def _set_status(server: ApiServer, definition: Manifest, status: Manifest) -> Admission:
    assert _DEFINITIONS is not None
    place = RequestPlace(_DEFINITIONS, "", name_of(definition), "status")
    return server.update(place, lambda old: {**old, "status": status}, _BY)
