"""What an update makes of a stored object: of a PUT, a patch and an apply, and of each to the Scale.

Upstream: UpdatedObjectInfo in apiserver/pkg/registry/rest/update.go, patchResource and applyPatcher in
apiserver/pkg/endpoints/handlers/patch.go, and scaleUpdatedObjectInfo in
pkg/registry/apps/deployment/storage/storage.go.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from simulator.api import Manifest
from simulator.apiserver.decoding import decode_body
from simulator.apiserver.managed_fields.field_writes import FieldWrite, apply_manifest
from simulator.apiserver.managed_fields.scale_entries import (
    managed_fields_after_scale,
    managed_fields_of_scale,
)
from simulator.apiserver.patches.patch_request import Patched
from simulator.apiserver.place import RequestPlace
from simulator.apiserver.preconditions import check_stored_identity, check_version_is_given, version_of_update
from simulator.apiserver.request_options import WriteOptions
from simulator.apiserver.resource import SCALES, Resource
from simulator.apiserver.scale import scale_of, with_scale
from simulator.apiserver.served_versions import to_served, to_stored
from simulator.apiserver.status import Conflict
from simulator.apiserver.types.api_types import SCALE

Patcher = Callable[[Resource, Manifest], Patched]
"""Applies a patch to an object of a resource. Raises StatusError."""


class Intent(NamedTuple):
    """An object as it is applied."""

    manifest: Manifest
    check: Callable[[], list[str]] = list
    """Does the strict decoding, which comes after the object is merged: returns warnings, or raises
    BadRequest."""


def replaced(place: RequestPlace, kind: Resource, old: Manifest, manifest: Manifest) -> Manifest:
    """Return the object of a PUT, in its stored form as ``manifest`` is. Raises Conflict for another UID, and
    Invalid if it must have a resourceVersion."""
    check_stored_identity(kind, old, manifest["metadata"].get("uid") or "")
    check_version_is_given(place.resource, place.name, manifest["metadata"])
    return manifest


def patched(place: RequestPlace, old: Manifest, patcher: Patcher, options: WriteOptions) -> Manifest:
    """Return the patched object in its stored form."""
    resource = place.resource
    manifest, warnings = patcher(resource, to_served(resource, old))
    manifest, repeated = without_repeated_owners(manifest, is_patched=True)
    options.warnings.extend([*warnings, *repeated])
    place.check(manifest.get("metadata") or {})
    check_version_is_given(resource, place.name, manifest["metadata"])
    return to_stored(resource, manifest)[1]


def applied(
    place: RequestPlace, old: Manifest | None, intent: Intent, by: FieldWrite, options: WriteOptions
) -> Manifest:
    """Return the object after the merge, in the version of the path; ``old`` None: there is none yet."""
    live = None if old is None else to_served(place.resource, old)
    new = apply_manifest(place.resource, live, intent.manifest, by, force=options.force)
    options.warnings.extend(intent.check())
    if old is None:
        _check_no_uid(place.resource, new["metadata"])
        version_of_update(new["metadata"])
    place.check(new["metadata"])
    return new


def _check_no_uid(resource: Resource, metadata: dict[str, Any]) -> None:
    """Raise Conflict for an object that is to be created and has a UID."""
    if metadata.get("uid"):
        detail = (
            f"uid mismatch: the provided object specified uid {metadata['uid']}, "
            "and no existing object was found"
        )
        raise Conflict(resource.id, metadata.get("name", ""), detail)


def decoded_scale(place: RequestPlace, given: Manifest) -> Manifest:
    """Return a Scale that was sent. Raises BadRequest if it is not one, or that of another object."""
    scale = decode_body(SCALE, given)
    place.check(scale.get("metadata") or {})
    return scale


def replaced_scale(place: RequestPlace, old: Manifest, scale: Manifest) -> Manifest:
    """Return the object as the PUT of its Scale asks for it."""
    check_stored_identity(place.resource, old, scale["metadata"].get("uid", ""))
    return with_scale(place.resource, old, scale)


def patched_scale(place: RequestPlace, old: Manifest, patcher: Patcher, options: WriteOptions) -> Manifest:
    """Return the object as the patch of its Scale asks for it."""
    scale = scale_of(place.resource, old)
    owners = managed_fields_of_scale(place.resource, old)
    if owners:
        scale["metadata"]["managedFields"] = owners
    given, warnings = patcher(SCALES, scale)
    options.warnings.extend(warnings)
    return with_scale(place.resource, old, decoded_scale(place, given))


def applied_scale(
    place: RequestPlace, old: Manifest, intent: Intent, by: FieldWrite, options: WriteOptions
) -> Manifest:
    """Return the object after the merge into its Scale."""
    resource = place.resource
    live = scale_of(resource, old)
    live["metadata"]["managedFields"] = managed_fields_of_scale(resource, old)
    scale = apply_manifest(SCALES, live, intent.manifest, by, force=options.force)
    options.warnings.extend(intent.check())
    place.check(scale.get("metadata") or {})
    new = with_scale(resource, old, scale)
    owners = managed_fields_after_scale(resource, old, scale["metadata"]["managedFields"])
    new["metadata"]["managedFields"] = owners
    return new


def without_repeated_owners(manifest: Manifest, *, is_patched: bool = False) -> tuple[Manifest, list[str]]:
    """Return the object without owner references that are equal to an earlier one, and the warning about
    them. ``is_patched``: the object is the result of a patch, which is looked at later than other writes."""
    given = manifest.get("metadata")
    metadata: dict[str, Any] = given if isinstance(given, dict) else {}
    kept: dict[bytes, Any] = {}
    repeated = []
    for owner in metadata.get("ownerReferences") or []:
        text = msgspec.json.encode(owner, order="sorted")
        if text in kept:
            repeated.append(owner.get("uid") or "")
        else:
            kept[text] = owner
    if not repeated:
        return manifest, []
    after = " after mutating admission happens" if is_patched else ""
    warning = (
        f".metadata.ownerReferences contains duplicate entries{after}; API server dedups owner references in "
        "1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) "
        f"observed: {', '.join(repeated)}"
    )
    return {**manifest, "metadata": {**metadata, "ownerReferences": [*kept.values()]}}, [warning]
