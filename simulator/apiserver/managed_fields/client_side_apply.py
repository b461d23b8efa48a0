"""The transition from kubectl's client-side apply, which keeps the last applied object in an annotation.

Upstream: lastappliedmanager.go and lastappliedupdater.go in apimachinery/pkg/util/managedfields/internal,
v1.34.
"""

import json
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.managed_fields.field_paths import FieldSet
from simulator.apiserver.managed_fields.managers import FieldManager, ManagedFields
from simulator.apiserver.managed_fields.typed_objects import compare, fields_of
from simulator.apiserver.managed_fields.updater import Applied, ApplyConflict, WrittenType, apply_object

_KUBECTL: Final = "kubectl"
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


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
