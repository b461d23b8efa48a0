"""Changes who owns which fields when an object is updated or applied, also after kubectl's client-side apply,
which keeps the last applied object in an annotation; and the error of an apply that would change fields of
other managers.

Upstream: structured-merge-diff/merge/update.go; conflict.go, lastappliedmanager.go and lastappliedupdater.go
in apimachinery/pkg/util/managedfields/internal, and NewApplyConflict in api/errors. All managers'
fields are taken as those of the version that is written: each kind here is stored in one version."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.managed_fields.field_paths import FieldSet, path_text, paths_in_order
from simulator.apiserver.managed_fields.managers import FieldManager, ManagedFields, OwnedFields
from simulator.apiserver.managed_fields.typed_objects import (
    MISSING,
    Comparison,
    compare,
    fields_of,
    merge,
    remove_fields,
    with_named_fields,
    without_prefixes,
)
from simulator.apiserver.status import Cause, StatusError
from simulator.apiserver.types.model import Type

_KUBECTL: Final = "kubectl"
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


class ApplyConflict(StatusError):
    """409 for an apply without force. ``fields``: those that other managers own."""

    code = 409
    reason = "Conflict"

    def __init__(self, fields: Mapping[FieldManager, FieldSet]) -> None:
        self.fields = dict(sorted(fields.items(), key=lambda item: _identifier(item[0])))
        paths = {
            manager: [path_text(path) for path in paths_in_order(owned)]
            for manager, owned in self.fields.items()
        }
        causes = [
            Cause(path, f"conflict with {manager}", "FieldManagerConflict")
            for manager, found in paths.items()
            for path in found
        ]
        super().__init__(_message(paths), causes=causes)


def _message(paths: Mapping[FieldManager, list[str]]) -> str:
    count = sum(map(len, paths.values()))
    if count == 1:
        ((manager, (path,)),) = paths.items()
        return f"Apply failed with 1 conflict: conflict with {manager}: {path}"
    lines = []
    for manager, found in paths.items():
        lines += [f"conflicts with {manager}:", *(f"- {path}" for path in found)]
    return f"Apply failed with {count} conflicts: " + "\n".join(lines)


def _identifier(manager: FieldManager) -> tuple[str, ...]:
    return manager.name, manager.operation, manager.api_version, manager.subresource


class WrittenType(NamedTuple):
    """The objects that a path writes: their type, their apiVersion, and the fields that a write does not
    own."""

    kind: Type
    api_version: str
    ignored: FieldSet = frozenset()


class Applied(NamedTuple):
    """The result of an apply. ``object`` is None if nothing of the object changes."""

    object: Manifest | None
    managed: ManagedFields


def update_owners(
    written: WrittenType, old: Manifest, new: Manifest, managed: ManagedFields
) -> tuple[ManagedFields, FieldSet]:
    """Return the owners without the fields that an update changed or removed, and the fields that it added or
    changed, which the updater comes to own. Raises ItemError."""
    difference = compare(written.kind, old, new).without(written.ignored)
    managed = _without_changed(managed, difference, manager=None)
    return managed, difference.changed


def apply_object(
    written: WrittenType,
    live: Manifest,
    applied: Manifest,
    managed: ManagedFields,
    manager: FieldManager,
    *,
    force: bool,
) -> Applied:
    """Merge an applied object into the live one, remove what the manager applied before and no longer does,
    and return the result with its owners. Raises ApplyConflict and ItemError."""
    kind = written.kind
    merged = merge(kind, live, applied)
    before = managed.fields_of(manager)
    fields = without_prefixes(fields_of(kind, applied), written.ignored)
    known = managed.owners.get(manager)
    owned = OwnedFields(fields, written.api_version, known.time if known else "")
    with_applied = ManagedFields({**managed.owners, manager: owned})
    merged = {} if merged is MISSING else merged
    if before:
        merged = _pruned(kind, merged, with_applied, before)
    difference = compare(kind, live, merged).without(written.ignored)
    conflicts = _conflicts(with_applied, difference, manager)
    if conflicts and not force:
        raise ApplyConflict(conflicts)
    managed = _without_changed(with_applied, difference, manager)
    return Applied(None if merged == live else merged, managed)


def _conflicts(
    managed: ManagedFields, difference: Comparison, manager: FieldManager
) -> dict[FieldManager, FieldSet]:
    found = {
        other: owned.fields & difference.changed
        for other, owned in managed.owners.items()
        if other != manager
    }
    return {other: fields for other, fields in found.items() if fields}


def _without_changed(
    managed: ManagedFields, difference: Comparison, manager: FieldManager | None
) -> ManagedFields:
    """Return the owners without the changed and removed fields, but for a manager that owns what it
    changed."""
    lost = difference.changed | difference.removed
    owners = {
        other: owned if other == manager else replace(owned, fields=owned.fields - lost)
        for other, owned in managed.owners.items()
    }
    return ManagedFields({other: owned for other, owned in owners.items() if owned.fields})


def _pruned(kind: Type, merged: Manifest, managed: ManagedFields, before: FieldSet) -> Manifest:
    """Remove the fields that the manager applied before, but for those that it still applies or that another
    manager owns (prune)."""
    named_before = with_named_fields(kind, before)
    pruned = remove_fields(kind, merged, named_before) or {}
    everything = with_named_fields(kind, fields_of(kind, merged))
    owned: FieldSet = frozenset().union(*(owner.fields for owner in managed.owners.values()))
    kept = with_named_fields(kind, fields_of(kind, pruned)) | with_named_fields(kind, owned)
    pruned = remove_fields(kind, merged, everything - kept) or {}
    left = with_named_fields(kind, fields_of(kind, pruned))
    return remove_fields(kind, merged, (everything - left) & named_before) or {}


def apply_after_client_side_apply(
    written: WrittenType,
    live: Manifest,
    applied: Manifest,
    managed: ManagedFields,
    manager: FieldManager,
    *,
    force: bool,
) -> Applied:
    """Apply an object as :func:`apply_object`, but kubectl takes over the fields that its client-side apply
    has set. Raises ApplyConflict and ItemError."""
    try:
        return apply_object(written, live, applied, managed, manager, force=force)
    except ApplyConflict as conflict:
        if manager.name != _KUBECTL:
            raise
        allowed = _fields_of_last_applied(written, live)
        left = {other: fields - allowed for other, fields in conflict.fields.items()}
        if any(left.values()):
            raise ApplyConflict({other: fields for other, fields in left.items() if fields}) from None
        return apply_object(written, live, applied, managed, manager, force=True)


def _last_applied(manifest: Manifest) -> str:
    """Return the manifest that kubectl's client-side apply has left in an annotation; "" if there is none."""
    found: str = (manifest["metadata"].get("annotations") or {}).get(_LAST_APPLIED, "")
    return found


def _fields_of_last_applied(written: WrittenType, live: Manifest) -> FieldSet:
    """Return the fields that kubectl's client-side apply has set and that are as it has set them
    (allowedConflictsFromLastApplied)."""
    try:
        last = json.loads(_last_applied(live))
        fields = fields_of(written.kind, last)
        differs = compare(written.kind, last, live)
    except (ValueError, AttributeError, TypeError):
        return frozenset()
    return fields - differs.modified - differs.added - differs.removed


def with_last_applied(new: Manifest, applied: Manifest, manager: str) -> Manifest:
    """Return the new object; if kubectl applied it and its client-side apply has left an annotation, with the
    applied object in this (lastappliedupdater.go)."""
    if manager != _KUBECTL or not _last_applied(new):
        return new
    annotations = dict((applied.get("metadata") or {}).get("annotations") or {})
    annotations.pop(_LAST_APPLIED, None)
    metadata = {**applied["metadata"], "annotations": annotations}
    if not annotations:
        del metadata["annotations"]
    text = json.dumps({**applied, "metadata": metadata}, separators=(",", ":"), sort_keys=True) + "\n"
    known = {**new["metadata"]["annotations"], _LAST_APPLIED: text}
    return {**new, "metadata": {**new["metadata"], "annotations": known}}
