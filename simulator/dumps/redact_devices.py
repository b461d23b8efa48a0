"""Redaction of the kinds of resource.k8s.io: the configuration of devices is read by their drivers only, and
may contain anything."""

from typing import Any, Final

from simulator.api import Manifest
from simulator.dumps.fitting import ReportField

CONFIGURED: Final = (
    ("spec",),
    ("spec", "devices"),
    ("spec", "spec", "devices"),
    ("status", "allocation", "devices"),
)
"""The paths of ``config`` in the kinds that have it: DeviceClass, ResourceClaim, ResourceClaimTemplate, and
an allocation."""


def redact_devices(manifest: Manifest, note: ReportField) -> Manifest:
    """Return a copy without configurations, and without what drivers report of allocated devices."""
    found: Any = manifest
    for path in CONFIGURED:
        found = _without_field(found, (*path, "config"), ".".join((*path, "config")), note)
    redacted: Manifest = _without_field(found, ("status", "devices"), "status.devices", note)
    return redacted


def _without_field(value: Any, path: tuple[str, ...], name: str, note: ReportField) -> Any:
    first, *rest = path
    if not isinstance(value, dict) or first not in value:
        return value
    if rest:
        return {**value, first: _without_field(value[first], tuple(rest), name, note)}
    if value[first]:
        note(name)
    return {field: each for field, each in value.items() if field != first}
