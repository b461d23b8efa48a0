"""The status of an object, read from its manifest."""

from collections.abc import Mapping
from typing import Any, Final

from simulator.api import Manifest

FINISHED_PHASES: Final = ("Succeeded", "Failed")
"""The phases of a pod that has ended."""


def status_of(manifest: Mapping[str, Any]) -> Manifest:
    """Return the status of an object; {} for an object without one."""
    found: Manifest = manifest.get("status") or {}
    return found


def phase_of(manifest: Manifest) -> str:
    """Return the phase of a pod, claim or volume; "" if its status has none."""
    phase: str = status_of(manifest).get("phase", "")
    return phase


def with_status(manifest: Manifest, **fields: object) -> Manifest:
    """Return a copy of the object with these fields of its status set; None removes one."""
    status = {**status_of(manifest), **fields}
    return {**manifest, "status": {name: value for name, value in status.items() if value is not None}}
