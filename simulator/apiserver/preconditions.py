"""Preconditions: the UID and the resourceVersion that a request expects the object to have.

Upstream there are two checks with two texts: before a deletion (BeforeDelete in apiserver/pkg/registry/rest/
delete.go), and in the storage (Preconditions.Check in apiserver/pkg/storage/interfaces.go).
"""

from typing import Any

from simulator.api import Manifest
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.query import version_fault
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import Conflict, Invalid, PlainError, invalid
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


def storage_key(resource: Resource, namespace: str, name: str) -> str:
    """Return the key of an object: ``/registry/pods/default/web``."""
    place = f"{namespace}/{name}" if namespace else name
    return f"/registry/{strategy_of(resource).storage_prefix or resource.plural}/{place}"


def check_version_is_given(resource: Resource, name: str, metadata: dict[str, Any]) -> None:
    """Raise Invalid if an update of this resource must say a resourceVersion and does not."""
    if strategy_of(resource).needs_version and version_of_update(metadata) == 0:
        cause = invalid("metadata.resourceVersion", 0, "must be specified for an update")
        # Upstream names the resource where it should name the kind.
        raise Invalid(resource.plural, resource.group, name, [cause])


def version_of_update(metadata: dict[str, Any]) -> int:
    """Return the resourceVersion in the metadata of an update, also of one that creates the object; 0 = none.
    Raises PlainError (Update in apiserver/pkg/registry/generic/registry/store.go)."""
    text = str(metadata.get("resourceVersion") or "")
    if fault := version_fault(text):
        raise PlainError(fault)
    return int(text or "0")
