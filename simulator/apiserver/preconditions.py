"""Preconditions: the UID and the resourceVersion that a request expects the object to have.

Upstream there are two checks with two texts: before a deletion (BeforeDelete in apiserver/pkg/registry/rest/
delete.go), and in the storage (Preconditions.Check in apiserver/pkg/storage/interfaces.go), v1.34.
"""

from simulator.api import Manifest
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import Conflict
from simulator.apiserver.storage_keys import storage_key
from simulator.objects.metadata import name_of, namespace_of


def check_preconditions(resource: Resource, manifest: Manifest, uid: str, version: str) -> None:
    """Check the preconditions of a deletion; "" = none. Raises Conflict."""
    metadata = manifest["metadata"]
    for field, known, wanted, guess in (
        ("UID", metadata.get("uid"), uid, "deleted and then recreated"),
        ("ResourceVersion", metadata.get("resourceVersion"), version, "modified"),
    ):
        if not wanted or wanted == known:
            continue
        if strategy_of(resource).has_finalizers_in_spec:
            detail = (
                f"Precondition failed: {field} in precondition: {wanted}, {field} in object meta: {known}"
            )
            raise Conflict(resource.id, metadata["name"], detail)
        detail = (
            f"the {field} in the precondition ({wanted}) does not match the {field} in record ({known}). The "
            f"object might have been {guess}"
        )
        kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
        raise Conflict(kind, metadata["name"], detail)


def check_stored_identity(resource: Resource, manifest: Manifest, uid: str, version: str = "") -> None:
    """Check the preconditions of a write of the storage; "" = none. Raises Conflict."""
    metadata = manifest["metadata"]
    key = storage_key(resource, namespace_of(manifest), name_of(manifest))
    for field, known, wanted in (
        ("UID", metadata.get("uid"), uid),
        ("ResourceVersion", metadata.get("resourceVersion"), version),
    ):
        if wanted and wanted != known:
            raise Conflict(resource.id, name_of(manifest), _of_storage(key, field, wanted, known))


def check_missing_identity(resource: Resource, namespace: str, name: str, uid: str) -> None:
    """Raise Conflict if a PUT of an object that is missing has a UID: upstream the storage
    compares it with that of an empty object."""
    if uid:
        raise Conflict(resource.id, name, _of_storage(storage_key(resource, namespace, name), "UID", uid, ""))


def _of_storage(key: str, field: str, wanted: str, known: str) -> str:
    return (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
        f"Precondition failed: {field} in precondition: {wanted}, {field} in object meta: {known}"
    )
