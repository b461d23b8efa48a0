"""The changes of ``metadata.managedFields`` by a write: a create, an update, a patch, or an apply.

Upstream: apimachinery/pkg/util/managedfields (fieldmanager.go and the managers in internal).
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.custom_resources.resource_schema import prune_custom
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.managed_fields.field_paths import FieldsError, FieldSet, field_element
from simulator.apiserver.managed_fields.field_types import ItemError, applied_object_errors
from simulator.apiserver.managed_fields.managers import (
    FieldManager,
    ManagedFields,
    Operation,
    OwnedFields,
    decode_managed_fields,
    entries_of,
    without_managed_fields,
)
from simulator.apiserver.managed_fields.updater import (
    WrittenType,
    apply_after_client_side_apply,
    update_owners,
    with_last_applied,
)
from simulator.apiserver.patches.unstructured_conversion import from_unstructured
from simulator.apiserver.resource import Resource
from simulator.apiserver.served_features import once_per_version
from simulator.apiserver.status import BadRequest, PlainError
from simulator.apiserver.strategy import WHOLE_METADATA
from simulator.apiserver.types.schema_types import UNKNOWN_KIND, decoded_type, type_of
from simulator.apiserver.types.zero_values import empty_object

PAGE_MANAGER: Final = "schedviz"
"""The manager of what people change on the page."""
_BEFORE_FIRST_APPLY: Final = "before-first-apply"
_SERVER_METADATA: Final = (
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
)
_NEVER_OWNED: Final[FieldSet] = frozenset(
    {("f:apiVersion",), ("f:kind",), ("f:metadata",)}
    | {("f:metadata", field_element(name)) for name in _SERVER_METADATA}
)


@dataclass(frozen=True, slots=True)
class FieldWrite:
    """The manager of a write, its time, and its subresource."""

    manager: str
    time: str
    subresource: str = ""
    is_applied: bool = False
    """Whether the object comes from :func:`apply_manifest`, with its managedFields."""

    def field_manager(self, operation: Operation, api_version: str) -> FieldManager:
        version = api_version if operation == "Update" else ""
        return FieldManager(self.manager, operation, version, self.subresource)


class _Updater(NamedTuple):
    manager: FieldManager
    time: str


def managed_fields_of_new(resource: Resource, new: Manifest, write: FieldWrite) -> list[Manifest]:
    """Return the managedFields of a created object, from the object with its defaults."""
    written = _written_type(resource, "")
    by = _Updater(write.field_manager("Update", written.api_version), write.time)
    managed = _after_update(written, empty_object(resource), new, ManagedFields(), by)
    return entries_of(managed, without_managed_fields(new))


def managed_fields_of_updated(
    resource: Resource, old: Manifest, new: Manifest, write: FieldWrite
) -> list[Manifest]:
    """Return the managedFields of an updated object. ``new`` is what the client asks for, with defaults.

    An object without owners gets none. Managers that the client names replace those of the stored object;
    an empty list, or one empty entry, removes all."""
    given = None if write.subresource else new.get("metadata", {}).get("managedFields")
    if given in ([], [{}]):
        return []
    managed = _decoded(given) or _decoded(old["metadata"].get("managedFields"))
    if not managed:
        return []
    written = _written_type(resource, write.subresource)
    by = _Updater(write.field_manager("Update", written.api_version), write.time)
    before, after = without_managed_fields(old), without_managed_fields(new)
    return entries_of(_after_update(written, before, after, managed, by), after)


def apply_manifest(
    resource: Resource, live: Manifest | None, applied: Manifest, write: FieldWrite, *, force: bool
) -> Manifest:
    """Apply a manifest to the live object, None if there is none, and return the new one with its
    managedFields. Raises StatusError."""
    _check_applied(resource, applied)
    written = _written_type(resource, write.subresource)
    typed_error = "\n".join(_joined([*applied_object_errors(written.kind, applied)]))
    if typed_error:
        raise PlainError(f"failed to create typed patch object ({_described(applied)}): {typed_error}")
    entries = live["metadata"].get("managedFields") if live else None
    before = (
        {**_type_of(resource), **empty_object(resource)} if live is None else without_managed_fields(live)
    )
    managed = _decoded(entries)
    try:
        if not managed:
            first = _Updater(FieldManager(_BEFORE_FIRST_APPLY, "Update", written.api_version), write.time)
            managed = _after_update(written, empty_object(resource), before, managed, first)
        manager = write.field_manager("Apply", written.api_version)
        result = apply_after_client_side_apply(written, before, applied, managed, manager, force=force)
    except ItemError as error:
        raise PlainError(f"failed to create typed live object ({_described(before)}): {error}") from None
    after = result.managed
    owned = after.owners.get(manager)
    if owned:
        fields = owned.fields - _NEVER_OWNED
        time = owned.time if result.object is None else write.time
        after = after.written_by(manager, OwnedFields(fields, written.api_version, time))
    new = before if result.object is None else _converted(resource, result.object, applied)
    new = with_last_applied(new, applied, write.manager)
    metadata = {**(new.get("metadata") or {}), "managedFields": entries_of(after, new)}
    return {**new, "metadata": metadata}


def _converted(resource: Resource, merged: Manifest, applied: Manifest) -> Manifest:
    """Return the merged object as its type. Raises PlainError. A custom resource has no type: fields that
    its schema does not have are dropped before it is stored, and nulls are validated."""
    if resource.schema_text:
        pruned: Manifest = prune_custom(resource, merged, is_applied=True).value
        return pruned
    if decoded_type(resource) is UNKNOWN_KIND:
        return merged
    converted = from_unstructured(resource, merged)
    if converted.error:
        kind = _type_text(resource.api_version, resource.kind)
        raise PlainError(
            f"failed to convert new object ({_described(applied)}) to proper version: "
            f"unable to convert unstructured object to {kind}: {converted.error}"
        )
    manifest: Manifest = converted.manifest
    return manifest


def _after_update(
    written: WrittenType, old: Manifest, new: Manifest, managed: ManagedFields, by: _Updater
) -> ManagedFields:
    try:
        after, changed = update_owners(written, old, new, managed)
    except ItemError:
        return managed
    gained = changed - _NEVER_OWNED
    if gained:
        owned = OwnedFields(gained | after.fields_of(by.manager), written.api_version, by.time)
        after = after.written_by(by.manager, owned)
    return after.merged_to_limit()


def _written_type(resource: Resource, subresource: str) -> WrittenType:
    kind = type_of(resource)
    return WrittenType(kind, resource.api_version, reset_fields(resource, subresource))


def _check_applied(resource: Resource, applied: Manifest) -> None:
    """Check an object that is applied. Raises BadRequest for an object of another type, or one that names
    managers."""
    given = tuple(str(applied.get(field) or "") for field in ("apiVersion", "kind"))
    if given != (resource.api_version, resource.kind):
        raise BadRequest(f"invalid object type: {_type_text(*given)}")
    metadata = applied.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields") is not None:
        raise BadRequest("metadata.managedFields must be nil")


def _type_text(api_version: str, kind: str) -> str:
    """Return a group, version and kind as Go writes them (GroupVersionKind.String)."""
    if api_version.count("/") > 1:
        api_version = kind = ""  # an apiVersion that cannot be parsed leaves nothing
    group, _, version = api_version.rpartition("/")
    return f"{group}/{version}, Kind={kind}"


def _described(manifest: Manifest) -> str:
    metadata = manifest.get("metadata")
    names = metadata if isinstance(metadata, dict) else {}
    kind = _type_text(manifest["apiVersion"], manifest["kind"])
    given = (names.get(field) for field in ("namespace", "name"))
    return "/".join(each if isinstance(each, str) else "" for each in given) + f"; {kind}"


def _joined(errors: list[str]) -> list[str]:
    return errors if len(errors) < 2 else ["errors:", *(f"  {error}" for error in errors)]


def _type_of(resource: Resource) -> Manifest:
    return {"apiVersion": resource.api_version, "kind": resource.kind}


def _decoded(entries: Any) -> ManagedFields:
    """Return the owners of the entries; none if the entries are malformed."""
    try:
        return decode_managed_fields(entries)
    except FieldsError:
        return ManagedFields()


@once_per_version()
def reset_fields(resource: Resource, subresource: str) -> FieldSet:
    """Return the paths that a write through this path does not change; nor what is below them."""
    if not resource.has_status:
        return frozenset()
    if subresource != "status":
        # For pods/resize and pods/ephemeralcontainers, too: other fields that are sent are owned.
        return frozenset({("f:status",)})
    if resource.schema_text:
        # The rest of a custom resource is not changed either, but upstream names the spec only.
        return frozenset({("f:spec",)})
    others = [name for name in decoded_type(resource).fields if name not in ("metadata", "status")]
    paths = {(field_element(name),) for name in (*others, "spec")} - {("f:apiVersion",), ("f:kind",)}
    status = strategy_of(resource).subresource("status")
    resets = status.resets_metadata if status else ()
    if resets == WHOLE_METADATA:
        return frozenset(paths | {("f:metadata",)})
    return frozenset(paths | {("f:metadata", field_element(name)) for name in resets})
