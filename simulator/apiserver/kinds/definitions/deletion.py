"""The deletion of CustomResourceDefinitions: they are marked, and no object of theirs is created any more.

Upstream: Delete in apiextensions-apiserver/pkg/registry/customresourcedefinition/etcd.go, and
customresource_handler.go in its pkg/apiserver, v1.34.
"""

from typing import Final

from simulator.api import Manifest, Micros
from simulator.apiserver.definition_conditions import Condition, with_condition
from simulator.apiserver.overlay import Reader
from simulator.apiserver.request_errors import NotAllowedWhileTerminating
from simulator.apiserver.resource import CRDS, Resource, is_built_in_group
from simulator.objects.metadata import finalizers_of, is_terminating
from simulator.objects.timestamps import timestamp

CLEANUP: Final = "customresourcecleanup.apiextensions.k8s.io"
PENDING: Final = Condition(
    "Terminating",
    "True",
    "InstanceDeletionPending",
    "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
)


def marked_definition(definition: Manifest, now: Micros) -> Manifest:
    """Return a definition that is marked for deletion."""
    metadata = {**definition["metadata"], "deletionTimestamp": timestamp(now)}
    finalizers = finalizers_of(definition)
    metadata["finalizers"] = finalizers if CLEANUP in finalizers else [*finalizers, CLEANUP]
    status = with_condition(definition.get("status") or {}, PENDING, timestamp(now))
    return {**definition, "metadata": metadata, "status": status}


def is_definition_terminating(resource: str, reader: Reader) -> bool:
    """Whether a resource has a definition that is being deleted."""
    if is_built_in_group(resource.partition(".")[2]):
        return False
    return any(is_terminating(found) for found in reader.find(CRDS, resource).items)


def refuse_while_terminating(resource: Resource, reader: Reader) -> None:
    """Raise NotAllowedWhileTerminating for the creation of an object whose definition is being deleted."""
    if is_definition_terminating(resource.id, reader):
        raise NotAllowedWhileTerminating(resource.id)
