"""Accepts the names of CustomResourceDefinitions, as controllers in kube-apiserver do at once, and refuses
objects of definitions that are being deleted.

Upstream: naming_controller.go and establishing_controller.go in apiextensions-apiserver/pkg/controller, and
customresource_handler.go in its pkg/apiserver, v1.34.
"""

from collections.abc import Iterable
from typing import Final

from schedviz.api.admitted_write import write_until_done
from schedviz.cache import Current, read_current
from schedviz.store import Sandbox
from simulator.api import Manifest
from simulator.apiserver.admission import Admission
from simulator.apiserver.definitions.accepted_names import status_with_names
from simulator.apiserver.managed_fields.field_writes import FieldWrite
from simulator.apiserver.request_errors import NotAllowedWhileTerminating
from simulator.apiserver.resource import CRDS, Resource
from simulator.apiserver.resources import BUILT_IN_GROUPS, find_built_in
from simulator.apiserver.update import admit_update
from simulator.objects.metadata import is_terminating
from simulator.objects.timestamps import timestamp

_API_SERVER: Final = "kube-apiserver"
"""The owner of the fields that the controllers in kube-apiserver write."""
_DEFINITIONS: Final = find_built_in("apiextensions.k8s.io", "customresourcedefinitions")
WRITES: Final = 1_000
"""The most definitions whose names one request accepts."""


def accept_names(sandbox: Sandbox, group: str) -> None:
    """Bring the status of all definitions of a group up to date after one of them has changed: names that it
    released may now be accepted for another. Raises StatusError."""
    write_until_done(sandbox, lambda current: _next_acceptance(current, group), most=WRITES)


def groups_defined_by(written: Iterable[Manifest]) -> set[str]:
    """Return the groups of the definitions among the written objects."""
    return {each["spec"]["group"] for each in written if each["kind"] == "CustomResourceDefinition"}


def refuse_while_terminating(sandbox: Sandbox, resource: Resource) -> None:
    """Raise NotAllowedWhileTerminating for the creation of an object whose definition is being deleted."""
    if resource.group in BUILT_IN_GROUPS:
        return
    definition = read_current(sandbox).get(CRDS, resource.id)
    if definition is not None and is_terminating(definition):
        raise NotAllowedWhileTerminating(resource.id)


def _next_acceptance(current: Current, group: str) -> Admission:
    """Return the status of the next definition of the group whose status is not up to date."""
    version, now = current.version(), timestamp(current.now())
    # The name of a definition ends with its group. Those of other groups are not read.
    named = [name for name in current.names(CRDS) if name.partition(".")[2] == group]
    definitions = [found for name in sorted(named) if (found := current.get(CRDS, name))]
    for old in definitions:
        status = status_with_names(old, definitions, now)
        if status != old.get("status"):
            admitted = admit_status(current, old, status)
            return Admission(admitted.changes, {**admitted.unchanged, CRDS: version})
    return Admission([], {})


def admit_status(current: Current, definition: Manifest, status: Manifest) -> Admission:
    """Return the change of a definition's status by a controller in kube-apiserver. Raises StatusError."""
    assert _DEFINITIONS is not None
    by = FieldWrite(_API_SERVER, timestamp(current.now()), "status")
    new = {**definition, "status": status}
    return admit_update(_DEFINITIONS, definition, new, current, subresource="status", write=by)
