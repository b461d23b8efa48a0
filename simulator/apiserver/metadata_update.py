"""The rules for changes of an object's metadata by an update.

Upstream: BeforeUpdate in apiserver/pkg/registry/rest/update.go, ValidateObjectMetaAccessorUpdate in
apimachinery/pkg/api/validation/objectmeta.go, and Update in
apiserver/pkg/registry/generic/registry/store.go, v1.34.
"""

from collections.abc import Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.query import version_fault
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import Cause, Invalid, PlainError, forbidden, invalid

_DELETION: Final = ("deletionTimestamp", "deletionGracePeriodSeconds")


def is_created_by_update(resource: Resource) -> bool:
    """Whether an update creates a missing object (AllowCreateOnUpdate)."""
    return strategy_of(resource).is_created_by_update


def check_version_is_given(resource: Resource, name: str, metadata: dict[str, Any]) -> None:
    """Raise Invalid if an update of this resource must say a resourceVersion and does not."""
    if strategy_of(resource).needs_version and version_of_update(metadata) == 0:
        cause = invalid("metadata.resourceVersion", 0, "must be specified for an update")
        # Upstream names the resource where it should name the kind.
        raise Invalid(resource.plural, resource.group, name, [cause])


def version_of_update(metadata: dict[str, Any]) -> int:
    """Return the resourceVersion in the metadata of an update, also of one that creates the object; 0 = none.
    Raises PlainError (Update in apiserver/pkg/registry/generic/registry/store.go, v1.34)."""
    text = str(metadata.get("resourceVersion") or "")
    if fault := version_fault(text):
        raise PlainError(fault)
    return int(text or "0")


def validate_metadata_update(given: dict[str, Any], old: Manifest) -> Iterator[Cause]:
    """Yield the faults of the metadata that a client asks for."""
    yield from _new_finalizers(given, old)
    uid = given.get("uid")
    if uid and uid != old["metadata"]["uid"]:
        yield invalid("metadata.uid", uid, "field is immutable")
    yield from _deletion(given, old)


def _new_finalizers(given: dict[str, Any], old: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateNoNewFinalizers reports."""
    if "deletionTimestamp" not in old["metadata"]:
        return
    known = old["metadata"].get("finalizers", ())
    added = [name for name in given.get("finalizers") or () if name not in known]
    if added:
        shown = ", ".join(f'"{name}"' for name in sorted(added))
        yield forbidden(
            "metadata.finalizers",
            "no new finalizers can be added if the object is being deleted, found new finalizers "
            f"[]string{{{shown}}}",
        )


def _deletion(given: dict[str, Any], old: Manifest) -> Iterator[Cause]:
    """Yield the faults of the deletion time: a client cannot set it, and may leave it out."""
    for field in _DELETION:
        value, known = given.get(field), old["metadata"].get(field)
        if value is not None and value != known and (known is None or field != "deletionTimestamp"):
            yield invalid(f"metadata.{field}", value, "field is immutable")
