"""Deletes CustomResourceDefinitions: first their objects, then the definition.

Upstream: Delete in apiextensions-apiserver/pkg/registry/customresourcedefinition/etcd.go, and
pkg/controller/finalizer/crd_finalizer.go, v1.34. That controller runs in kube-apiserver; here it is part of
the request. Objects with finalizers are marked, and the definition stays until the last of them is gone.
"""

from typing import Final

from schedviz.api.admitted_write import write_until_done
from schedviz.api.definitions import accept_names, admit_status
from schedviz.cache import Current, read_current
from schedviz.store import Sandbox
from schedviz.store.parts import parts_of
from simulator.api import Change, Manifest, Micros
from simulator.apiserver.admission import Admission
from simulator.apiserver.definition_conditions import Condition, with_condition
from simulator.apiserver.deletion import admit_delete
from simulator.apiserver.resource import CRDS, Resource
from simulator.apiserver.resources import BUILT_IN_GROUPS, defined_resources
from simulator.objects.metadata import finalizers_of, is_terminating
from simulator.objects.timestamps import timestamp

CLEANUP: Final = "customresourcecleanup.apiextensions.k8s.io"
PASSES: Final = 200
"""Commits of one request: so many delete all objects that a sandbox may have."""

_PENDING: Final = Condition(
    "Terminating",
    "True",
    "InstanceDeletionPending",
    "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
)
_IN_PROGRESS: Final = Condition(
    "Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"
)


def admit_definition_delete(definition: Manifest, now: Micros) -> Change | None:
    """Return the change that marks a definition for deletion; None if it is marked already."""
    if is_terminating(definition):
        return None
    metadata = {**definition["metadata"], "deletionTimestamp": timestamp(now)}
    finalizers = finalizers_of(definition)
    metadata["finalizers"] = finalizers if CLEANUP in finalizers else [*finalizers, CLEANUP]
    status = definition.get("status") or {}
    status = with_condition(status, _PENDING, timestamp(now))
    marked = {**definition, "metadata": metadata, "status": status}
    return Change(CRDS, metadata["name"], marked, int(metadata["resourceVersion"]))


def finalize_definition(sandbox: Sandbox, name: str) -> None:
    """Delete the objects of a terminating definition, and then the definition, if no object stays. Raises
    StatusError."""
    write_until_done(sandbox, lambda current: _next_deletions(current, name), most=PASSES)
    accept_names(sandbox, name.partition(".")[2])


def finalize_definition_of(sandbox: Sandbox, resource: Resource) -> None:
    """Delete further objects, or the definition, after an object of one of its resources was removed."""
    if resource.group in BUILT_IN_GROUPS:
        return
    definition = read_current(sandbox).get(CRDS, resource.id)
    if definition is not None and is_terminating(definition):
        finalize_definition(sandbox, resource.id)


def _next_deletions(current: Current, name: str) -> Admission:
    """Return the deletions of some objects of the definition, or of the definition, if there are none; no
    change, if all wait for their finalizers."""
    definition = current.get(CRDS, name)
    if definition is None or not is_terminating(definition):
        return Admission([], {})
    now = current.now()
    status = definition["status"]
    if any(each["reason"] == _PENDING.reason for each in status["conditions"]):
        return admit_status(current, definition, with_condition(status, _IN_PROGRESS, timestamp(now)))
    resource = next(iter(defined_resources([definition])), None)
    listing = current.list(name)
    found = (admit_delete(resource, item, now) for item in listing.items) if resource else iter(())
    deletions = (change for change in found if change)
    changes = next(parts_of(deletions, current.sandbox), [])
    if changes or listing.items or CLEANUP not in finalizers_of(definition):
        return Admission(changes, {})
    others = [each for each in finalizers_of(definition) if each != CLEANUP]
    version = int(definition["metadata"]["resourceVersion"])
    unchanged = {name: listing.version}
    if not others:
        return Admission([Change(CRDS, name, None, version)], unchanged, last=definition)
    kept = {**definition, "metadata": {**definition["metadata"], "finalizers": others}}
    return Admission([Change(CRDS, name, kept, version)], unchanged)
