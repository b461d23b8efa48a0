"""The entries of ``metadata.managedFields``: which manager owns which fields, since when.

Upstream: apimachinery/pkg/util/managedfields/internal (managedfields.go, capmanagers.go).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec

from simulator.api import Manifest
from simulator.apiserver.bounds import MAX_OBJECT_BYTES
from simulator.apiserver.managed_fields.field_paths import (
    FieldsError,
    FieldSet,
    from_fields_v1,
    least_size,
    to_fields_v1,
)
from simulator.apiserver.request_errors import TooLarge

Operation = Literal["Apply", "Update"]

MAX_UPDATE_MANAGERS: Final = 10
"""The maximum number of entries of updates. The oldest ones are merged into ``ancient-changes``."""
_OLDEST_MANAGER: Final = "ancient-changes"


@dataclass(frozen=True, slots=True)
class FieldManager:
    """The identity of an entry. An applier has one entry for all versions, so it has no apiVersion here."""

    name: str
    operation: Operation
    api_version: str = ""
    subresource: str = ""

    def __str__(self) -> str:
        """Return the manager as conflicts name it (printManager in conflict.go)."""
        text = f'"{self.name}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        return f"{text} using {self.api_version}" if self.operation == "Update" else text


@dataclass(frozen=True, slots=True)
class OwnedFields:
    """The fields that a manager owns, as paths of one version of the kind."""

    fields: FieldSet
    api_version: str
    time: str = ""
    """The time of the manager's last change of the object; "" if it has changed nothing."""


@dataclass(frozen=True, slots=True)
class ManagedFields:
    """The owners of an object's fields. The order is that of the last changes: of two managers with equal
    times, the second wrote last."""

    owners: Mapping[FieldManager, OwnedFields] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.owners)

    def fields_of(self, manager: FieldManager) -> FieldSet:
        found = self.owners.get(manager)
        return found.fields if found else frozenset()

    def written_by(self, manager: FieldManager, owned: OwnedFields) -> "ManagedFields":
        """Return the managed fields after a write by a manager: it comes last, and is removed if it owns
        nothing."""
        others = {known: fields for known, fields in self.owners.items() if known != manager}
        return ManagedFields({**others, manager: owned} if owned.fields else others)

    def merged_to_limit(self) -> "ManagedFields":
        """Merge the entries of the oldest updates of each version into one, if there are too many."""
        updates = [manager for manager in _in_order(self) if manager.operation == "Update"]
        count, owners, first = len(updates), dict(self.owners), dict[str, FieldManager]()
        for manager in updates:
            if count <= MAX_UPDATE_MANAGERS:
                break
            owned = owners[manager]
            version = owned.api_version
            if version not in first:
                first[version] = manager
                continue
            merged = FieldManager(_OLDEST_MANAGER, "Update", version)
            if merged not in owners:
                owners[merged] = owners.pop(first[version])
            owners[merged] = OwnedFields(owned.fields | owners[merged].fields, version, owned.time)
            del owners[manager]
            count -= 1
        return ManagedFields(owners)


def decode_managed_fields(entries: Any) -> ManagedFields:
    """Return the owners that the entries name. Raises FieldsError."""
    owners = {}
    for entry in entries or ():
        if not isinstance(entry, dict) or entry.get("operation") not in ("Apply", "Update"):
            raise FieldsError("operation must be `Apply` or `Update`")
        if not entry.get("apiVersion"):
            raise FieldsError("apiVersion must not be empty")
        if entry.get("fieldsType") != "FieldsV1":
            raise FieldsError("fieldsType must be `FieldsV1`")
        operation, version = entry["operation"], entry["apiVersion"]
        manager = FieldManager(
            entry.get("manager", ""),
            operation,
            version if operation == "Update" else "",
            entry.get("subresource", ""),
        )
        fields = from_fields_v1(entry.get("fieldsV1") or {})
        owners[manager] = OwnedFields(fields, version, entry.get("time", ""))
    return ManagedFields(owners)


def encode_managed_fields(managed: ManagedFields) -> list[Manifest]:
    """Return the entries for ``metadata.managedFields``, sorted by operation and time."""
    return [_entry(manager, managed.owners[manager]) for manager in _in_order(managed)]


def entries_of(managed: ManagedFields, manifest: Manifest) -> list[Manifest]:
    """Return the entries for an object (``manifest``: it without them). Raises TooLarge if they make it
    larger than an object may be: of a large object, they and its validation need the most time."""
    size = sum(least_size(owned.fields) for owned in managed.owners.values())
    if size + len(msgspec.json.encode(manifest)) > MAX_OBJECT_BYTES:
        raise TooLarge(f"Request entity too large: an object may have {MAX_OBJECT_BYTES:,} bytes as JSON")
    return encode_managed_fields(managed)


def _in_order(managed: ManagedFields) -> list[FieldManager]:
    """Sort the managers. Upstream sorts those of the same second by name. A sandbox's time may stand still:
    they stay in the order of their writes."""
    return sorted(managed.owners, key=lambda manager: (manager.operation, managed.owners[manager].time))


def _entry(manager: FieldManager, owned: OwnedFields) -> Manifest:
    entry: Manifest = {
        "manager": manager.name,
        "operation": manager.operation,
        "apiVersion": owned.api_version,
        "time": owned.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": to_fields_v1(owned.fields),
        "subresource": manager.subresource,
    }
    return {name: value for name, value in entry.items() if value or name == "fieldsV1"}


def without_managed_fields(manifest: Manifest) -> Manifest:
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" not in metadata:
        return manifest
    kept = {name: value for name, value in metadata.items() if name != "managedFields"}
    return {**manifest, "metadata": kept}


def differ_in_times_only(old: Manifest, new: Manifest) -> bool:
    """Whether two states of an object differ in nothing or only in the times of managers: the second is not
    stored then (IgnoreManagedFieldsTimestampsTransformer in managedfields/fieldmanager)."""
    before, after = (
        [{**entry, "time": ""} for entry in state["metadata"].get("managedFields", ())]
        for state in (old, new)
    )
    return before == after and without_managed_fields(old) == without_managed_fields(new)
