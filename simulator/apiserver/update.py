"""Admission of updates, also of an object together with its status in one write, as a page makes it."""

import copy
from typing import Any

from msgspec.structs import replace as with_fields

from simulator.api import Admission, Change, Manifest
from simulator.apiserver import decoding
from simulator.apiserver.admission import DELETION_FIELDS, SERVER_FIELDS, unknown_fields
from simulator.apiserver.admission_plugins.order import admit_request, validate_request
from simulator.apiserver.admission_plugins.plugin import Attributes
from simulator.apiserver.component_writes import is_removed
from simulator.apiserver.custom_resources.resource_schema import prune_custom
from simulator.apiserver.defaults import set_defaults
from simulator.apiserver.generation import set_next_generation
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.managed_fields.field_writes import FieldWrite, managed_fields_of_updated
from simulator.apiserver.managed_fields.managers import differ_in_times_only
from simulator.apiserver.overlay import Overlay, Reader
from simulator.apiserver.preconditions import version_of_update
from simulator.apiserver.quota.charges import QuotaCharges
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import BadRequest, Conflict, Invalid
from simulator.apiserver.strategy import Strategy, Subresource, with_field
from simulator.apiserver.validation import validate_updated


def admit_update(
    resource: Resource,
    old: Manifest,
    new: Manifest,
    reader: Reader,
    *,
    subresource: str = "",
    write: FieldWrite | None = None,
    served: Resource | None = None,
) -> Admission:
    """Return the change that replaces ``old`` by ``new``, or only what a subresource changes. ``write``: who
    comes to own the changed fields; None: the owners stay.
    ``served``: the version of a stored kind in which the object is changed, if it is another one.

    The result has no change if nothing differs. Raises StatusError: Conflict if ``new`` has another
    resourceVersion than ``old``. Of a PUT, :func:`check_stored_identity` checks the UID before."""
    overlay = Overlay(reader)
    if resource.schema_text:
        # All versions of a custom resource have the same fields (the conversion strategy None).
        old = {**old, "apiVersion": resource.api_version}
    decoded, causes = decoding.decode(resource, _with_stored_type(new, old))
    decoded, unknown = prune_custom(resource, decoded, is_applied=write is not None and write.is_applied)
    if unknown:
        # The API has dropped them before. Those of the stored object are older than its definition.
        stored = prune_custom(resource, old).unknown
        causes += unknown_fields([path for path in unknown if path not in stored])
    name = old["metadata"]["name"]
    if causes:
        raise Invalid(resource.kind, resource.group, name, causes)
    metadata = decoded.setdefault("metadata", {})
    _check_identity(resource, metadata, old)
    version = old["metadata"].get("resourceVersion", "")
    owners = _managed_fields(resource, old, decoded, write)
    strategy = strategy_of(resource)
    path = strategy.subresource(subresource)
    decoded = _prepared(strategy, path, decoded, old)
    if write and path and path.set_times:
        decoded = path.set_times(decoded, old, write.time)
    metadata = decoded["metadata"] = {**decoded["metadata"]}
    given = {**metadata}
    for field in (*SERVER_FIELDS, *DELETION_FIELDS, "name", "namespace"):
        metadata.pop(field, None)
        if field in old["metadata"]:
            metadata[field] = old["metadata"][field]
    if owners is not None:
        _set_managed_fields(metadata, owners)
    quotas = QuotaCharges(overlay, 0)
    request = Attributes(
        operation="UPDATE",
        resource=resource,
        object=decoded,
        old=old,
        subresource=subresource,
        overlay=overlay,
        quotas=quotas,
    )
    admit_request(request)
    set_defaults(resource, decoded, old)
    if not subresource:
        strategy.begin_update(decoded, old, overlay)
    set_next_generation(strategy, old, decoded, counts=path is None or path.counts)
    causes = validate_updated(served or resource, decoded, old, given, subresource)
    if path:
        causes = [*path.validate_in_cluster(decoded, old, overlay), *causes]
    if causes:
        raise Invalid(resource.kind, resource.group, name, causes)
    validate_request(request)
    if differ_in_times_only(old, decoded):
        return Admission([], {})
    key = resource.key(metadata.get("namespace", ""), name)
    expected = int(version) if version else None
    if is_removed(decoded):
        return Admission([Change(resource.id, key, None, expected)], overlay.versions, last=decoded)
    charges = quotas.changes()
    changes = [Change(resource.id, key, decoded, expected), *charges]
    return Admission(changes, overlay.versions, charged=len(charges))


def _prepared(strategy: Strategy, path: Subresource | None, new: Manifest, old: Manifest) -> Manifest:
    """Return ``new`` with the fields of ``old`` that the path does not change."""
    if path:
        return path.prepare_for_update(new, old)
    if strategy.resource.has_status:
        new = with_field(new, old, "status")
    return strategy.prepare_for_update(new, old) if strategy.prepare_for_update else new


def _managed_fields(
    resource: Resource, old: Manifest, new: Manifest, write: FieldWrite | None
) -> list[Manifest] | None:
    """Return the managedFields of the new object; None: those of the stored one."""
    given = new["metadata"].get("managedFields")
    if write is None:
        return None
    if write.is_applied:
        return given or []
    if not given and "managedFields" not in old["metadata"]:
        return None
    wanted = copy.deepcopy(new)
    set_defaults(resource, wanted, old)
    return managed_fields_of_updated(resource, old, wanted, write)


def _set_managed_fields(metadata: dict[str, Any], owners: list[Manifest]) -> None:
    if owners:
        metadata["managedFields"] = owners
    else:
        metadata.pop("managedFields", None)


def _with_stored_type(new: Manifest, old: Manifest) -> Manifest:
    """Return the new manifest with the type of the stored object, which it may leave out.

    Raises BadRequest for another type: the schema of a custom resource does not check it."""
    kept = {field: old[field] for field in ("apiVersion", "kind")}
    for field, known in kept.items():
        if new.get(field) not in (None, "", known):
            raise BadRequest(
                f"the {field} of the object ({new[field]}) does not match the {field} of the stored object "
                f"({known})"
            )
    return {**kept, **new, **kept}


def _check_identity(resource: Resource, metadata: dict[str, Any], old: Manifest) -> None:
    """Check that the new manifest has the name, namespace and resourceVersion of the stored object, as far as
    it has any; the namespace of one without namespaces is ignored. Raises BadRequest, Conflict or
    PlainError."""
    known = old["metadata"]
    name = known["name"]
    if resource.namespaced and metadata.get("namespace") not in (None, "", known.get("namespace")):
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if metadata.get("name") not in (None, "", name):
        raise BadRequest(
            f"the name of the object ({metadata['name']}) does not match the name on the URL ({name})"
        )
    if version_of_update(metadata) not in (0, int(known.get("resourceVersion") or "0")):
        raise Conflict(resource.id, name)


def admit_whole_update(
    resource: Resource,
    old: Manifest,
    new: Manifest,
    reader: Reader,
    *,
    subresource: str = "",
    write: FieldWrite | None = None,
    served: Resource | None = None,
) -> Admission:
    """Return the update of an object, and after it that of its status, as one change; see
    :func:`admit_update`."""
    admitted = admit_update(resource, old, new, reader, subresource=subresource, write=write, served=served)
    updated = admitted.changes[0].object if admitted.changes else old
    if updated is None:
        return admitted  # the update removed the last finalizer and so deletes the object
    status = admit_update(resource, updated, new, reader, subresource="status")
    if not status.changes:
        return admitted
    expected = (admitted.changes or status.changes)[0].expected
    merged = with_fields(status.changes[0], expected=expected)
    charges = [*admitted.charges] or status.charges
    unchanged = {**status.unchanged, **admitted.unchanged}
    return Admission([merged, *charges], unchanged, charged=len(charges))
