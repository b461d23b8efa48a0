"""The spec of a definition as upstream validates it: in the form of its internal type.

What all versions have in common is not at the versions there but at the spec, and so are the paths of faults:
``spec.validation.openAPIV3Schema``. Upstream: conversion.go in
apiextensions-apiserver/pkg/apis/apiextensions/v1, v1.34.
"""

from dataclasses import dataclass
from typing import Any, Final

from simulator.api import Manifest

_SHARED: Final = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")
"""The fields of a version that move to the spec if all versions have the same. There the schema is called
``validation``."""


@dataclass(frozen=True, slots=True)
class Section:
    """A version, or the spec itself, with what is declared there."""

    path: str
    fields: Manifest
    """The fields of _SHARED under the names that a version has for them, and the version's other fields."""
    schema_path: str
    has_status: bool
    """Whether the schema is that of objects with the subresource status."""

    @property
    def schema(self) -> dict[str, Any] | None:
        found = (self.fields.get("schema") or {}).get("openAPIV3Schema")
        return found if isinstance(found, dict) else None


def to_internal_spec(spec: Manifest) -> tuple[Section, list[Section]]:
    """Return what the versions of a definition's spec have in common, and the versions."""
    versions: list[Manifest] = spec.get("versions") or []
    moved = {field for field in _SHARED if _is_shared(field, versions)}
    if "schema" not in moved:
        moved.discard("selectableFields")
    shared: Manifest = {
        field: versions[0][field] for field in _SHARED if field in moved and field in versions[0]
    }
    sections = [
        Section(
            path := f"spec.versions[{index}]",
            {field: value for field, value in version.items() if field not in moved},
            f"{path}.schema.openAPIV3Schema",
            _has_status(version),
        )
        for index, version in enumerate(versions)
    ]
    has_status = any(map(_has_status, versions))
    return Section("spec", shared, "spec.validation.openAPIV3Schema", has_status), sections


def _is_shared(field: str, versions: list[Manifest]) -> bool:
    return bool(versions) and all(version.get(field) == versions[0].get(field) for version in versions)


def _has_status(version: Manifest) -> bool:
    return "status" in (version.get("subresources") or {})
