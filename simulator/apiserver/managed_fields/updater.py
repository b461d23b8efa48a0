"""Changes who owns which fields when an object is updated or applied, and the error of an apply that would
change fields of other managers.

Upstream: structured-merge-diff/merge/update.go; apimachinery/pkg/util/managedfields/internal/conflict.go and
NewApplyConflict in api/errors, v1.34. All managers' fields are taken as those of the version that is written:
each kind here is stored in one version."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

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
